!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! Of fortran_calls.F90: a tool's function in the place of one of ours, which it calls by its other name.

#include "fortran.inc"

#if defined(TEST_F08)
subroutine MPIX_Query_endpoints_told_f08(number, level, ierr)
#else
subroutine MPIX_Query_endpoints_told(number, level, ierr)
#endif
  use counted, only: told_calls
#if defined(TEST_F08)
  use mpi_f08_ext, only: PMPIX_Query_endpoints_told
#endif
  implicit none
  integer, intent(out) :: number, level
#if defined(TEST_F08)
  integer, optional, intent(out) :: ierr
#else
  integer, intent(out) :: ierr
#endif

  told_calls = told_calls + 1
  call PMPIX_Query_endpoints_told(number, level, ierr)
end subroutine
