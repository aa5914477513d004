/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives that are started and then waited for: nonblocking and persistent barrier and
 * allreduce, back to back, over all workers.  A persistent operation has its buffers, so each slot
 * of the ring has an operation of its own.
 */

#include "epbench.h"
#include "epbench_ring.h"

static void block_ibarrier(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    for (long i = 0; i < n; ++i) {
        MPI_Ibarrier(worker->comm, &worker->request[0]);
        MPI_Wait(&worker->request[0], MPI_STATUS_IGNORE);
    }
}

static void block_iallreduce(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    epbench_ring_t ring = epbench_ring_of(worker, point);

    for (long i = 0; i < n; ++i) {
        epbench_ring_turn(&ring);
        MPI_Iallreduce(ring.out, ring.in, ring.count, MPI_DOUBLE, MPI_SUM, worker->comm,
                       &worker->request[0]);
        MPI_Wait(&worker->request[0], MPI_STATUS_IGNORE);
        epbench_ring_next(&ring);
    }
    worker->calls = ring.call;
}

static const epbench_moves_t moves_allreduce = {.sum = EPBENCH_SUM_ALL};

/* Open MPI 5 has them, though it does not call itself MPI 4. */
#if MPI_VERSION >= 4 || defined(OPEN_MPI)

static void prepare_pbarrier(epbench_worker_t *worker, const epbench_point_t *point)
{
    (void) point;
    MPI_Barrier_init(worker->comm, MPI_INFO_NULL, &worker->request[0]);
}

static void block_pbarrier(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    (void) point;
    for (long i = 0; i < n; ++i) {
        MPI_Start(&worker->request[0]);
        MPI_Wait(&worker->request[0], MPI_STATUS_IGNORE);
    }
}

static size_t free_pbarrier(epbench_worker_t *worker, const epbench_point_t *point)
{
    (void) point;
    MPI_Request_free(&worker->request[0]);
    return 0;
}

static void prepare_pallreduce(epbench_worker_t *worker, const epbench_point_t *point)
{
    const epbench_ring_t ring = epbench_ring_of(worker, point);

    for (int slot = 0; slot < ring.slots; ++slot) {
        MPI_Allreduce_init(ring.first_out + (size_t) slot * ring.out_step,
                           ring.first_in + (size_t) slot * ring.in_step, ring.count, MPI_DOUBLE,
                           MPI_SUM, worker->comm, MPI_INFO_NULL, &worker->request[slot]);
    }
}

static void block_pallreduce(epbench_worker_t *worker, const epbench_point_t *point, long n)
{
    epbench_ring_t ring = epbench_ring_of(worker, point);

    for (long i = 0; i < n; ++i) {
        epbench_ring_turn(&ring);
        MPI_Start(&worker->request[ring.slot]);
        MPI_Wait(&worker->request[ring.slot], MPI_STATUS_IGNORE);
        epbench_ring_next(&ring);
    }
    worker->calls = ring.call;
}

static size_t free_pallreduce(epbench_worker_t *worker, const epbench_point_t *point)
{
    for (int slot = 0; slot < point->window; ++slot) {
        MPI_Request_free(&worker->request[slot]);
    }
    return 0;
}

#endif /* MPI_VERSION */

const epbench_measure_t epbench_later_measures[] = {
    {.name = "ibarrier",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE | EPBENCH_NONBLOCKING,
     .block = block_ibarrier,
     .value = epbench_value_call},
    {.name = "iallreduce",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE | EPBENCH_NONBLOCKING,
     .moves = &moves_allreduce,
     .block = block_iallreduce,
     .value = epbench_value_call},
#if MPI_VERSION >= 4 || defined(OPEN_MPI)
    {.name = "pbarrier",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE | EPBENCH_NONBLOCKING,
     .prepare = prepare_pbarrier,
     .block = block_pbarrier,
     .check = free_pbarrier,
     .value = epbench_value_call},
    {.name = "pallreduce",
     .unit = "us",
     .needs = EPBENCH_COLLECTIVE | EPBENCH_NONBLOCKING,
     .moves = &moves_allreduce,
     .prepare = prepare_pallreduce,
     .block = block_pallreduce,
     .check = free_pallreduce,
     .value = epbench_value_call},
#endif
    {.name = NULL},
};
