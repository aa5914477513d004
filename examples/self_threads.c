/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * The threads of a process as ranks among themselves: a sort with MPI's collectives in place of
 * shared arrays, barriers and critical sections.
 *
 * Endpoints of MPI_COMM_SELF know of the threads of one process only.  Here they sort an array of
 * the process by samples: each sorts its share, all agree on where one's keys end and the next
 * one's begin (MPI_Allgather), give each other what is theirs (MPI_Alltoallv), and find where it
 * belongs (MPI_Exscan).  Each process does so for itself: process p has p threads more than
 * process 0, and more keys.  Dinan et al., "Enabling communication concurrency through flexible MPI
 * endpoints", 2014, name this use (section 5.1); such collectives go through the threads' memory.
 *
 *     epmpicc -fopenmp self_threads.c -o self_threads
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./self_threads [keys per process]
 *
 * Any number of processes and threads will do.  Exit status 0: all arrays are as qsort() has them.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A random value above, the place in the array below: no two are equal. */
typedef long long key_type;

static int compare(const void *a, const void *b)
{
    const key_type x = *(const key_type *) a, y = *(const key_type *) b;

    return (x > y) - (x < y);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(0 == count ? 1 : count, size);

    if (NULL == memory) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* How many of the sorted keys are each rank's: those below the next one's, in samples of all. */
static void count_per_rank(MPI_Comm comm, int size, const key_type *keys, int n, int *counts)
{
    key_type *samples = allocate((size_t) size, sizeof(*samples));
    key_type *all = allocate((size_t) size * size, sizeof(*all));
    int begin = 0;

    for (int i = 0; i < size; ++i) {
        samples[i] = 0 == n ? 0 : keys[(long) i * n / size];
    }
    MPI_Allgather(samples, size, MPI_LONG_LONG, all, size, MPI_LONG_LONG, comm);
    qsort(all, (size_t) size * size, sizeof(*all), compare);
    for (int i = 0; i < size; ++i) {
        int end = begin;

        while (end < n && (size - 1 == i || keys[end] < all[(i + 1) * size])) {
            ++end;
        }
        counts[i] = end - begin;
        begin = end;
    }
    free(samples);
    free(all);
}

/* What a thread does, as a rank: it gives its share of the keys, sorted by itself, and writes into
 * `sorted` those that it is to have.  @return how many these are */
static int sort(MPI_Comm comm, key_type *keys, int n, key_type *sorted)
{
    int rank, size, total = 0, *counts[2], *at[2]; /* of what is sent, of what is received */
    long place = 0, mine;
    key_type *got;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 2; ++i) {
        counts[i] = allocate((size_t) size, sizeof(int));
        at[i] = allocate((size_t) size, sizeof(int));
    }
    qsort(keys, (size_t) n, sizeof(*keys), compare);
    count_per_rank(comm, size, keys, n, counts[0]);
    MPI_Alltoall(counts[0], 1, MPI_INT, counts[1], 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) {
        at[0][i] = 0 == i ? 0 : at[0][i - 1] + counts[0][i - 1];
        at[1][i] = total;
        total += counts[1][i];
    }
    got = allocate((size_t) total, sizeof(*got));
    MPI_Alltoallv(keys, counts[0], at[0], MPI_LONG_LONG, got, counts[1], at[1], MPI_LONG_LONG,
                  comm);
    qsort(got, (size_t) total, sizeof(*got), compare);

    mine = total;
    MPI_Exscan(&mine, &place, 1, MPI_LONG, MPI_SUM, comm); /* undefined at rank 0 */
    memcpy(&sorted[0 == rank ? 0 : place], got, (size_t) total * sizeof(*got));
    for (int i = 0; i < 2; ++i) {
        free(counts[i]);
        free(at[i]);
    }
    free(got);
    return total;
}

/* @return the most keys that one of the threads came to have */
static int sort_by_threads(key_type *keys, int n, key_type *sorted, int threads)
{
    MPI_Comm *ep = allocate((size_t) threads, sizeof(*ep));
    int most = 0;

    MPIX_Comm_create_endpoints(MPI_COMM_SELF, threads, MPI_INFO_NULL, ep);
#pragma omp parallel num_threads(threads)
    {
        const int thread = omp_get_thread_num();
        const int begin = (int) ((long) thread * n / threads);
        const int end = (int) ((long) (thread + 1) * n / threads);
        int total = sort(ep[thread], &keys[begin], end - begin, sorted), all;

        MPI_Allreduce(&total, &all, 1, MPI_INT, MPI_MAX, ep[thread]);
        if (0 == thread) {
            most = all;
        }
        MPI_Comm_free(&ep[thread]);
    }
    free(ep);
    return most;
}

int main(int argc, char **argv)
{
    int level, process, processes, n = 1 < argc ? atoi(argv[1]) : 100000, threads, most, right;
    key_type *keys, *sorted, *expected;
    unsigned seed;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    omp_set_dynamic(0); /* as many threads as endpoints */
    threads = omp_get_max_threads() + process;
    n = (0 > n ? 0 : n) + 17 * process;
    keys = allocate((size_t) n, sizeof(*keys));
    sorted = allocate((size_t) n, sizeof(*sorted));
    expected = allocate((size_t) n, sizeof(*expected));
    seed = 12345 + (unsigned) process;
    for (int i = 0; i < n; ++i) {
        seed = seed * 1103515245 + 12345;
        keys[i] = (key_type) (seed >> 8) << 32 | i;
    }
    memcpy(expected, keys, (size_t) n * sizeof(*keys));
    qsort(expected, (size_t) n, sizeof(*expected), compare);

    most = sort_by_threads(keys, n, sorted, threads);
    right = 0 == memcmp(sorted, expected, (size_t) n * sizeof(*sorted));
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (0 == process) {
        printf("self_threads: %d processes, %d threads in the first: %d keys, at most %d each: "
               "%s\n",
               processes, threads, n, most, right ? "right" : "WRONG");
    }
    free(keys);
    free(sorted);
    free(expected);
    MPI_Finalize();
    return right ? 0 : 1;
}
