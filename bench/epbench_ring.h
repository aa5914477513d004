/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The buffers of collectives: a ring of slots, of which each call takes the next one, so that
 * nobody finds in his cache what the call before has left there; and before each call what is sent
 * is changed, as a program changes it.
 *
 * A block is what one worker gives to one other, or to all: size bytes of doubles.  Call c of a
 * point has root c % workers, and the first double of each block says which call it is of, so that
 * the last results of all slots are compared afterwards, each with its own call's.
 */

#ifndef EPBENCH_RING_H
#define EPBENCH_RING_H

#include "epbench.h"

/** The first double of a block repeats after so many calls: more than there are slots. */
#define EPBENCH_RING_STAMPS 1024

typedef enum epbench_sum_t {
    EPBENCH_SUM_NONE = 0, /**< moves only */
    EPBENCH_SUM_ALL,      /**< of all workers */
    EPBENCH_SUM_PREFIX    /**< of those up to me */
} epbench_sum_t;

/** What a collective takes and gives. */
struct epbench_moves_t {
    bool out_each; /**< a block for each worker is sent, instead of one */
    bool in_each;  /**< a block of each worker comes in, instead of one */
    bool out_root; /**< the root alone sends */
    bool in_root;  /**< the root alone receives */
    bool one;      /**< one buffer is for both: what is in the receive buffer */
    epbench_sum_t sum;
};

/** Where a block of calls is in the ring. */
typedef struct epbench_ring_t {
    double *out; /**< of this call */
    double *in;
    int count; /**< doubles of a block */
    int root;
    int rank;
    int size;
    int blocks; /**< that I send */
    int slot;
    int slots;
    size_t out_step; /**< doubles from a slot to the next one */
    size_t in_step;
    double *first_out; /**< slot 0 */
    double *first_in;
    double base; /**< of what I send, see epbench_ring_value */
    long call;
    bool out_root;
} epbench_ring_t;

/** Bytes of a slot that is sent, or received, where there are so many workers. */
size_t epbench_ring_out(const epbench_moves_t *moves, size_t size, int workers);
size_t epbench_ring_in(const epbench_moves_t *moves, size_t size, int workers);

/** How many slots a worker's ring has by default. */
int epbench_ring_slots(const epbench_moves_t *moves, size_t size, int workers);

/** Before the first call: fills what is sent, clears what is received. */
void epbench_ring_prepare(epbench_worker_t *worker, const epbench_point_t *point);

/** After the last call.  @return number of wrong doubles in what came in last, in all slots */
size_t epbench_ring_check(epbench_worker_t *worker, const epbench_point_t *point);

/** The ring where worker->calls says that it is. */
epbench_ring_t epbench_ring_of(const epbench_worker_t *worker, const epbench_point_t *point);

/** The next call may start: out, in and root are its own. */
static inline void epbench_ring_turn(epbench_ring_t *ring)
{
    ring->out = ring->first_out + (size_t) ring->slot * ring->out_step;
    ring->in = ring->first_in + (size_t) ring->slot * ring->in_step;
    if (!ring->out_root || ring->root == ring->rank) {
        const double stamp = ring->base + (double) (ring->call % EPBENCH_RING_STAMPS);

        for (int block = 0; block < ring->blocks; ++block) {
            ring->out[(size_t) block * (size_t) ring->count] = stamp + 3.0 * block;
        }
    }
}

/** The call has returned. */
static inline void epbench_ring_next(epbench_ring_t *ring)
{
    ring->slot = (ring->slot + 1 == ring->slots) ? 0 : ring->slot + 1;
    ring->root = (ring->root + 1 == ring->size) ? 0 : ring->root + 1;
    ++ring->call;
}

/** Microseconds of a call, of the slowest worker. */
double epbench_value_call(const epbench_worker_t *worker, const epbench_point_t *point, long n,
                          epbench_elapsed_t elapsed);

#endif /* EPBENCH_RING_H */
