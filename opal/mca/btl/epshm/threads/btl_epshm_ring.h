/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A bounded ring of cache line cells: many producers, one consumer.
 *
 * An endpoint's receive queue.  Producers claim consecutive cells by a compare-and-swap on the tail, fill
 * them and publish the first one; the consumer takes messages in the order of the claims, so the
 * messages of one producer stay in order.  The idea of a sequence number in the cell is Vyukov's
 * (bounded MPMC queue); here only the producers write cells, and free space is learnt from the
 * consumer's head through a cached limit, so that in the steady state a cell's cache line moves
 * exactly once per message and the head's line once per lap.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epshm_ring, unit/test_epshm_ring_stress, model/ring
 */

#ifndef BTL_EPSHM_RING_H
#define BTL_EPSHM_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** The unit in which cores exchange memory. */
#define EPSHM_CACHE_LINE 64

/** Bytes of payload that one cell holds. */
#define EPSHM_CELL_PAYLOAD 56

/** The most cells one message may claim; 8 hold the largest inline message and keep the copy-out
 * buffer of the consumer small. */
#define EPSHM_RING_CLAIM_MAX 8

typedef struct epshm_cell_t {
    /** Position + 1 of the message that starts here, written last by its producer; stale in cells
     * that continue a message, and never looked at there. */
    _Atomic uint64_t seq;
    unsigned char data[EPSHM_CELL_PAYLOAD];
} epshm_cell_t;

_Static_assert(EPSHM_CACHE_LINE == sizeof(epshm_cell_t), "a cell is one cache line");

typedef struct epshm_ring_t {
    /* Line 0: written by producers. */
    alignas(EPSHM_CACHE_LINE) _Atomic uint64_t tail; /**< first unclaimed position */
    _Atomic uint64_t limit; /**< positions below it may be claimed; lags behind head + cells */

    /* Line 1: written by the consumer; read by producers once a lap. */
    alignas(EPSHM_CACHE_LINE) _Atomic uint64_t head; /**< first position not yet consumed */

    /* Line 2: constant after epshm_ring_init. */
    alignas(EPSHM_CACHE_LINE) uint64_t mask; /**< number of cells - 1 */
    epshm_cell_t *cells;
} epshm_ring_t;

_Static_assert(EPSHM_CACHE_LINE == offsetof(epshm_ring_t, head), "producers' line stands alone");
_Static_assert(2 * EPSHM_CACHE_LINE == offsetof(epshm_ring_t, mask),
               "consumer's line stands alone");

/** Number of cells that a message of size bytes takes. */
static inline uint64_t epshm_ring_cells_for(size_t size)
{
    return 0 == size ? 1 : (size + EPSHM_CELL_PAYLOAD - 1) / EPSHM_CELL_PAYLOAD;
}

/**
 * @param[in] cells  number of cells, a power of two, at least 2 * EPSHM_RING_CLAIM_MAX
 * @return 0, or -1 if there is no memory
 */
static inline int epshm_ring_init(epshm_ring_t *ring, size_t cells)
{
    ring->cells = (epshm_cell_t *) aligned_alloc(EPSHM_CACHE_LINE, cells * sizeof(epshm_cell_t));
    if (NULL == ring->cells) {
        return -1;
    }
    memset((void *) ring->cells, 0, cells * sizeof(epshm_cell_t));
    ring->mask = cells - 1;
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->limit, cells);
    atomic_init(&ring->head, 0);
    return 0;
}

/** No other thread may be using the ring any more. */
static inline void epshm_ring_fini(epshm_ring_t *ring)
{
    free(ring->cells);
    ring->cells = NULL;
}

/**
 * The cached limit does not allow the claim: read the consumer's head.
 *
 * The acquire pairs with the release in epshm_ring_pop: it orders the consumer's reads of a cell
 * before our writes to it.  Storing the limit with release hands that order on to the producers
 * that only see the limit (acquire in epshm_ring_claim).  Two producers may store at the same time
 * and leave the smaller value: too careful by one refresh, never wrong.
 *
 * @return the new limit
 */
static inline uint64_t epshm_ring_refresh_limit(epshm_ring_t *ring)
{
    uint64_t limit = atomic_load_explicit(&ring->head, memory_order_acquire) + ring->mask + 1;

    /* Relaxed look: on a full ring nothing is new, and the producers' line is not to
     * be disturbed. */
    if (limit != atomic_load_explicit(&ring->limit, memory_order_relaxed)) {
        atomic_store_explicit(&ring->limit, limit, memory_order_release);
    }
    return limit;
}

