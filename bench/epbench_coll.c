/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Blocking collectives over all workers, back to back; those with buffers take another slot of a
 * ring in each call, and the root moves on: each call waits for the one before, and no root runs
 * ahead of the others as a fixed one would.
 */

#include "epbench.h"
#include "epbench_ring.h"

static void block_barrier(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    for (long i = 0; i < n; ++i) {
        MPI_Barrier(worker->comm);
    }
}

/** Defines the block of a collective: mpi_call is made with ring and comm. */
#define BLOCK(name, mpi_call)                                                                \
    static void block_##name(epbench_worker_t *worker, const epbench_point_t *point, long n) \
    {                                                                                        \
        const MPI_Comm comm = worker->comm;                                                  \
        epbench_ring_t ring = epbench_ring_of(worker, point);                                \
                                                                                             \
        for (long i = 0; i < n; ++i) {                                                       \
            epbench_ring_turn(&ring);                                                        \
            mpi_call;                                                                        \
            epbench_ring_next(&ring);                                                        \
        }                                                                                    \
        worker->calls = ring.call;                                                           \
    }

BLOCK(allreduce, MPI_Allreduce(ring.out, ring.in, ring.count, MPI_DOUBLE, MPI_SUM, comm))
BLOCK(bcast, MPI_Bcast(ring.in, ring.count, MPI_DOUBLE, ring.root, comm))
BLOCK(reduce, MPI_Reduce(ring.out, ring.in, ring.count, MPI_DOUBLE, MPI_SUM, ring.root, comm))
BLOCK(allgather,
      MPI_Allgather(ring.out, ring.count, MPI_DOUBLE, ring.in, ring.count, MPI_DOUBLE, comm))
BLOCK(alltoall,
      MPI_Alltoall(ring.out, ring.count, MPI_DOUBLE, ring.in, ring.count, MPI_DOUBLE, comm))
BLOCK(rsblock, MPI_Reduce_scatter_block(ring.out, ring.in, ring.count, MPI_DOUBLE, MPI_SUM, comm))
BLOCK(gather, MPI_Gather(ring.out, ring.count, MPI_DOUBLE, ring.in, ring.count, MPI_DOUBLE,
                         ring.root, comm))
BLOCK(scatter, MPI_Scatter(ring.out, ring.count, MPI_DOUBLE, ring.in, ring.count, MPI_DOUBLE,
                           ring.root, comm))
BLOCK(scan, MPI_Scan(ring.out, ring.in, ring.count, MPI_DOUBLE, MPI_SUM, comm))

static void block_rscatter(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const MPI_Comm comm = worker->comm;
    epbench_ring_t ring = epbench_ring_of(worker, point);
    int counts[EPBENCH_MAX_THREADS];

    for (int i = 0; i < ring.size; ++i) {
        counts[i] = ring.count;
    }
    for (long i = 0; i < n; ++i) {
        epbench_ring_turn(&ring);
        MPI_Reduce_scatter(ring.out, ring.in, counts, MPI_DOUBLE, MPI_SUM, comm);
        epbench_ring_next(&ring);
    }
    worker->calls = ring.call;
}

/** Where threads are no ranks: thread 0 of each process calls, while the others wait at a barrier
 * before and after.  What the others would add to the sum, or take of it, does not count. */
static void block_hybrid(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    const int count = (int) (point->size / sizeof(double));

    for (long i = 0; i < n; ++i) {
        epbench_team_meet(worker->team);
        if (0 == worker->thread) {
            MPI_Allreduce(worker->send_buffer, worker->recv_buffer, count, MPI_DOUBLE, MPI_SUM,
                          worker->comm);
        }
        epbench_team_meet(worker->team);
    }
}

static void prepare_hybrid(epbench_worker_t *worker, const epbench_point_t *point)
{
    double *out = (double *) worker->send_buffer;

    for (size_t i = 0; i < point->size / sizeof(double); ++i) {
        out[i] = worker->team->proc + 1.0 + (double) i;
    }
}

static size_t check_hybrid(epbench_worker_t *worker, const epbench_point_t *point)
{
    const double *in = (const double *) worker->recv_buffer;
    const int procs = worker->team->procs;
    size_t wrong = 0;

    for (size_t i = 0; i < point->size / sizeof(double) && 0 == worker->thread; ++i) {
        wrong += procs * (procs + 1) / 2 + (double) procs * (double) i != in[i];
    }
    return wrong;
}

static const epbench_moves_t moves_allreduce = {.sum = EPBENCH_SUM_ALL};
static const epbench_moves_t moves_bcast = {.out_root = true, .one = true};
static const epbench_moves_t moves_reduce = {.in_root = true, .sum = EPBENCH_SUM_ALL};
static const epbench_moves_t moves_allgather = {.in_each = true};
static const epbench_moves_t moves_alltoall = {.out_each = true, .in_each = true};
static const epbench_moves_t moves_rscatter = {.out_each = true, .sum = EPBENCH_SUM_ALL};
static const epbench_moves_t moves_gather = {.in_each = true, .in_root = true};
static const epbench_moves_t moves_scatter = {.out_each = true, .out_root = true};
static const epbench_moves_t moves_scan = {.sum = EPBENCH_SUM_PREFIX};

/** An entry of the table, of a collective with buffers. */
#define MEASURE(which, what)                                                        \
    {                                                                               \
        .name = #which, .unit = "us", .needs = EPBENCH_COLLECTIVE, .moves = (what), \
        .block = block_##which, .value = epbench_value_call                         \
    }

const epbench_measure_t epbench_coll_measures[] = {
    {.name = "barrier",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE,
     .block = block_barrier,
     .value = epbench_value_call},
    MEASURE(allreduce, &moves_allreduce),
    {.name = "hybrid",
     .unit = "us",
     .needs = EPBENCH_HYBRID,
     .prepare = prepare_hybrid,
     .block = block_hybrid,
     .check = check_hybrid,
     .value = epbench_value_call},
    MEASURE(bcast, &moves_bcast),
    MEASURE(reduce, &moves_reduce),
    MEASURE(allgather, &moves_allgather),
    MEASURE(alltoall, &moves_alltoall),
    MEASURE(rsblock, &moves_rscatter),
    MEASURE(rscatter, &moves_rscatter),
    MEASURE(gather, &moves_gather),
    MEASURE(scatter, &moves_scatter),
    MEASURE(scan, &moves_scan),
    {.name = NULL},
};
