!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! A small stand-in for applications in Fortran: conjugate gradients on a sparse matrix of bands, rows
! divided among ranks, vectors in a common block, the input read by rank 0, a log of each rank on the
! same unit.  Sums are of integers' multiples, so that they do not depend on their order.
! It prints the same with processes and with ranks as threads (kind "same").
!
! Guards: ranks/image

module matrix
    use mpi
    implicit none
    integer, parameter :: rows = 480, most = 480
    integer :: rank, ranks, first, count, ierror
    real(8) :: x(most), r(most), p(0:most + 1), q(most)
    common /vectors/ x, r, p, q

contains

    ! A sum that is the same in any order: rounded to a grid that all partial sums fit on.
    real(8) function dot(a, b)
        real(8), intent(in) :: a(:), b(:)
        integer(8) :: sum_of_parts
        sum_of_parts = sum(nint(a*b*2d0**40, 8))
        call MPI_Allreduce(MPI_IN_PLACE, sum_of_parts, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierror)
        dot = real(sum_of_parts, 8)/2d0**40
    end function dot

    subroutine multiply()
        integer :: low, high, i
        low = merge(MPI_PROC_NULL, rank - 1, 0 == rank)
        high = merge(MPI_PROC_NULL, rank + 1, ranks - 1 == rank)
        p(0) = 0
        p(count + 1) = 0
        call MPI_Sendrecv(p(count), 1, MPI_DOUBLE_PRECISION, high, 1, p(0), 1, MPI_DOUBLE_PRECISION, low, &
                          1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call MPI_Sendrecv(p(1), 1, MPI_DOUBLE_PRECISION, low, 2, p(count + 1), 1, MPI_DOUBLE_PRECISION, &
                          high, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        do i = 1, count
            q(i) = 2.01d0*p(i) - p(i - 1) - p(i + 1)
        end do
    end subroutine multiply
end module matrix

program ranks_cg
    use matrix
    implicit none
    integer :: step, steps
    real(8) :: alpha, rho, before
    character(200) :: name, folder

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    steps = 0
    if (0 == rank) then
        call get_command_argument(1, name)
        read (name, *) steps
    end if
    call MPI_Bcast(steps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call get_environment_variable('TMPDIR', folder)
    write (name, '(2a, i0)') trim(folder), '/ranks_cg.', rank
    open (unit=20, file=name, status='replace')
    first = rank*rows/ranks
    count = (rank + 1)*rows/ranks - first
    x(1:count) = 0
    r(1:count) = [(1d0 + mod(first + step, 7), step=1, count)]
    p(1:count) = r(1:count)
    rho = dot(r(1:count), r(1:count))
    do step = 1, steps
        call multiply()
        alpha = rho/dot(p(1:count), q(1:count))
        x(1:count) = x(1:count) + alpha*p(1:count)
        r(1:count) = r(1:count) - alpha*q(1:count)
        before = rho
        rho = dot(r(1:count), r(1:count))
        p(1:count) = r(1:count) + rho/before*p(1:count)
        write (20, '(i4, es20.12)') step, rho
        if (0 == rank .and. 0 == mod(step, 10)) print '(a, i0, a, es20.12)', 'step ', step, ': rho', rho
    end do
    rewind (20)
    do step = 1, steps
        read (20, '(i4, es20.12)') count, alpha
        if (count /= step) print '(a, i0, a)', 'rank ', rank, ' has read a line of another'
    end do
    close (20, status='delete')
    if (0 == rank) print '(a, es20.12)', 'x(1)', x(1)
    call MPI_Finalize(ierror)
end program ranks_cg
