!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! MPI_COMM_WORLD and MPI_COMM_SELF of threads that have set a world, in a subroutine that knows nothing of
! endpoints: compiled for mpif.h, for module mpi, and for module mpi_f08; libmpix_world is loaded before the
! program.
!
! Guards: world_f2c.c, comm_world.c

#include "fortran.inc"

module counted_world
  implicit none
  integer, parameter :: THREADS = 3
  integer :: wrong = 0

contains

  ! One check.
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
end module counted_world

! Plain MPI, on MPI_COMM_WORLD.
subroutine plain(expected_rank, expected_size)
  use counted_world
  USE_MPI
  implicit none
  USE_MPIF
  integer, intent(in) :: expected_rank, expected_size
  HANDLE(MPI_Comm) :: grid, copy
  integer :: rank, size, sum, got, ierr, result
  integer(kind=MPI_ADDRESS_KIND) :: upper
  logical :: flag, periods(1)
  integer :: dims(1)

  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call check('rank', rank, expected_rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call check('size', size, expected_size)
  call MPI_Allreduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check('sum of ranks', sum, expected_size * (expected_size + 1) / 2)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, size), 7, got, 1, MPI_INTEGER, &
                    modulo(rank - 1, size), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call check('left neighbour', got, modulo(rank - 1, size))
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  call MPI_Comm_compare(copy, MPI_COMM_WORLD, result, ierr)
  call check('duplicate', result, MPI_CONGRUENT)
  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, result, ierr)
  call check('itself', result, MPI_IDENT)
  dims(1) = size
  periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .true., grid, ierr)
  call MPI_Comm_size(grid, got, ierr)
  call check('grid', got, size)
  call MPI_Comm_free(grid, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, upper, flag, ierr)
  call check('MPI_TAG_UB', merge(1, 0, flag .and. upper >= 32767), 1)
  call MPI_Comm_size(MPI_COMM_SELF, got, ierr)
  call check('size of MPI_COMM_SELF', got, 1)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 8, got, 1, MPI_INTEGER, 0, 8, MPI_COMM_SELF, &
                    MPI_STATUS_IGNORE, ierr)
  call check('message to itself', got, rank)
end subroutine plain

! A thread that has a world, and has it no more.
subroutine be_a_rank(own, index)
  use counted_world
  USE_MPI
  implicit none
  USE_MPIF
  HANDLE(MPI_Comm), intent(inout) :: own
  integer, intent(in) :: index
  HANDLE(MPI_Comm) :: before, world, mine
  integer :: process, processes, ierr, size

  call MPI_Comm_rank(MPI_COMM_WORLD, process, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, processes, ierr)
  call MPIX_Comm_world_get(before, ierr)
  call check('no world', merge(1, 0, before == MPI_COMM_NULL), 1)
  call MPIX_Comm_world_set(own, ierr)
  call check('MPIX_Comm_world_set', ierr, MPI_SUCCESS)
  call MPIX_Comm_world_get(world, ierr)
  call check('MPIX_Comm_world_get', merge(1, 0, world == own), 1)
  call MPIX_Comm_mine(MPI_COMM_WORLD, mine, ierr)
  call check('MPIX_Comm_mine', merge(1, 0, mine == own), 1)
  call plain(THREADS * process + index, THREADS * processes)
  call MPIX_Comm_world_set(before, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call check('size of the processes'' own', size, processes)
  call MPIX_Comm_endpoint_attach(own, ierr)
  call check('MPIX_Comm_endpoint_attach', ierr, MPI_SUCCESS)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call check('size when attached', size, THREADS * processes)
  call MPI_Comm_free(own, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call check('size when freed', size, processes)
end subroutine be_a_rank

program world_fortran
  use counted_world
  use omp_lib
  USE_MPI
  implicit none
  USE_MPIF
  HANDLE(MPI_Comm) :: ep(THREADS)
  integer :: level, process, all, ierr

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierr)
  call MPIX_Comm_create_endpoints(MPI_COMM_WORLD, THREADS, MPI_INFO_NULL, ep, ierr)
  !$omp parallel num_threads(THREADS)
  call be_a_rank(ep(omp_get_thread_num() + 1), omp_get_thread_num())
  !$omp end parallel
  call MPI_Allreduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, process, ierr)
  if (process == 0) print '(a)', merge('ok 1 - worlds    ', 'not ok 1 - worlds', all == 0), '1..1'
  call MPI_Finalize(ierr)
  if (all /= 0) stop 1
end program world_fortran
