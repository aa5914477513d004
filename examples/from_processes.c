/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A program that was written for one process per core, run by threads instead.
 *
 * What a process did, heat, is what a thread does now: it is given the communicator that was
 * MPI_COMM_WORLD, and what was a global variable is each thread's own.  main and on_threads are
 * new.  Where a run has no endpoints (plain mpirun) each process is one rank, as before.
 *
 *     epmpicc -fopenmp from_processes.c -o from_processes
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./from_processes
 *
 * Any number of processes and threads will do.  Exit status 0: the same as a serial run.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 100, STEPS = 50, LIMIT = 1000003 };

/* The rank's cells, with one of each neighbour's at the ends: a global of each process, once. */
static long cells[CELLS + 2];
#pragma omp threadprivate(cells)

/* A rule that mixes three cells, the same wherever it is computed. */
static long mixed(long left, long middle, long right)
{
    return (3 * left + 5 * middle + 7 * right) % LIMIT;
}

/* The sum of all cells after STEPS, computed by one rank alone; -1 without memory. */
static long serial(int ranks)
{
    const int n = ranks * CELLS;
    long *now = malloc(2 * (size_t) n * sizeof(long)), *next = now + n, sum = 0;
    long *const memory = now;

    if (NULL == memory) {
        return -1;
    }
    for (int i = 0; i < n; ++i) {
        now[i] = i % LIMIT;
    }
    for (int step = 0; step < STEPS; ++step) {
        long *const old = now;

        for (int i = 0; i < n; ++i) {
            next[i] = mixed(now[(i + n - 1) % n], now[i], now[(i + 1) % n]);
        }
        now = next;
        next = old;
    }
    for (int i = 0; i < n; ++i) {
        sum += now[i];
    }
    free(memory);
    return sum;
}

/* One rank's part, as it was but for its argument.  @return whether the result is right */
static int heat(MPI_Comm comm)
{
    int rank, size, right;
    long sum = 0, total;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < CELLS; ++i) {
        cells[i + 1] = (rank * CELLS + i) % LIMIT;
    }
    for (int step = 0; step < STEPS; ++step) {
        const int before = (rank + size - 1) % size, after = (rank + 1) % size;
        long left;

        MPI_Sendrecv(&cells[CELLS], 1, MPI_LONG, after, 0, &cells[0], 1, MPI_LONG, before, 0, comm,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&cells[1], 1, MPI_LONG, before, 1, &cells[CELLS + 1], 1, MPI_LONG, after, 1,
                     comm, MPI_STATUS_IGNORE);
        left = cells[0];
        for (int i = 1; CELLS >= i; ++i) {
            const long here = cells[i];

            cells[i] = mixed(left, here, cells[i + 1]);
            left = here;
        }
    }
    for (int i = 1; CELLS >= i; ++i) {
        sum += cells[i];
    }
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, comm);
    right = serial(size) == total;
    if (0 == rank || !right) {
        printf("from_processes: rank %d of %d: sum %ld, %s\n", rank, size, total,
               right ? "right" : "WRONG");
    }
    return right;
}

/* Every thread of the process is a rank.  @return whether all results here are right */
static int on_threads(void)
{
    int n = omp_get_max_threads(), right = 1;
    MPI_Comm *ep = malloc((size_t) n * sizeof(MPI_Comm));

    if (NULL == ep) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    omp_set_dynamic(0); /* a team has as many threads as it is asked for */
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, n, MPI_INFO_NULL, ep);
#pragma omp parallel num_threads(n) reduction(&& : right)
    {
        MPI_Comm *comm = &ep[omp_get_thread_num()];

        right = heat(*comm);
        MPI_Comm_free(comm);
    }
    free(ep);
    return right;
}

int main(int argc, char **argv)
{
    int level, endpoints = 0, right;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPIX_Query_endpoints_support(&endpoints);
    right = endpoints && MPI_THREAD_MULTIPLE == level ? on_threads() : heat(MPI_COMM_WORLD);
    MPI_Finalize();
    return !right;
}
