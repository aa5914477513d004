!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! All calls from Fortran, by their values and errors: compiled for mpif.h, for module mpi, and for module
! mpi_f08.  A thread for each endpoint, by OpenMP.
!
!   --static 1   begin with endpoints, and attach threads to them; else create them
!
! Errors come back: MCA parameter mpi_initial_errhandler.  The launcher tells that there be three endpoints,
! and level 2.
!
! Guards: special.c, endpoint_convert.c, attributes.c, endpoint_attributes.c
!
! EPT-PARTS: fortran_tool.F90 fortran_in_c.c

#include "fortran.inc"

module counted
  implicit none
  integer, parameter :: THREADS = 3
  integer :: process = 0, processes = 0, made = 0, wrong = 0, told_calls = 0

contains

  ! One check; other processes than the first are heard only if it fails.
  subroutine check(what, got, wanted)
    character(len=*), intent(in) :: what
    integer, intent(in) :: got, wanted

    !$omp critical
    made = made + 1
    if (got /= wanted) then
      wrong = wrong + 1
      write (0, '(a,i0,3a,i0,a,i0)') '# process ', process, ': ', what, ': ', got, ', not ', wanted
    end if
    !$omp end critical
  end subroutine check

  subroutine check_true(what, it)
    character(len=*), intent(in) :: what
    logical, intent(in) :: it

    call check(what, merge(1, 0, it), 1)
  end subroutine check_true

end module counted

! Its error class is this one.
subroutine check_class(what, code, class)
  use counted
  USE_MPI
  implicit none
  USE_MPIF
  character(len=*), intent(in) :: what
  integer, intent(in) :: code, class
  integer :: found, ierr

  call MPI_Error_class(code, found, ierr)
  call check(what, found, class)
end subroutine check_class

! ---- created ----------------------------------------------------------------------------------------

! What one endpoint does, in its thread.
subroutine be_created(own, index)
  use counted
  USE_MPI
  implicit none
  USE_MPIF
  HANDLE(MPI_Comm), intent(inout) :: own
  integer, intent(in) :: index
  HANDLE(MPI_Comm) :: other, near
  integer :: rank, size, sum, here, number, ierr, i, got

  call MPI_Comm_rank(own, rank, ierr)
  call MPI_Comm_size(own, size, ierr)
  call check('rank', rank, THREADS * process + index)
  call check('size', size, THREADS * processes)
  call MPIX_Comm_num_endpoints(own, number, here, ierr)
  call check('MPIX_Comm_num_endpoints', ierr, MPI_SUCCESS)
  call check('number of endpoints', number, THREADS)
  call check('which of them', here, index)

  call MPI_Allreduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, own, ierr)
  call check('sum of ranks', sum, size * (size + 1) / 2)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, size), 7, got, 1, MPI_INTEGER, &
                    modulo(rank - 1, size), 7, own, MPI_STATUS_IGNORE, ierr)
  call check('left neighbour', got, modulo(rank - 1, size))

  ! Threads make and free handles at once, of which Fortran knows the numbers in a common table.
  do i = 1, 60
    call MPI_Comm_dup(own, other, ierr)
    call MPI_Comm_rank(other, got, ierr)
    if (got /= rank) call check('rank in a duplicate', got, rank)
    call MPI_Comm_free(other, ierr)
  end do
  call MPI_Comm_split_type(own, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, near, ierr)
  call MPI_Comm_size(near, got, ierr)
  call check('address space', got, THREADS)
  call MPIX_Comm_merge(own, near, other, ierr)
  call check('MPIX_Comm_merge', ierr, MPI_SUCCESS)
  call MPI_Comm_size(other, got, ierr)
  call check('merged', got, size)
  call MPI_Comm_free(other, ierr)
  call MPI_Comm_free(near, ierr)
  call MPI_Comm_free(own, ierr)
  call check_true('freed', own == MPI_COMM_NULL)
end subroutine be_created

subroutine create_some
  use counted
  use omp_lib
  USE_MPI
  implicit none
  USE_MPIF
  HANDLE(MPI_Comm) :: ep(THREADS), more(3), none(1)
  integer :: ierr, result, i, size

  call MPIX_Comm_create_endpoints(MPI_COMM_WORLD, THREADS, MPI_INFO_NULL, ep, ierr)
  call check('MPIX_Comm_create_endpoints', ierr, MPI_SUCCESS)
  call MPI_Comm_compare(ep(1), ep(2), result, ierr)
  call check('two of one communicator', result, MPIX_ALIASED)
  !$omp parallel num_threads(THREADS)
  call be_created(ep(omp_get_thread_num() + 1), omp_get_thread_num())
  !$omp end parallel

  ! As many as the process's number says, by the twin; of one that is longer.
  more = MPI_COMM_NULL
  call PMPIX_Comm_create_endpoints(MPI_COMM_WORLD, process + 1, MPI_INFO_NULL, more, ierr)
  call check('PMPIX_Comm_create_endpoints', ierr, MPI_SUCCESS)
  call MPI_Comm_size(more(1), size, ierr)
  call check('as many as all have said', size, processes * (processes + 1) / 2)
  call check_true('no more than that', more(process + 2) == MPI_COMM_NULL)
  !$omp parallel do num_threads(process + 1) schedule(static, 1)
  do i = 1, process + 1
    call MPI_Comm_free(more(i), ierr)
  end do
  !$omp end parallel do

  call MPIX_Comm_create_endpoints(MPI_COMM_WORLD, -1, MPI_INFO_NULL, none, ierr)
  call check_class('a negative number', ierr, MPI_ERR_ARG)
  call MPIX_Comm_create_endpoints(MPI_COMM_NULL, 1, MPI_INFO_NULL, none, ierr)
  call check_class('no parent', ierr, MPI_ERR_COMM)
