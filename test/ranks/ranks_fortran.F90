!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! A program in Fortran that knows nothing of endpoints, compiled for mpif.h, mpi and mpi_f08: common
! blocks, SAVE and module variables, MPI's constants that are known by their addresses, handles, and
! output and input on one unit in all ranks.
!
! Guards: ranks/image, ranks/mpi, world_f2c.c

#if defined(TEST_F08)
#define HANDLE(name) type(name)
#define STATUS type(MPI_Status)
#else
#define HANDLE(name) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#endif

module state
    implicit none
    integer :: number = 4
    real(8), allocatable :: field(:)
end module state

module tests
#if defined(TEST_F08)
    use mpi_f08
#elif defined(TEST_MPI)
    use mpi
#endif
    use state
    implicit none
#if defined(TEST_MPIFH)
    include 'mpif.h'
#endif
    integer :: rank, ranks, ierror
    integer :: in_common
    character(16) :: text_in_common
    common /block/ in_common, text_in_common

contains

    integer function next_number()
        integer, save :: last = 10
        last = last + 1
        next_number = last
    end function next_number

    subroutine check_state()
        integer :: i, got

        call check(4 == number .and. .not. allocated(field), 'variables of a module are fresh')
        number = 40 + rank
        in_common = 50 + rank
        write (text_in_common, '(a, i0)') 'rank ', rank
        allocate (field(1000 + rank))
        field = rank
        do i = 1, rank
            got = next_number()
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call check(40 + rank == number .and. 1000 + rank == size(field), 'variables of a module')
        call check(all(field == rank), 'an allocatable one')
        call check(50 + rank == in_common .and. 'rank ' == text_in_common(1:5), 'a common block')
        call check(11 + rank == next_number(), 'SAVE')
        call ranks_case('modules, common blocks, SAVE')
    end subroutine check_state

    subroutine check_constants()
        integer :: values(3), requests, i
        HANDLE(MPI_Request) :: both(2)
        STATUS :: told

        values = rank + [0, 1, 2]
        call MPI_Allreduce(MPI_IN_PLACE, values, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
        requests = ranks*(ranks - 1)/2
        call check(all(values == requests + ranks*[0, 1, 2]), 'MPI_IN_PLACE')
        call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, both(1), ierror)
        call MPI_Irecv(i, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, both(2), ierror)
        call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierror)
        call check(mod(rank + ranks - 1, ranks) == i, 'MPI_STATUSES_IGNORE')
        call check(both(1) == MPI_REQUEST_NULL, 'MPI_REQUEST_NULL')
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 2, i, 1, MPI_INTEGER, &
                          MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call check(mod(rank + ranks - 1, ranks) == i, 'MPI_STATUS_IGNORE')
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 3, i, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, told, &
                          ierror)
#if defined(TEST_F08)
        call check(rank == i .and. 3 == told%MPI_TAG, 'a status')
#else
        call check(rank == i .and. 3 == told(MPI_TAG), 'a status')
#endif
        call MPI_Send(MPI_BOTTOM, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierror)
        call ranks_case('constants that are known by their addresses')
    end subroutine check_constants

    subroutine check_handles()
        HANDLE(MPI_Comm) :: comm
        HANDLE(MPI_Datatype) :: column
        integer :: n, value, matrix(3, 4), got(4)

        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
        call MPI_Comm_compare(MPI_COMM_WORLD, comm, n, ierror)
        call check(MPI_CONGRUENT == n, 'a duplicate')
        call MPI_Comm_free(comm, ierror)
        call check(comm == MPI_COMM_NULL, 'MPI_COMM_NULL')
        call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, comm, ierror)
        call MPI_Comm_rank(comm, n, ierror)
        call check(rank/2 == n, 'a half')
        call MPI_Comm_free(comm, ierror)
        call MPI_Comm_size(MPI_COMM_SELF, n, ierror)
        call check(1 == n, 'MPI_COMM_SELF')
        value = merge(33, 0, 0 == rank)
        call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
        call check(33 == value, 'broadcast')
        matrix = reshape([(rank*100 + n, n=1, 12)], [3, 4])
        call MPI_Type_vector(4, 1, 3, MPI_INTEGER, column, ierror)
        call MPI_Type_commit(column, ierror)
        call MPI_Sendrecv(matrix(2, 1), 1, column, mod(rank + 1, ranks), 4, got, 4, MPI_INTEGER, &
                          mod(rank + ranks - 1, ranks), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
        call check(all(got == mod(rank + ranks - 1, ranks)*100 + [2, 5, 8, 11]), 'a vector type')
        call MPI_Type_free(column, ierror)
        call ranks_case('handles')
    end subroutine check_handles

    ! All ranks use the same units: each has its own file behind them.
    subroutine check_units()
        character(80) :: name, line
        integer :: i, n

        write (line, '(i0)') rank
        call get_environment_variable('TMPDIR', name)
        if (0 == len_trim(name)) name = '/tmp'
        name = trim(name)//'/ranks_fortran.'//trim(line)
        open (unit=12, file=name, status='replace', action='readwrite')
        do i = 1, 500
            write (12, *) rank, i
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        rewind (12)
        do i = 1, 500
            read (12, *) n, number
            if (n /= rank .or. number /= i) then
                call check(.false., 'lines are its own')
                exit
            end if
        end do
        close (12, status='delete')
        print '(a, i0)', '# rank ', rank
        call ranks_case('one unit in all ranks')
    end subroutine check_units
end module tests

program ranks_fortran
    use tests
    implicit none

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call check_state()
    call check_constants()
    call check_handles()
    call check_units()
    call ranks_end()
end program ranks_fortran
