/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Every thread of every process is an MPI rank and says so.
 *
 *     epmpicc -fopenmp hello_endpoints.c -o hello_endpoints
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./hello_endpoints
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int level, n = omp_get_max_threads();
    MPI_Comm *ep = malloc((size_t) n * sizeof(MPI_Comm));

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, n, MPI_INFO_NULL, ep);
#pragma omp parallel num_threads(n)
    {
        MPI_Comm *comm = &ep[omp_get_thread_num()];
        int rank, size;

        MPI_Comm_rank(*comm, &rank);
        MPI_Comm_size(*comm, &size);
        printf("Hello from rank %d of %d\n", rank, size);
        MPI_Barrier(*comm);
        MPI_Comm_free(comm);
    }
    MPI_Finalize();
    free(ep);
    return 0;
}
