!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! Checks and TAP output for programs in Fortran, as check.h for C.  External procedures, which serve
! every interface.

module ranks_counts
    implicit none
    integer :: failed_now = 0, failed_all = 0, cases = 0
end module ranks_counts

subroutine check(condition, text)
    use mpi
    use ranks_counts
    implicit none
    logical, intent(in) :: condition
    character(*), intent(in) :: text
    integer :: rank, ierror

    if (.not. condition) then
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
        write (0, '(a, i0, 2a)') '# rank ', rank, ': ', text
        failed_now = failed_now + 1
    end if
end subroutine check

subroutine ranks_case(name)
    use mpi
    use ranks_counts
    implicit none
    character(*), intent(in) :: name
    integer :: rank, failed, ierror

    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Allreduce(failed_now, failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    cases = cases + 1
    failed_all = failed_all + failed
    failed_now = 0
    if (0 == rank) then
        print '(a, i0, 2a)', trim(merge('ok    ', 'not ok', 0 == failed))//' ', cases, ' - ', name
        flush (6)
    end if
end subroutine ranks_case

subroutine ranks_end()
    use mpi
    use ranks_counts
    implicit none
    integer :: rank, ierror

    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    if (0 == rank) then
        print '(a, i0)', '1..', cases
    end if
    call MPI_Finalize(ierror)
    if (0 < failed_all) then
        stop 1
    end if
end subroutine ranks_end
