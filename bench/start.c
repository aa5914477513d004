/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A small program that knows nothing of endpoints, for bench/apps --start: it begins MPI, has each rank
 * talk to its neighbours, prints the memory of its process, and ends.
 */

#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Kilobytes of the process, each page divided among the processes that share it. */
static long proportional_kilobytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[128];
    long kilobytes = -1;

    while (NULL != file && NULL != fgets(line, sizeof(line), file)) {
        if (0 == strncmp(line, "Pss:", 4)) {
            (void) sscanf(line + 4, "%ld", &kilobytes);
        }
    }
    if (NULL != file) {
        (void) fclose(file);
    }
    return kilobytes;
}

int main(int argc, char **argv)
{
    int rank, size, got = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("process %ld has %ld KB\n", (long) getpid(), proportional_kilobytes());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return (rank + size - 1) % size == got ? 0 : 1;
}
