/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A checkpoint in one file, which all threads of all processes write together, and from which a run
 * with another number of threads or processes goes on: what is in the file does not tell how many
 * have written it.
 *
 *     epmpicc -fopenmp checkpoint.c -o checkpoint
 *     epmpirun -n 2 ./checkpoint state 4        # begins: 8 ranks, 10 steps
 *     epmpirun -n 3 ./checkpoint state 2        # goes on: 6 ranks, 10 steps more
 *
 * With several numbers of threads the same process does both, one after the other; without any
 * argument, with 4 and then 3 threads, and with a file in /tmp that is removed in the end.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { VALUES = 100003, STEPS = 10 };

/* What a step makes of a value; in the end each can be computed from its place and the step
 * alone. */
static long next(long value, long place)
{
    return (value * 31 + place) % 1000003;
}

static long expected(long place, long step)
{
    long value = place;

    for (long i = 0; i < step; ++i) {
        value = next(value, place);
    }
    return value;
}

/* The file: the step, and then all values.  A rank has those from first on. */
static void set_view(MPI_File file, long first)
{
    MPI_File_set_view(file, (MPI_Offset) ((1 + first) * (long) sizeof(long)), MPI_LONG, MPI_LONG,
                      "native", MPI_INFO_NULL);
}

/* The step that is in the file, and this rank's values; or 0, if there is none. */
static long restore(MPI_Comm comm, const char *name, long first, int count, long *values)
{
    MPI_File file;
    long step = 0;

    if (MPI_SUCCESS != MPI_File_open(comm, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) {
        for (int i = 0; i < count; ++i) {
            values[i] = first + i;
        }
        return 0; /* all ranks know that there is none */
    }
    MPI_File_read_at_all(file, 0, &step, sizeof(step), MPI_BYTE, MPI_STATUS_IGNORE);
    set_view(file, first);
    MPI_File_read_all(file, values, count, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return step;
}

/* Returns 0; or 1, to all: the file cannot be written. */
static int save(MPI_Comm comm, const char *name, long step, long first, int count,
                 const long *values)
{
    MPI_File file;
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (MPI_SUCCESS
        != MPI_File_open(comm, name, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file)) {
        return 1;
    }
    if (0 == rank) {
        MPI_File_write_at(file, 0, &step, sizeof(step), MPI_BYTE, MPI_STATUS_IGNORE);
    }
    set_view(file, first);
    MPI_File_write_all(file, values, count, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return 0;
}

/* One rank of one run.  Returns how many of its values are wrong. */
static int run_rank(MPI_Comm comm, const char *name)
{
    int rank, size, wrong = 0, all = 0;
    long first, start, *values;
    int count;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    first = (long) VALUES * rank / size;
    count = (int) ((long) VALUES * (rank + 1) / size - first);
    values = malloc((size_t) count * sizeof(*values));

    start = restore(comm, name, first, count, values);
    for (int step = 0; step < STEPS; ++step) {
        for (int i = 0; i < count; ++i) {
            values[i] = next(values[i], first + i);
        }
    }
    wrong += save(comm, name, start + STEPS, first, count, values);

    for (int i = 0; i < count; ++i) {
        wrong += expected(first + i, start + STEPS) != values[i];
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, comm);
    if (0 == rank) {
        printf("checkpoint: %d ranks, from step %ld to %ld: %s\n", size, start, start + STEPS,
               0 == all ? "right" : "WRONG");
    }
    free(values);
    return wrong;
}

/* One run with so many threads in this process. */
static int run(int num_threads, const char *name)
{
    MPI_Comm *ep = malloc((size_t) num_threads * sizeof(*ep));
    int wrong = 0;

    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, num_threads, MPI_INFO_NULL, ep);
#pragma omp parallel num_threads(num_threads) reduction(+ : wrong)
    {
        MPI_Comm *comm = &ep[omp_get_thread_num()];

        wrong += run_rank(*comm, name);
        MPI_Comm_free(comm);
    }
    free(ep);
    return wrong;
}

int main(int argc, char *argv[])
{
    char own[64] = "";
    const char *name = 1 < argc ? argv[1] : own;
    int level, rank, wrong = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == rank) {
        snprintf(own, sizeof(own), "/tmp/checkpoint-%ld", (long) getpid());
    }
    MPI_Bcast(own, sizeof(own), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (3 > argc) {
        wrong += run(4, name);
        wrong += run(3, name);
        if (2 > argc && 0 == rank) {
            unlink(name);
        }
    }
    for (int i = 2; i < argc; ++i) {
        wrong += run(atoi(argv[i]), name);
    }
    MPI_Finalize();
    return 0 != wrong;
}
