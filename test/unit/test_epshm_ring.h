/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of the receive queue ring share: a ring at any position.
 */

#ifndef EP_TEST_UNIT_TEST_EPSHM_RING_H
#define EP_TEST_UNIT_TEST_EPSHM_RING_H

#include "opal/mca/btl/epshm/threads/btl_epshm_ring.h"

#include "tap.h"

#define MESSAGE_MAX (EPSHM_RING_CLAIM_MAX * EPSHM_CELL_PAYLOAD)

/** Positions to start from: in the first laps; where the tail, or first the limit of a ring of 16,
 * passes the end of 32 bits and of signed 64 bits. */
static const uint64_t bases[] = {0,
                                 1,
                                 7,
                                 1000,
                                 UINT64_C(0xfffffff8),
                                 UINT64_C(0xffffffe8),
                                 UINT64_C(0x7ffffffffffffff8),
                                 UINT64_C(0x7fffffffffffffe8)};

#define NUM_BASES (sizeof(bases) / sizeof(bases[0]))

static inline uint64_t head_of(const epshm_ring_t *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_relaxed);
}

static inline uint64_t tail_of(const epshm_ring_t *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

static inline uint64_t limit_of(const epshm_ring_t *ring)
{
    return atomic_load_explicit(&ring->limit, memory_order_relaxed);
}

/** A ring that has carried base cells already. */
static inline void ring_at(epshm_ring_t *ring, size_t cells, uint64_t base)
{
    if (0 != epshm_ring_init(ring, cells)) {
        printf("Bail out! no memory\n");
        exit(99);
    }
    atomic_init(&ring->head, base);
    atomic_init(&ring->tail, base);
    atomic_init(&ring->limit, base + cells);
}

/** Write size bytes in random pieces. */
static inline void write_in_pieces(epshm_ring_t *ring, uint64_t position, const unsigned char *data,
                                   size_t size, uint64_t *random)
{
    for (size_t offset = 0; offset < size;) {
        size_t piece = 1 + tap_below(random, size - offset);

        epshm_ring_write(ring, position, offset, data + offset, piece);
        offset += piece;
    }
}

#endif /* EP_TEST_UNIT_TEST_EPSHM_RING_H */
