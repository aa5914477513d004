!
! Copyright (c) 2026 The Open MPI Endpoints project contributors.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! Every thread of every process is an MPI rank and says so: hello_endpoints.c in Fortran, with module mpi_f08.
!
!     epmpifort -fopenmp hello_endpoints.f90 -o hello_endpoints
!     OMP_NUM_THREADS=4 epmpirun -n 2 ./hello_endpoints

program hello_endpoints
  use mpi_f08
  use mpi_f08_ext
  use omp_lib
  implicit none
  type(MPI_Comm), allocatable :: ep(:)
  integer :: level, n, own, rank, size

  n = omp_get_max_threads()
  allocate(ep(n))
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPIX_Comm_create_endpoints(MPI_COMM_WORLD, n, MPI_INFO_NULL, ep)
  !$omp parallel num_threads(n) private(own, rank, size)
  own = omp_get_thread_num() + 1
  call MPI_Comm_rank(ep(own), rank)
  call MPI_Comm_size(ep(own), size)
  !$omp critical
  print '(a,i0,a,i0)', 'Hello from rank ', rank, ' of ', size
  !$omp end critical
  call MPI_Barrier(ep(own))
  call MPI_Comm_free(ep(own))
  !$omp end parallel
  call MPI_Finalize()
end program hello_endpoints
