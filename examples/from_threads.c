/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A program whose threads shared their process's rank, before and after.
 *
 * All threads of all processes form a ring and hand numbers on.  Before, "tags" on the command
 * line: MPI_THREAD_MULTIPLE, where a tag names the thread that a message is for, and the threads'
 * numbers meet in OpenMP before one thread reduces them.  After: threads are ranks, and both are
 * MPI's.
 *
 *     epmpicc -fopenmp from_threads.c -o from_threads
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./from_threads [tags]
 *
 * Any number of processes will do, and any number of threads, the same in all.  Exit status 0: the
 * numbers are right.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAPS = 20 };

/* What went through all hands: each adds its place in the ring. */
static long expected(int threads)
{
    return (long) LAPS * threads * (threads - 1) / 2;
}

/* Before: one rank for all threads of the process.  @return the sum of all that they ended with */
static long by_tags(int n)
{
    int process, processes;
    long sum = 0, total;

    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
#pragma omp parallel num_threads(n) reduction(+ : sum)
    {
        int me = omp_get_thread_num(), place = process * n + me, all = processes * n;
        int next = (place + 1) % all, previous = (place + all - 1) % all;
        long value = 0, got;

        for (int step = 0; step < LAPS * all; ++step) {
            value += place;
            MPI_Sendrecv(&value, 1, MPI_LONG, next / n, next % n, &got, 1, MPI_LONG, previous / n,
                         me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            value = got;
        }
        sum += value;
    }
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

/* After: one rank for each thread. */
static long by_ranks(int n)
{
    MPI_Comm *ep = malloc((size_t) n * sizeof(MPI_Comm));
    long total = -1;

    if (NULL == ep) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, n, MPI_INFO_NULL, ep);
#pragma omp parallel num_threads(n)
    {
        MPI_Comm comm = ep[omp_get_thread_num()];
        int place, all;
        long value = 0, got, sum;

        MPI_Comm_rank(comm, &place);
        MPI_Comm_size(comm, &all);
        for (int step = 0; step < LAPS * all; ++step) {
            value += place;
            MPI_Sendrecv(&value, 1, MPI_LONG, (place + 1) % all, 0, &got, 1, MPI_LONG,
                         (place + all - 1) % all, 0, comm, MPI_STATUS_IGNORE);
            value = got;
        }
        MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, comm);
        if (0 == omp_get_thread_num()) {
            total = sum;
        }
        MPI_Comm_free(&ep[omp_get_thread_num()]);
    }
    free(ep);
    return total;
}

int main(int argc, char **argv)
{
    const int tags = 2 == argc && 0 == strcmp(argv[1], "tags");
    int level, process, processes, n = omp_get_max_threads(), right;
    long total;

    if (1 < argc && !tags) {
        fprintf(stderr, "usage: from_threads [tags]\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (MPI_THREAD_MULTIPLE != level) {
        fprintf(stderr, "from_threads: no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    omp_set_dynamic(0); /* a team has as many threads as it is asked for */
    total = tags ? by_tags(n) : by_ranks(n);
    right = (long) processes * n * expected(processes * n) == total;
    if (0 == process || !right) {
        printf("from_threads: %d processes of %d threads, by %s: %ld, %s\n", processes, n,
               tags ? "tags" : "ranks", total, right ? "right" : "WRONG");
    }
    MPI_Finalize();
    return !right;
}
