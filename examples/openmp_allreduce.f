!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! All OpenMP threads of all processes take part in one MPI_Allreduce:
! openmp_allreduce.c in FORTRAN 77 with mpif.h.
!
!     epmpif77 -fopenmp openmp_allreduce.f -o openmp_allreduce
!     OMP_NUM_THREADS=4 epmpirun -n 2 ./openmp_allreduce
!
! Exit status 0: the total was right everywhere.

      program openmp_allreduce
      implicit none
      include 'mpif.h'
      include 'mpif-ext.h'
      integer most
      parameter (most = 256)
      integer ep(most), level, ierr, nt, wrong
      integer omp_get_num_threads, omp_get_thread_num
      integer omp_get_max_threads
      integer rank_wrong
      external omp_get_num_threads, omp_get_thread_num, rank_wrong
      external omp_get_max_threads

      call MPI_INIT_THREAD(MPI_THREAD_MULTIPLE, level, ierr)
      wrong = 0
!$omp parallel private(nt) reduction(+:wrong)
!$omp&         num_threads(min(most, omp_get_max_threads()))
      nt = omp_get_num_threads()
!$omp single
      call MPIX_COMM_CREATE_ENDPOINTS(MPI_COMM_WORLD, nt,
     &     MPI_INFO_NULL, ep, ierr)
!$omp end single
      wrong = rank_wrong(ep(omp_get_thread_num() + 1))
!$omp end parallel
      call MPI_FINALIZE(ierr)
      if (wrong .ne. 0) stop 1
      end

!     One endpoint's part of 1 + ... + n: rank + 1, rank + 1 + size, ...
!     0 if the total is right.
      integer function rank_wrong(comm)
      implicit none
      include 'mpif.h'
      integer comm, rank, size, ierr
      integer*8 n, i, part, total
      parameter (n = 1000000)

      call MPI_COMM_RANK(comm, rank, ierr)
      call MPI_COMM_SIZE(comm, size, ierr)
      part = 0
      do i = rank + 1, n, size
         part = part + i
      end do
      call MPI_ALLREDUCE(part, total, 1, MPI_INTEGER8, MPI_SUM, comm,
     &     ierr)
      rank_wrong = 0
      if (total .ne. n * (n + 1) / 2) rank_wrong = 1
      if (rank .eq. 0) then
         print '(a,i0,a,i0,a,i0)', 'openmp_allreduce: ', size,
     &        ' endpoints: 1 + ... + ', n, ' = ', total
      end if
      call MPI_COMM_FREE(comm, ierr)
      end
