/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What communicators cost: dup, split into halves, the free of a dup, and the making of one more
 * communicator of the way's own kind.
 *
 * Each is counted without the others: all workers meet before and after what counts, and the rest
 * is left out by worker->uncounted.  The clock is read inside of a block for that; the calls here
 * take tens of times as long as reading it.
 */

#include "epbench.h"

/** Communicators alive at a time: frees are too short to be timed one by one. */
#define BATCH 8

static double value_per_call(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                             epbench_elapsed_t elapsed)
{
    (void) worker;
    (void) point;
    return elapsed.longest / (double) n * 1e6;
}

static void dup(epbench_worker_t *worker, MPI_Comm *comm)
{
    MPI_Comm_dup(worker->comm, comm);
}

/** Even and odd ranks. */
static void split(epbench_worker_t *worker, MPI_Comm *comm)
{
    MPI_Comm_split(worker->comm, worker->rank % 2, worker->rank, comm);
}

/** n times create and free, of which one counts. */
static void run(epbench_worker_t *worker, long n,
                void (*create)(epbench_worker_t *worker, MPI_Comm *comm), bool free_counts)
{
    const double start = epbench_now();
    double counted = 0.0;

    while (0 < n) {
        const int batch = (BATCH < n) ? BATCH : (int) n;
        MPI_Comm comm[BATCH];
        double before;
        double between;

        epbench_team_sync(worker);
        before = epbench_now();
        for (int i = 0; i < batch; ++i) {
            create(worker, &comm[i]);
        }
        between = epbench_now();
        /* MPICH's thread communicators are one object for all threads: nobody may free one that
         * somebody still uses. */
        epbench_team_sync(worker);
        if (free_counts) {
            before = epbench_now();
        }
        for (int i = 0; i < batch; ++i) {
            MPI_Comm_free(&comm[i]);
        }
        counted += (free_counts ? epbench_now() : between) - before;
        n -= batch;
    }
    worker->uncounted = epbench_now() - start - counted;
}

static void block_dup(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    run(worker, n, dup, false);
}

static void block_split(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    run(worker, n, split, false);
}

static void block_free(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    run(worker, n, dup, true);
}

static void block_create(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const double start = epbench_now();
    double counted = 0.0;

    (void) point;
    for (long i = 0; i < n; ++i) {
        double before;

        epbench_team_sync(worker);
        before = epbench_now();
        epbench_ways_make(worker);
        counted += epbench_now() - before;
        epbench_team_sync(worker);
        epbench_ways_unmake(worker);
    }
    worker->uncounted = epbench_now() - start - counted;
}

/** @return 0 if comm has exactly the members rank % skip, rank % skip + skip, and so on */
static size_t is_wrong(MPI_Comm comm, int size, int rank, int skip)
{
    const int first = rank % skip;
    int mine = rank;
    int sum;
    int comm_size;

    MPI_Comm_size(comm, &comm_size);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    return comm_size != size / skip || sum != comm_size * (2 * first + (comm_size - 1) * skip) / 2;
}

static size_t check_dup(epbench_worker_t *worker, const epbench_point_t *point)
{
    MPI_Comm comm;
    size_t wrong;

    (void) point;
    dup(worker, &comm);
    wrong = is_wrong(comm, worker->size, worker->rank, 1);
    epbench_team_sync(worker);
    MPI_Comm_free(&comm);
    return wrong;
}

static size_t check_split(epbench_worker_t *worker, const epbench_point_t *point)
{
    MPI_Comm comm;
    size_t wrong;

    (void) point;
    split(worker, &comm);
    wrong = is_wrong(comm, worker->size, worker->rank, 2);
    MPI_Comm_free(&comm);
    return wrong;
}

static size_t check_create(epbench_worker_t *worker, const epbench_point_t *point)
{
    size_t wrong;

    (void) point;
    epbench_ways_make(worker);
    epbench_team_sync(worker);
    wrong = is_wrong(epbench_ways_made(worker), worker->size, worker->rank, 1);
    epbench_team_sync(worker);
    epbench_ways_unmake(worker);
    return wrong;
}

const epbench_measure_t epbench_comm_measures[] = {
    {.name = "dup",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE,
     .block = block_dup,
     .check = check_dup,
     .value = value_per_call},
    {.name = "split",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE | EPBENCH_SPLIT,
     .block = block_split,
     .check = check_split,
     .value = value_per_call},
    {.name = "create",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE | EPBENCH_MAKE,
     .block = block_create,
     .check = check_create,
     .value = value_per_call},
    {.name = "free",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE,
     .block = block_free,
     .check = check_dup,
     .value = value_per_call},
    {.name = NULL},
};
