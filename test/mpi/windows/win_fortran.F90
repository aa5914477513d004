!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! Windows from Fortran, module mpi_f08: each thread of an OpenMP region is a rank, and creates, uses and
! frees windows of three kinds.  Errors at creation, and of MPI_Win_free, have their classes.
!
! Guards: win_create.c, hook_win.c

program win_fortran
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use mpi_f08_ext
  use omp_lib
  implicit none
  integer, parameter :: THREADS = 4
  integer, parameter :: AINT = MPI_ADDRESS_KIND
  integer :: level, process, wrong = 0
  type(MPI_Comm) :: ep(THREADS)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, process)
  call MPIX_Comm_create_endpoints(MPI_COMM_WORLD, THREADS, MPI_INFO_NULL, ep)
  !$omp parallel num_threads(THREADS)
  call allocated(ep(omp_get_thread_num() + 1))
  call created(ep(omp_get_thread_num() + 1))
  call dynamic(ep(omp_get_thread_num() + 1))
  call refused(ep(omp_get_thread_num() + 1))
  call MPI_Comm_free(ep(omp_get_thread_num() + 1))
  !$omp end parallel
  call MPI_Finalize()
  if (wrong /= 0) error stop 1
  if (process == 0) print '(a)', '1..1', 'ok 1 - windows from Fortran'

contains

  subroutine check(what, got, wanted)
    character(len=*), intent(in) :: what
    integer, intent(in) :: got, wanted

    if (got /= wanted) then
      !$omp critical
      wrong = wrong + 1
      write (0, '(3a,i0,a,i0)') '# ', what, ': ', got, ', not ', wanted
      !$omp end critical
    end if
  end subroutine check

  subroutine check_class(what, code, wanted)
    character(len=*), intent(in) :: what
    integer, intent(in) :: code, wanted
    integer :: class

    call MPI_Error_class(code, class)
    call check(what, class, wanted)
  end subroutine check_class

  ! The neighbours of a rank.
  subroutine find(comm, rank, size, left, right)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out) :: rank, size, left, right

    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, size)
    left = mod(rank + size - 1, size)
    right = mod(rank + 1, size)
  end subroutine find

  subroutine allocated(comm)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Win) :: win
    type(c_ptr) :: base
    integer, pointer :: memory(:)
    integer :: rank, size, left, right
    integer(AINT) :: bytes
    logical :: has

    call find(comm, rank, size, left, right)
    call MPI_Win_allocate(16_AINT, 4, MPI_INFO_NULL, comm, base, win)
    call c_f_pointer(base, memory, [4])
    memory = -1
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, right, 2_AINT, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check('put', memory(3), left)
    call check('beside it', memory(2), -1)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, has)
    call check('MPI_WIN_SIZE', merge(int(bytes), -1, has), 16)
    call MPI_Win_free(win)
  end subroutine allocated

  subroutine created(comm)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Win) :: win
    type(MPI_Request) :: request
    integer, asynchronous :: memory(4), one, got
    integer :: rank, size, left, right, code

    call find(comm, rank, size, left, right)
    memory = 0
    one = 1
    call MPI_Win_create(memory, 16_AINT, 4, MPI_INFO_NULL, comm, win)
    call MPI_Win_lock_all(0, win)
    call MPI_Fetch_and_op(one, got, MPI_INTEGER, 0, 0_AINT, MPI_SUM, win)
    call MPI_Win_flush(0, win)
    call check('fetched', merge(1, 0, got >= 0 .and. got < size), 1)
    call MPI_Raccumulate(one, 1, MPI_INTEGER, 0, 1_AINT, 1, MPI_INTEGER, MPI_SUM, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(comm)
    call check('sum of fetch_and_op', memory(1), merge(size, 0, 0 == rank))
    call check('sum of accumulate', memory(2), merge(size, 0, 0 == rank))
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)
    call MPI_Win_free(win, code)
    call check_class('free with an epoch', code, MPI_ERR_RMA_SYNC)
    call MPI_Win_unlock(rank, win)
    call MPI_Win_free(win)
    call check('handle', merge(1, 0, win == MPI_WIN_NULL), 1)
  end subroutine created

  subroutine dynamic(comm)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Win) :: win
    integer, asynchronous :: memory(4)
    integer :: rank, size, left, right
    integer(AINT) :: address, theirs

    call find(comm, rank, size, left, right)
    memory = 0
    call MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win)
    call MPI_Win_attach(win, memory, 16_AINT)
    call MPI_Get_address(memory, address)
    call MPI_Sendrecv(address, 1, MPI_AINT, left, 1, theirs, 1, MPI_AINT, right, 1, comm, &
                      MPI_STATUS_IGNORE)
    call MPI_Win_fence(0, win)
    call MPI_Put(rank, 1, MPI_INTEGER, right, theirs, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call check('put', memory(1), left)
    call MPI_Win_detach(win, memory)
    call MPI_Win_free(win)
  end subroutine dynamic

  ! One member's size is bad.
  subroutine refused(comm)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Win) :: win
    type(c_ptr) :: base
    integer :: rank, size, left, right, code

    call find(comm, rank, size, left, right)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call MPI_Win_allocate(merge(-1_AINT, 8_AINT, 1 == rank), 1, MPI_INFO_NULL, comm, base, win, code)
    call check_class('a size', code, MPI_ERR_SIZE)
  end subroutine refused

end program win_fortran