end subroutine create_some

subroutine ask_all
  use counted
  USE_MPI
  implicit none
  USE_MPIF
  integer :: optimal, most, ierr
  logical :: flag

  flag = .false.
  call MPIX_Query_endpoints_support(flag, ierr)
  call check('MPIX_Query_endpoints_support', ierr, MPI_SUCCESS)
  call check_true('support', flag .eqv. .true.)
  call MPIX_Query_endpoints_number(MPI_COMM_WORLD, optimal, most, ierr)
  call check('MPIX_Query_endpoints_number', ierr, MPI_SUCCESS)
  call check_true('optimal', 1 <= optimal .and. optimal <= most)
  call MPIX_Query_endpoints_number(MPI_COMM_NULL, optimal, most, ierr)
  call check_class('number for nobody', ierr, MPI_ERR_COMM)
  call MPIX_Thread_attach_index(THREADS + 1, ierr)
  call check_class('attach where nothing is', ierr, MPIX_Endpoints_error_class())
end subroutine ask_all

! ---- from the beginning on --------------------------------------------------------------------------

subroutine attributes_of(endpoint, index)
  use counted
  use iso_c_binding
  USE_MPI
  implicit none
  USE_MPIF
  HANDLE(MPIX_Endpoint), intent(in) :: endpoint
  integer, intent(in) :: index
  integer(kind=MPI_ADDRESS_KIND), parameter :: LARGE = 2_MPI_ADDRESS_KIND**40
  integer(kind=MPI_ADDRESS_KIND) :: value
  integer :: keyval, freed, ierr
  logical :: flag
  character(kind=c_char), pointer :: cores(:)
  type(c_ptr) :: address
  interface
    integer(c_int) function check_in_c(endpoint, other, keyval, set) bind(C)
      use iso_c_binding
      integer(c_int), value :: endpoint, other, keyval
      integer(c_intptr_t), value :: set
    end function check_in_c
  end interface

  call MPIX_Endpoint_create_keyval(keyval, ierr)
  call check('MPIX_Endpoint_create_keyval', ierr, MPI_SUCCESS)
  flag = .true.
  call MPIX_Endpoint_get_attr(endpoint, keyval, value, flag, ierr)
  call check_true('no value', ierr == MPI_SUCCESS .and. .not. flag)
  call MPIX_Endpoint_set_attr(endpoint, keyval, LARGE + index, ierr)
  call MPIX_Endpoint_get_attr(endpoint, keyval, value, flag, ierr)
  call check_true('the value', flag .and. value == LARGE + index)
  ! C sees it at an address, and sets a pointer: to keyval's next number.
  call check('in C', check_in_c(INTEGER_OF(endpoint), INTEGER_OF(MPIX_ENDPOINT_NULL), keyval, LARGE + index), 0)
  call MPIX_Endpoint_get_attr(endpoint, keyval, value, flag, ierr)
  call check_true("C's pointer", flag .and. value == 4096 + keyval)
  call MPIX_Endpoint_delete_attr(endpoint, keyval, ierr)
  call MPIX_Endpoint_get_attr(endpoint, keyval, value, flag, ierr)
  call check_true('deleted', ierr == MPI_SUCCESS .and. .not. flag)
  freed = keyval
  call MPIX_Endpoint_free_keyval(freed, ierr)
  call check('freed', freed, MPI_KEYVAL_INVALID)
  call MPIX_Endpoint_set_attr(endpoint, keyval, LARGE, ierr)
  call check_class('set a freed one', ierr, MPI_ERR_KEYVAL)

  call MPIX_Endpoint_get_attr(endpoint, MPIX_MAX_THREAD_LEVEL, value, flag, ierr)
  call check_true('highest level', flag .and. value == MPI_THREAD_SERIALIZED)
  call MPIX_Endpoint_get_attr(endpoint, MPIX_CURRENT_THREAD_LEVEL, value, flag, ierr)
  call check_true('level', flag .and. value == MPI_THREAD_SERIALIZED)
  call MPIX_Endpoint_get_attr(endpoint, MPIX_ENDPOINT_INDEX, value, flag, ierr)
  call check_true('index', flag .and. value == index)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_Endpoints_keyval(), value, flag, ierr)
  call check_true('number of endpoints, an attribute', flag .and. value == THREADS)
  call MPIX_Endpoint_get_attr(endpoint, MPIX_ENDPOINT_CORES, value, flag, ierr)
  address = transfer(value, address)
  call c_f_pointer(address, cores, [1])
  call check_true('cores', flag .and. cores(1) >= '0' .and. cores(1) <= '9')
  call MPIX_Endpoint_get_attr(endpoint, MPIX_ENDPOINT_NUMA_NODE, value, flag, ierr)
  call check_true('NUMA node', ierr == MPI_SUCCESS .and. (.not. flag .or. (0 <= value .and. value < 4096)))
