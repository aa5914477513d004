/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of an SPSC ring's ring share: a ring at any position, messages that both threads know.
 */

#ifndef TEST_EPSHM_SPSC_H
#define TEST_EPSHM_SPSC_H

#include "opal/mca/btl/epshm/threads/btl_epshm_spsc.h"

#include "tap.h"

#define MESSAGE_MAX (EPSHM_SPSC_CLAIM_MAX * EPSHM_SPSC_PAYLOAD)
#define CELLS_MIN 64 /* the least that the parameter allows */

static inline uint64_t head_of(const epshm_spsc_ring_t *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_relaxed);
}

/** Move a ring to a position, with the words that the lap before it leaves. */
static inline void move_to(epshm_spsc_ring_t *ring, uint64_t base, uint64_t *random)
{
    for (uint64_t i = 0; 0 != base && i <= ring->mask; ++i) {
        const uint64_t position = base - 1 - i;
        const uint32_t starts = (uint32_t) tap_below(random, 2);

        atomic_store_explicit(&ring->cell[position & ring->mask].word, (uint32_t) position + starts,
                              memory_order_relaxed);
    }
    atomic_store_explicit(&ring->head, base, memory_order_relaxed);
    ring->tail = base;
}

/** A ring that has carried base cells already. */
static inline epshm_spsc_ring_t *ring_at(size_t cells, uint64_t base)
{
    epshm_spsc_ring_t *ring = epshm_spsc_create(cells);
    uint64_t random = tap_stream(100 + base);

    if (NULL == ring) {
        printf("Bail out! no memory\n");
        exit(99);
    }
    move_to(ring, base, &random);
    return ring;
}

/** What producer sends as its message number sequence: both threads know. */
static inline size_t message_make(uint64_t producer, uint64_t sequence, unsigned char *data,
                                  epshm_spsc_mark_t *mark)
{
    uint64_t random = tap_stream(producer << 40 ^ sequence);
    /* Often one cell, as in real life; else any number of them, with the sizes at their ends. */
    const uint64_t count = 0 == tap_below(&random, 2)
                               ? 1
                               : 1 + tap_below(&random, EPSHM_SPSC_CLAIM_MAX);
    const uint64_t dice = tap_below(&random, 4);
    size_t size = (count - 1) * EPSHM_SPSC_PAYLOAD;

    size += 0 == dice   ? EPSHM_SPSC_PAYLOAD
            : 1 == dice ? 1
                        : tap_below(&random, EPSHM_SPSC_PAYLOAD + 1);
    for (size_t i = 0; i < size; ++i) {
        data[i] = (unsigned char) (0 == i % 8 ? tap_random(&random) : random >> i % 50);
    }
    *mark = (epshm_spsc_mark_t){.kind = (uint8_t) (producer + 1),
                                .tag = (uint8_t) sequence,
                                .size = (uint16_t) size};
    return size;
}

/** Write size bytes in random pieces. */
static inline void write_in_pieces(epshm_spsc_writer_t *writer, const unsigned char *data,
                                   size_t size, uint64_t *random)
{
    for (size_t offset = 0; offset < size;) {
        const size_t piece = 1 + tap_below(random, size - offset);

        epshm_spsc_write(writer, offset, data + offset, piece);
        offset += piece;
    }
    epshm_spsc_write(writer, size, NULL, 0); /* as behind a header without a payload */
}

/** What a sender does at the end of a message. */
static inline void publish(epshm_spsc_writer_t *writer, uint64_t count, epshm_spsc_mark_t mark)
{
    epshm_spsc_continue(writer, count);
    epshm_spsc_publish(writer, count, mark);
}

#endif /* TEST_EPSHM_SPSC_H */
