/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * All OpenMP threads of all processes take part in one MPI_Allreduce.
 *
 * Listing 1 of J. Dinan et al., "Enabling communication concurrency through flexible MPI
 * endpoints", 2014, made complete: the numbers 1 ... N are divided up among the endpoints, each
 * adds up its own part, and the total is compared with N (N + 1) / 2.
 *
 *     epmpicc -fopenmp openmp_allreduce.c -o openmp_allreduce
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./openmp_allreduce
 *
 * Any number of processes and threads will do.  Exit status 0: the total was right everywhere.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000000LL

/* The sum of the numbers that belong to one endpoint: rank + 1, rank + 1 + size, ... */
static long long own_part(int rank, int size)
{
    long long sum = 0;

    for (long long i = rank + 1; N >= i; i += size) {
        sum += i;
    }
    return sum;
}

int main(int argc, char **argv)
{
    int world_size, level, wrong = 0;
    int max_threads = omp_get_max_threads();
    MPI_Comm *ep_comm = malloc((size_t) max_threads * sizeof(MPI_Comm));

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (NULL == ep_comm || MPI_THREAD_MULTIPLE != level) {
        fprintf(stderr, "openmp_allreduce: no memory, or no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

#pragma omp parallel reduction(+ : wrong)
    {
        int nt = omp_get_num_threads();
        int tn = omp_get_thread_num();
        int ep_rank, ep_size;
        long long part, total = 0;

#pragma omp master
        {
            MPIX_Comm_create_endpoints(MPI_COMM_WORLD, nt, MPI_INFO_NULL, ep_comm);
        }
#pragma omp barrier
        MPI_Comm_rank(ep_comm[tn], &ep_rank);
        MPI_Comm_size(ep_comm[tn], &ep_size);

        part = own_part(ep_rank, ep_size);
        MPI_Allreduce(&part, &total, 1, MPI_LONG_LONG, MPI_SUM, ep_comm[tn]);

        if (N * (N + 1) / 2 != total) {
            fprintf(stderr, "openmp_allreduce: endpoint %d of %d got %lld\n", ep_rank, ep_size,
                    total);
            wrong = 1;
        } else if (0 == ep_rank) {
            printf("openmp_allreduce: %d process%s, %d endpoint%s: 1 + ... + %lld = %lld, right\n",
                   world_size, 1 == world_size ? "" : "es", ep_size, 1 == ep_size ? "" : "s", N,
                   total);
        }
        MPI_Comm_free(&ep_comm[tn]);
    }

    MPI_Finalize();
    free(ep_comm);
    return 0 != wrong;
}
