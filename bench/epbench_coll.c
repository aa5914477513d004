/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Barrier, allreduce and broadcast over all workers.
 */

#include <string.h>

#include "epbench.h"

static size_t elements(const epbench_point_t *point)
{
    return point->size / sizeof(double);
}

static double value_collective(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                               epbench_elapsed_t elapsed)
{
    (void) worker;
    (void) point;
    return elapsed.longest / (double) n * 1e6;
}

static void block_barrier(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    for (long i = 0; i < n; ++i) {
        MPI_Barrier(worker->comm);
    }
}

static void prepare_allreduce(epbench_worker_t *worker, const epbench_point_t *point)
{
    double *in = (double *) worker->send_buffer;

    for (size_t i = 0; i < elements(point); ++i) {
        in[i] = (double) (worker->rank + 1) + (double) (i % 16);
    }
    memset(worker->recv_buffer, 0, point->size);
}

static void block_allreduce(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const int count = (int) elements(point);

    for (long i = 0; i < n; ++i) {
        MPI_Allreduce(worker->send_buffer, worker->recv_buffer, count, MPI_DOUBLE, MPI_SUM,
                      worker->comm);
    }
}

static size_t check_allreduce(epbench_worker_t *worker, const epbench_point_t *point)
{
    const double *out = (const double *) worker->recv_buffer;
    double ranks = 0.5 * worker->size * (worker->size + 1);
    size_t wrong = 0;

    for (size_t i = 0; i < elements(point); ++i) {
        wrong += (out[i] != ranks + (double) (i % 16) * worker->size);
    }
    return wrong;
}

/** Only worker 0 has the data: the others get it from the first broadcast and hand it on. */
static void prepare_bcast(epbench_worker_t *worker, const epbench_point_t *point)
{
    if (0 == worker->rank) {
        epbench_fill(worker->recv_buffer, point->size, 0);
    } else {
        memset(worker->recv_buffer, 0, point->size);
    }
}

/** The root moves on with every call: each call waits for the one before, and no root runs ahead
 * of the others as a fixed one would. */
static void block_bcast(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    int root = 0;

    for (long i = 0; i < n; ++i) {
        MPI_Bcast(worker->recv_buffer, (int) point->size, MPI_BYTE, root, worker->comm);
        root = (root + 1 == worker->size) ? 0 : root + 1;
    }
}

static size_t check_bcast(epbench_worker_t *worker, const epbench_point_t *point)
{
    return epbench_compare(worker->recv_buffer, point->size, 0);
}

const epbench_measure_t epbench_coll_measures[] = {
    {.name = "barrier",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE,
     .block = block_barrier,
     .value = value_collective},
    {.name = "allreduce",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE,
     .prepare = prepare_allreduce,
     .block = block_allreduce,
     .check = check_allreduce,
     .value = value_collective},
    {.name = "bcast",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE,
     .prepare = prepare_bcast,
     .block = block_bcast,
     .check = check_bcast,
     .value = value_collective},
    {.name = NULL},
};