end subroutine attributes_of

! What a thread does that is attached to an endpoint, by one of the three calls.
subroutine be_attached(endpoint, index)
  use counted
  USE_MPI
  implicit none
  USE_MPIF
  HANDLE(MPIX_Endpoint), intent(in) :: endpoint
  integer, intent(in) :: index
  integer :: rank, size, sum, ierr, class

  select case (index)
  case (0)
    call MPIX_Thread_detach(ierr)
    call check_true('detached', MPIX_Comm_self() == MPI_COMM_NULL)
    call MPIX_Thread_detach(ierr)
    class = MPIX_Endpoints_error_class()
    call check_class('detached twice', ierr, class)
    call MPIX_Thread_attach(endpoint, ierr)
  case (1)
    call MPIX_Thread_attach_index(index, ierr)
  case default
    call MPIX_Thread_attach_rank(THREADS * process + index, MPIX_COMM_ENDPOINTS(), ierr)
  end select
  call check('attached', ierr, MPI_SUCCESS)
  call MPIX_Thread_attach(endpoint, ierr)
  call check_class('attached twice', ierr, MPIX_Endpoints_error_class())

  call MPI_Comm_rank(MPIX_COMM_ENDPOINTS(), rank, ierr)
  call check('rank', rank, THREADS * process + index)
  call MPI_Comm_rank(MPIX_COMM_PROCESS(), rank, ierr)
  call check('rank in the process', rank, index)
  call MPI_Comm_size(PMPIX_COMM_SELF(), size, ierr)
  call check('alone', size, 1)
  call MPI_Comm_size(MPIX_COMM_ENDPOINTS(), size, ierr)
  call MPI_Allreduce(index, sum, 1, MPI_INTEGER, MPI_SUM, MPIX_COMM_ENDPOINTS(), ierr)
  call check('sum', sum, processes * THREADS * (THREADS - 1) / 2)
  call attributes_of(endpoint, index)
  call MPI_Barrier(MPIX_COMM_ENDPOINTS(), ierr)
end subroutine be_attached

subroutine begin_with_some
  use counted
  use omp_lib
  USE_MPI
  implicit none
  USE_MPIF
  HANDLE(MPIX_Endpoint) :: endpoints(THREADS)
  integer :: ierr

  call MPIX_Init_endpoint(THREADS, MPI_THREAD_SERIALIZED, endpoints, ierr)
  call check('MPIX_Init_endpoint', ierr, MPI_SUCCESS)
  call MPI_Comm_rank(MPI_COMM_WORLD, process, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, processes, ierr)
  call check_true('not none', endpoints(1) /= MPIX_ENDPOINT_NULL)
  call check_true('two', .not. endpoints(1) == endpoints(2) .and. endpoints(2) == endpoints(2))
  call MPIX_Thread_attach(MPIX_ENDPOINT_NULL, ierr)
  call check_class('attach to none', ierr, MPIX_Endpoints_error_class())
  call ask_all
  !$omp parallel num_threads(THREADS)
  call be_attached(endpoints(omp_get_thread_num() + 1), omp_get_thread_num())
  !$omp end parallel
end subroutine begin_with_some

! ---- all --------------------------------------------------------------------------------------------

program fortran_calls
  use counted
  USE_MPI
  implicit none
  USE_MPIF
  character(len=20) :: option
  integer :: ierr, number, level, i, wrong_everywhere
  logical :: is_static

  is_static = .false.
  do i = 1, command_argument_count()
    call get_command_argument(i, option)
    is_static = is_static .or. option == '--static'
  end do
  call MPIX_Query_endpoints_told(number, level, ierr)
  call check('told', number, THREADS)
  call check('told the level', level, 2)
  call check("a tool's function was called", told_calls, 1)
  if (is_static) then
    call begin_with_some
  else
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, process, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, processes, ierr)
    call create_some
    call ask_all
  end if
#if defined(TEST_F08)
  ! ierror may be absent.
  call MPIX_Query_endpoints_support(is_static)
#endif
  call MPI_Reduce(wrong, wrong_everywhere, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (0 == process) then
    print '(a)', '1..1'
    print '(2a,i0,a)', merge('not ok', 'ok    ', 0 < wrong_everywhere), ' 1 - ', made, ' checks in process 0'
  end if
  call MPI_Finalize(ierr)
end program fortran_calls