/**
 * Claim count consecutive cells.  Any number of producers at once; lock-free.
 *
 * @param[in]  count       1 .. EPSHM_RING_CLAIM_MAX
 * @param[out] position_p  position of the first cell
 * @return false if the ring is too full; nothing is claimed then
 */
static inline bool epshm_ring_claim(epshm_ring_t *ring, uint64_t count, uint64_t *position_p)
{
    /* Relaxed: the tail only hands out positions; the cells' contents are ordered by seq. */
    uint64_t position = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t limit = atomic_load_explicit(&ring->limit, memory_order_acquire);

    do {
        if (position + count > limit) {
            limit = epshm_ring_refresh_limit(ring);
            if (position + count > limit) {
                return false;
            }
        }
    } while (!atomic_compare_exchange_weak_explicit(&ring->tail, &position, position + count,
                                                    memory_order_relaxed, memory_order_relaxed));
    *position_p = position;
    return true;
}

static inline epshm_cell_t *epshm_ring_cell(const epshm_ring_t *ring, uint64_t position)
{
    return &ring->cells[position & ring->mask];
}

/**
 * Make a filled message visible to the consumer.
 *
 * The release orders the producer's writes to all cells of the message before the sequence number;
 * it pairs with the acquire in epshm_ring_peek.
 */
static inline void epshm_ring_publish(epshm_ring_t *ring, uint64_t position)
{
    atomic_store_explicit(&epshm_ring_cell(ring, position)->seq, position + 1,
                          memory_order_release);
}

/**
 * The first message, if it is there.  One consumer at a time.
 *
 * @return its first cell, valid until epshm_ring_pop; NULL if the ring is empty or the producer
 *         whose turn it is has not published yet
 */
static inline epshm_cell_t *epshm_ring_peek(const epshm_ring_t *ring)
{
    /* Relaxed: only the consumer writes the head. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    epshm_cell_t *cell = epshm_ring_cell(ring, head);

    if (head + 1 != atomic_load_explicit(&cell->seq, memory_order_acquire)) {
        return NULL;
    }
    return cell;
}

/** Would epshm_ring_peek find a message?  A hint; any thread, reads two shared cache lines. */
static inline bool epshm_ring_pending(const epshm_ring_t *ring)
{
    /* Relaxed: a caller that acts on the answer goes through epshm_ring_peek. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    return head + 1
           == atomic_load_explicit(&epshm_ring_cell(ring, head)->seq, memory_order_relaxed);
}

/**
 * Give the cells of the first message back to the producers.
 *
 * The release orders the consumer's reads of the cells before the new head; it pairs with the
 * acquire in epshm_ring_refresh_limit.
 */
static inline void epshm_ring_pop(epshm_ring_t *ring, uint64_t count)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    atomic_store_explicit(&ring->head, head + count, memory_order_release);
}

/** Copy size bytes into the message's cells, starting at offset bytes into the message. */
static inline void epshm_ring_write(epshm_ring_t *ring, uint64_t position, size_t offset,
                                    const void *source, size_t size)
{
    const unsigned char *from = (const unsigned char *) source;

    while (0 < size) {
        size_t in_cell = offset % EPSHM_CELL_PAYLOAD;
        size_t chunk = EPSHM_CELL_PAYLOAD - in_cell;

        if (chunk > size) {
            chunk = size;
        }
        memcpy(epshm_ring_cell(ring, position + offset / EPSHM_CELL_PAYLOAD)->data + in_cell, from,
               chunk);
        from += chunk;
        offset += chunk;
        size -= chunk;
    }
}

/** Copy the first size bytes of the first message out of its cells. */
static inline void epshm_ring_read(const epshm_ring_t *ring, void *target, size_t size)
{
    uint64_t position = atomic_load_explicit(&ring->head, memory_order_relaxed);
    unsigned char *to = (unsigned char *) target;

    while (0 < size) {
        size_t chunk = size < EPSHM_CELL_PAYLOAD ? size : EPSHM_CELL_PAYLOAD;

        memcpy(to, epshm_ring_cell(ring, position)->data, chunk);
        to += chunk;
        size -= chunk;
        ++position;
    }
}

#endif /* BTL_EPSHM_RING_H */
