/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What collectives send and what they must have received (epbench_ring.h).  All values are small
 * whole numbers, so that sums are exact in any order.
 */

#include <string.h>

#include "epbench_ring.h"

/** A worker's ring, sent and received together: past its core's own cache, within the shared
 * one. */
#define RING_BYTES ((size_t) 8 << 20)

#define SLOTS_MOST 64
#define SLOTS_LEAST 2

size_t epbench_ring_out(const epbench_moves_t *moves, size_t size, int workers)
{
    return moves->one ? 0 : epbench_stride(moves->out_each ? size * (size_t) workers : size);
}

size_t epbench_ring_in(const epbench_moves_t *moves, size_t size, int workers)
{
    return epbench_stride(moves->in_each ? size * (size_t) workers : size);
}

int epbench_ring_slots(const epbench_moves_t *moves, size_t size, int workers)
{
    size_t slot = epbench_ring_out(moves, size, workers) + epbench_ring_in(moves, size, workers);
    size_t slots = RING_BYTES / slot;

    return (SLOTS_MOST < slots) ? SLOTS_MOST : (SLOTS_LEAST > slots) ? SLOTS_LEAST : (int) slots;
}

/** Of what worker rank sends in call c, to all or to worker block: double i. */
static double value(const epbench_moves_t *moves, int rank, int block, size_t i, long c)
{
    const double base = 1.0 + (moves->one ? 0.0 : rank) + 3.0 * (moves->out_each ? block : 0);

    return base + ((0 == i) ? (double) (c % EPBENCH_RING_STAMPS) : (double) (i % 16));
}

/** Double i of the block that worker me has received of worker from, or of all, in call c. */
static double expected(const epbench_moves_t *moves, int size, int me, int from, size_t i, long c)
{
    const int last = (EPBENCH_SUM_PREFIX == moves->sum) ? me : size - 1;
    double sum = 0.0;

    if (EPBENCH_SUM_NONE == moves->sum) {
        return value(moves, moves->in_each ? from : (int) (c % size), me, i, c);
    }
    for (int rank = 0; rank <= last; ++rank) {
        sum += value(moves, rank, me, i, c);
    }
    return sum;
}

epbench_ring_t epbench_ring_of(const epbench_worker_t *worker, const epbench_point_t *point)
{
    const epbench_moves_t *moves = point->measure->moves;
    epbench_ring_t ring = {.count = (int) (point->size / sizeof(double)),
                           .root = (int) (worker->calls % worker->size),
                           .rank = worker->rank,
                           .size = worker->size,
                           .blocks = moves->out_each ? worker->size : 1,
                           .slot = (int) (worker->calls % point->window),
                           .slots = point->window,
                           .first_out = (double *) worker->send_buffer,
                           .first_in = (double *) worker->recv_buffer,
                           .base = 1.0 + (moves->one ? 0.0 : worker->rank),
                           .call = worker->calls,
                           .out_root = moves->out_root};

    ring.out_step = epbench_ring_out(moves, point->size, worker->size) / sizeof(double);
    ring.in_step = epbench_ring_in(moves, point->size, worker->size) / sizeof(double);
    if (moves->one) {
        ring.first_out = ring.first_in;
        ring.out_step = ring.in_step;
    }
    return ring;
}

/** Where one buffer is for both, its first root has the data, and the others get it from there. */
void epbench_ring_prepare(epbench_worker_t *worker, const epbench_point_t *point)
{
    const epbench_moves_t *moves = point->measure->moves;
    epbench_ring_t ring = epbench_ring_of(worker, point);

    if (0 == ring.count || 0 != point->size % sizeof(double)) {
        epbench_fail("%s takes whole doubles, not %zu bytes", point->measure->name, point->size);
    }
    memset(worker->recv_buffer, 0, ring.in_step * sizeof(double) * (size_t) ring.slots);
    for (int slot = 0; slot < ring.slots; ++slot) {
        double *out = ring.first_out + (size_t) slot * ring.out_step;

        for (int block = 0; block < ring.blocks && (!moves->one || ring.rank == slot % ring.size);
             ++block) {
            for (size_t i = 0; i < (size_t) ring.count; ++i) {
                out[(size_t) block * (size_t) ring.count + i] = value(moves, ring.rank, block, i,
                                                                      slot);
            }
        }
    }
}

size_t epbench_ring_check(epbench_worker_t *worker, const epbench_point_t *point)
{
    const epbench_moves_t *moves = point->measure->moves;
    const epbench_ring_t ring = epbench_ring_of(worker, point);
    const int blocks = moves->in_each ? ring.size : 1;
    size_t wrong = 0;

    for (long c = ring.call - 1; 0 <= c && c >= ring.call - ring.slots; --c) {
        const double *in = ring.first_in + (size_t) (c % ring.slots) * ring.in_step;

        if (moves->in_root && ring.rank != (int) (c % ring.size)) {
            continue;
        }
        for (int block = 0; block < blocks; ++block) {
            for (size_t i = 0; i < (size_t) ring.count; ++i) {
                wrong += in[(size_t) block * (size_t) ring.count + i]
                         != expected(moves, ring.size, ring.rank, block, i, c);
            }
        }
    }
    return wrong;
}

double epbench_value_call(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                          epbench_elapsed_t elapsed)
{
    (void) worker;
    (void) point;
    return elapsed.longest / (double) n * 1e6;
}
