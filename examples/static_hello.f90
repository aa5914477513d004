!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! A thread for each endpoint that the process has had since it began MPI; each is attached to its own, and keeps
! with it, as an attribute, what it has computed.  The thread of rank 0 adds that up.  With module mpi.
!
!     epmpifort -fopenmp static_hello.f90 -o static_hello
!     epmpirun -endpoints 4 -n 2 ./static_hello
!
! Without -endpoints there are as many as OpenMP has threads.  Exit status 0: the sum was right.

program static_hello
  use mpi
  use mpi_ext
  use omp_lib
  implicit none
  integer, allocatable :: endpoints(:)
  integer :: count, level, keyval, ierr, total, size

  ! What the user has said on the command line.
  call MPIX_Query_endpoints_told(count, level, ierr)
  if (count == 0) count = omp_get_max_threads()
  allocate(endpoints(count))
  call MPIX_Init_endpoint(count, MPI_THREAD_SERIALIZED, endpoints, ierr)
  call MPIX_Endpoint_create_keyval(keyval, ierr)

  total = 0
  !$omp parallel num_threads(count)
  call greet(endpoints(omp_get_thread_num() + 1), keyval, total)
  !$omp end parallel

  call MPI_Comm_size(MPIX_COMM_ENDPOINTS(), size, ierr)
  call MPI_Bcast(total, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (total /= size * (size + 1) / 2) error stop 'static_hello: WRONG'

contains

  subroutine greet(endpoint, keyval, total)
    integer, intent(in) :: endpoint, keyval
    integer, intent(inout) :: total
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: rank, size, sum, ierr
    logical :: is_set

    ! All threads are attached to the first endpoint, until they say otherwise.
    call MPIX_Thread_detach(ierr)
    call MPIX_Thread_attach(endpoint, ierr)
    call MPI_Comm_rank(MPIX_COMM_ENDPOINTS(), rank, ierr)
    call MPI_Comm_size(MPIX_COMM_ENDPOINTS(), size, ierr)
    value = rank + 1
    call MPIX_Endpoint_set_attr(endpoint, keyval, value, ierr)
    call MPIX_Endpoint_get_attr(endpoint, keyval, value, is_set, ierr)
    call MPI_Reduce(int(value), sum, 1, MPI_INTEGER, MPI_SUM, 0, MPIX_COMM_ENDPOINTS(), ierr)
    if (rank == 0) then
      total = sum
      print '(a,i0,a,i0,a)', 'static_hello: ', size, ' endpoints, 1 + ... = ', sum, &
        merge(', right', ', WRONG', sum == size * (size + 1) / 2)
    end if
  end subroutine greet

end program static_hello
