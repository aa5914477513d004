!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! asks.c in Fortran; see fortran.t.

program asks
  use mpi_f08
  use mpi_f08_ext
  implicit none
  type(MPI_Comm) :: ep(2), mine
  integer :: level, size, is_before
  logical :: flag

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPIX_Query_endpoints_support(flag)
  call MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, MPI_INFO_NULL, ep)
  call MPI_Comm_size(ep(2), size)
  call MPI_Comm_free(ep(1))
  call MPI_Comm_free(ep(2))
  call MPI_Comm_split_type(MPI_COMM_SELF, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, mine)
  is_before = merge(1, 0, mine /= MPI_COMM_NULL)
  print '(a,i0,a,i0,a,i0)', 'support ', merge(1, 0, flag), ', size ', size, ', before ', is_before
  call MPI_Comm_free(mine)
  call MPI_Finalize()
end program asks
