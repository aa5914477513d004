/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program that knows nothing of endpoints, compiled by plain mpicc: each rank prints where it is.  With an argument
 * all ranks then wait for ever.
 *
 * Tests: schedulers/slurm, schedulers/ssh
 */

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int counted; /* one for each rank, also where ranks are threads */

int main(int argc, char **argv)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int rank, size, sum, length;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    ++counted;
    MPI_Allreduce(&counted, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d on %s, sum %d\n", rank, size, host, sum);
    fflush(stdout);
    while (1 < argc) {
        pause();
    }
    MPI_Finalize();
    return 0;
}
