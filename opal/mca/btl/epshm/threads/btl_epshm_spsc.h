/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A bounded ring of half cache lines: one producer, one consumer.
 *
 * Besides the ring of a receive queue, into which all senders write (btl_epshm_ring.h), a sender of many
 * messages has one of these of its own, an SPSC ring.  It has no compare-and-swap, before which a
 * core waits until its last message has reached the other core's cache, and two short messages fit
 * a cache line.
 *
 * A cell is a word and 24 bytes.  A message is one cell or several in a row; the word of the first
 * is written last and has the position in its lower half, so the consumer knows by it that the
 * message is there.  The words of the other cells are written as well, with a position that is
 * never looked for: what is left in a cell from earlier is therefore never older than one lap, and
 * half a word is enough to tell laps apart.
 *
 * More than a few cells' bytes go beside them: the ring has an area with a line for each cell, made
 * for the first of them, and a message has the lines of its cells there, in one piece.  So it takes
 * the fewest lines there can be, which go out and come in as wide moves, at the same time; and the
 * cells' own order is that of the area as well.
 *
 * The producer's side of it is in its own memory (epshm_spsc_writer_t); producers may take turns if
 * something else orders them.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epshm_spsc, unit/test_epshm_spsc_stress, model/spsc
 */

#ifndef BTL_EPSHM_SPSC_H
#define BTL_EPSHM_SPSC_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Bytes of data in a cell. */
#define EPSHM_SPSC_PAYLOAD 24

/** The most cells of one message. */
#define EPSHM_SPSC_CLAIM_MAX 32

/** Bytes of the area beside a cell. */
#define EPSHM_SPSC_OUT_OF_LINE 64

/** The most lines there that a waiting consumer looks at. */
#define EPSHM_SPSC_EXPECTED_MAX 16

/** The most bytes of one message there. */
#define EPSHM_SPSC_OUT_OF_LINE_MAX (EPSHM_SPSC_CLAIM_MAX * EPSHM_SPSC_OUT_OF_LINE)

/** Cells ahead of the next one whose line is fetched for writing: two lines. */
#define EPSHM_SPSC_AHEAD 4

typedef struct epshm_spsc_cell_t {
    _Atomic uint64_t word; /**< see epshm_spsc_word */
    unsigned char data[EPSHM_SPSC_PAYLOAD];
} epshm_spsc_cell_t;

_Static_assert(32 == sizeof(epshm_spsc_cell_t), "two cells to a cache line");

/** The shared side. */
typedef struct epshm_spsc_ring_t {
    /* Line 0: written by the consumer; read by the producer about once a lap. */
    alignas(64) _Atomic uint64_t head; /**< first position not yet consumed */
    /** Lines beside the message at this position, if it is as the one before it.  Written by the
     * consumer; read by any check for messages. */
    _Atomic uint64_t expected, expected_at;

    /* Line 1: constant after epshm_spsc_create, but for the tail, which waits here while the ring
     * has no producer, for the area, and for what the producer does when it takes zero-copy sends
     * back (btl_epshm_zcopy_cell.h). */
    alignas(64) uint64_t mask; /**< number of cells - 1 */
    uint64_t tail;
    _Atomic uint64_t
        recalled; /**< zero-copy sends at positions below it are not to be begun any more */
    _Atomic uint64_t replaced; /**< those below it have a copy in their place */
    _Atomic(unsigned char *)
        area; /**< EPSHM_SPSC_OUT_OF_LINE bytes for each cell; NULL: none yet */

    /* Line 2: written by the consumer; read by the producer when it takes zero-copy sends back. */
    alignas(64) _Atomic uint64_t
        borrowed; /**< position + 1 of the zero-copy send that is being read, or was */

    alignas(64) epshm_spsc_cell_t cell[];
} epshm_spsc_ring_t;

_Static_assert(192 == offsetof(epshm_spsc_ring_t, cell), "cells fill lines");

/** The producer's side. */
typedef struct epshm_spsc_writer_t {
    epshm_spsc_ring_t *ring;
    uint64_t mask;
    uint64_t tail;       /**< first position not yet written */
    uint64_t limit;      /**< positions below it may be written; lags behind head + cells */
    unsigned char *area; /**< the ring's; NULL: none yet */
} epshm_spsc_writer_t;

/** What a message is, in the upper half of its first cell's word. */
typedef struct epshm_spsc_mark_t {
    uint8_t kind;
    uint8_t tag;
    uint16_t size; /**< bytes */
} epshm_spsc_mark_t;

/**
 * A message that starts at position and has size bytes beside its cells, at least 1 and at most
 * EPSHM_SPSC_OUT_OF_LINE_MAX.
 *
 * @param[out] first_p  position of the cell beside which they begin: they do not wrap around
 * @return number of its cells, those that are skipped included; less than that of the ring
 */
static inline uint64_t epshm_spsc_cells_out_of_line(uint64_t mask, uint64_t position, size_t size,
                                                    uint64_t *first_p)
{
    const uint64_t count = (size + EPSHM_SPSC_OUT_OF_LINE - 1) / EPSHM_SPSC_OUT_OF_LINE;
    const uint64_t to_end = mask + 1 - (position & mask);
    const uint64_t skipped = count <= to_end ? 0 : to_end;

    *first_p = position + skipped;
    return skipped + count;
}

/** Number of cells that a message of size bytes takes. */
static inline uint64_t epshm_spsc_cells_for(size_t size)
{
    return size <= EPSHM_SPSC_PAYLOAD ? 1 : (size + EPSHM_SPSC_PAYLOAD - 1) / EPSHM_SPSC_PAYLOAD;
}

/**
 * @param[in] cells  number of cells, a power of two, at least 2 * EPSHM_SPSC_CLAIM_MAX, at most
 *                   2^31
 * @return an empty ring, or NULL without memory
 */
static inline epshm_spsc_ring_t *epshm_spsc_create(size_t cells)
{
    const size_t size = sizeof(epshm_spsc_ring_t) + cells * sizeof(epshm_spsc_cell_t);
    epshm_spsc_ring_t *ring = (epshm_spsc_ring_t *) aligned_alloc(64, size);

    if (NULL != ring) {
        memset((void *) ring, 0, size);
        ring->mask = cells - 1;
    }
    return ring;
}

/** No other thread may be using the ring any more. */
static inline void epshm_spsc_destroy(epshm_spsc_ring_t *ring)
{
    if (NULL != ring) {
        free(atomic_load_explicit(&ring->area, memory_order_relaxed));
    }
    free(ring);
}

/* ---- producer -------------------------------------------------------------------------------- */

/** Become the producer; the last one's end is ordered before by the caller. */
static inline void epshm_spsc_attach(epshm_spsc_writer_t *writer, epshm_spsc_ring_t *ring)
{
    writer->ring = ring;
    writer->mask = ring->mask;
    writer->tail = ring->tail;
    writer->limit = ring->tail; /* learnt with the first message */
    /* Relaxed: as the tail. */
    writer->area = atomic_load_explicit(&ring->area, memory_order_relaxed);
}

/** Be the producer no longer. */
static inline void epshm_spsc_detach(epshm_spsc_writer_t *writer)
{
    writer->ring->tail = writer->tail;
    writer->ring = NULL;
}

/** Has the consumer taken everything? */
static inline bool epshm_spsc_is_drained(const epshm_spsc_writer_t *writer)
{
    /* Acquire pairs with the release in epshm_spsc_pop: what the consumer did with the messages is
     * ordered before what follows. */
    return writer->tail == atomic_load_explicit(&writer->ring->head, memory_order_acquire);
}

/** Is there room for a message of count cells? */
static inline bool epshm_spsc_has_room(epshm_spsc_writer_t *writer, uint64_t count)
{
    if (__builtin_expect(writer->tail + count <= writer->limit, 1)) {
        return true;
    }
    /* Acquire pairs with the release in epshm_spsc_pop: the consumer's reads of a cell are ordered
     * before our next writes to it. */
    writer->limit = atomic_load_explicit(&writer->ring->head, memory_order_acquire) + writer->mask
                    + 1;
    return writer->tail + count <= writer->limit;
}

/** The next message's cell with this number. */
static inline epshm_spsc_cell_t *epshm_spsc_cell(const epshm_spsc_writer_t *writer, uint64_t number)
{
    return &writer->ring->cell[(writer->tail + number) & writer->mask];
}

/** The word by which the consumer knows the message that starts at position. */
static inline uint64_t epshm_spsc_word(uint64_t position, epshm_spsc_mark_t mark)
{
    return (uint32_t) (position + 1) | (uint64_t) mark.kind << 32 | (uint64_t) mark.tag << 40
           | (uint64_t) mark.size << 48;
}

/**
 * The next message is in its cells: let the consumer see it.  There must be room for it.
 *
 * @param[in] count  its cells
 */
static inline void epshm_spsc_publish(epshm_spsc_writer_t *writer, uint64_t count,
                                      epshm_spsc_mark_t mark)
{
    const uint64_t tail = writer->tail; /* to the compiler the store below might change it */

    /* Release pairs with the acquire in epshm_spsc_peek: the message, and the words of its other
     * cells, before its word. */
    atomic_store_explicit(&epshm_spsc_cell(writer, 0)->word, epshm_spsc_word(tail, mark),
                          memory_order_release);
    writer->tail = tail + count;
}

/**
 * Fetch the line of a cell to come for writing.  For streams: where a line takes 100 ns from core
 * to core, one of 8 byte messages rose from 13 to 22 M/s; where it takes 25 ns nothing changed.
 * Not for a single message, whose line would have to share the way with this one.
 */
static inline void epshm_spsc_prefetch(const epshm_spsc_writer_t *writer)
{
    const epshm_spsc_cell_t *cell
        = &writer->ring->cell[(writer->tail + EPSHM_SPSC_AHEAD) & writer->mask];

#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(cell->word));
#else
    __builtin_prefetch((const void *) &cell->word, 1);
#endif
}

/** Copy size bytes into the next message, starting at offset bytes into it. */
static inline void epshm_spsc_write(epshm_spsc_writer_t *writer, size_t offset, const void *source,
                                    size_t size)
{
    const unsigned char *from = (const unsigned char *) source;
    uint64_t number = offset / EPSHM_SPSC_PAYLOAD;
    const size_t in_cell = offset % EPSHM_SPSC_PAYLOAD;

    if (0 < in_cell && 0 < size) { /* of no bytes, source may be NULL */
        const size_t left = EPSHM_SPSC_PAYLOAD - in_cell;
        const size_t chunk = left < size ? left : size;

        memcpy(epshm_spsc_cell(writer, number++)->data + in_cell, from, chunk);
        from += chunk;
        size -= chunk;
    }
    /* Of constant size: moves instead of a call. */
    for (; EPSHM_SPSC_PAYLOAD <= size; size -= EPSHM_SPSC_PAYLOAD) {
        memcpy(epshm_spsc_cell(writer, number++)->data, from, EPSHM_SPSC_PAYLOAD);
        from += EPSHM_SPSC_PAYLOAD;
    }
    if (0 < size) {
        memcpy(epshm_spsc_cell(writer, number)->data, from, size);
    }
}

/** The next message has count cells: make sure that none but the first is taken for the start of
 * one. */
static inline void epshm_spsc_continue(epshm_spsc_writer_t *writer, uint64_t count)
{
    for (uint64_t i = 1; i < count; ++i) {
        /* The consumer looks for tail + i + 1 there, if ever.  Relaxed: ordered by
         * epshm_spsc_publish, before which it is not read. */
        atomic_store_explicit(&epshm_spsc_cell(writer, i)->word, (uint32_t) (writer->tail + i),
                              memory_order_relaxed);
    }
}

/** Make the area.  @return false without memory */
static inline bool epshm_spsc_make_area(epshm_spsc_writer_t *writer)
{
    writer->area = (unsigned char *) aligned_alloc(64, (writer->mask + 1) * EPSHM_SPSC_OUT_OF_LINE);
    /* Relaxed: ordered by epshm_spsc_publish of the first message in it, as the bytes are. */
    atomic_store_explicit(&writer->ring->area, writer->area, memory_order_relaxed);
    return NULL != writer->area;
}

/** Where the bytes beside the cell at this position are.  Producer. */
static inline unsigned char *epshm_spsc_out_of_line(const epshm_spsc_writer_t *writer,
                                                    uint64_t position)
{
    return writer->area + (position & writer->mask) * EPSHM_SPSC_OUT_OF_LINE;
}

/* ---- consumer -------------------------------------------------------------------------------- */

/**
 * The first message has size bytes beside its cells: where are they?
 *
 * @param[out] count_p  its cells
 */
static inline const unsigned char *epshm_spsc_find_out_of_line(const epshm_spsc_ring_t *ring,
                                                               size_t size, uint64_t *count_p)
{
    /* Relaxed: only the consumer writes the head; the area is behind the message's word, which
     * epshm_spsc_peek has acquired. */
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const unsigned char *area = atomic_load_explicit(&ring->area, memory_order_relaxed);
    uint64_t first;

    *count_p = epshm_spsc_cells_out_of_line(ring->mask, head, size, &first);
    return area + (first & ring->mask) * EPSHM_SPSC_OUT_OF_LINE;
}

/**
 * The first message, if it is there.
 *
 * @param[out] mark  what it is
 * @return its first cell, valid until epshm_spsc_pop, or NULL
 */
static inline const epshm_spsc_cell_t *epshm_spsc_peek(const epshm_spsc_ring_t *ring,
                                                       epshm_spsc_mark_t *mark)
{
    /* Relaxed: only the consumer writes the head. */
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const epshm_spsc_cell_t *cell = &ring->cell[head & ring->mask];
    const uint64_t word = atomic_load_explicit(&cell->word, memory_order_acquire);

    if ((uint32_t) (head + 1) != (uint32_t) word) {
        return NULL;
    }
    *mark = (epshm_spsc_mark_t){.kind = (uint8_t) (word >> 32),
                                .tag = (uint8_t) (word >> 40),
                                .size = (uint16_t) (word >> 48)};
    return cell;
}

/** Would epshm_spsc_peek find a message?  A hint; any thread. */
static inline bool epshm_spsc_pending(const epshm_spsc_ring_t *ring)
{
    /* Relaxed: a caller that acts on the answer goes through epshm_spsc_peek. */
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    return (uint32_t) (head + 1)
           == (uint32_t) atomic_load_explicit(&ring->cell[head & ring->mask].word,
                                              memory_order_relaxed);
}

/** The message before the head had so many lines beside its cells. */
static inline void epshm_spsc_expect(epshm_spsc_ring_t *ring, uint64_t lines)
{
    /* Relaxed: hints. */
    atomic_store_explicit(&ring->expected,
                          lines < EPSHM_SPSC_EXPECTED_MAX ? lines : EPSHM_SPSC_EXPECTED_MAX,
                          memory_order_relaxed);
    atomic_store_explicit(&ring->expected_at,
                          atomic_load_explicit(&ring->head, memory_order_relaxed),
                          memory_order_relaxed);
}

/**
 * The SPSC ring is empty: fetch what will be beside the next message as well, or its lines could only be
 * asked for when its cell has come.  Where a line takes 200 ns from core to core 64 bytes rose from
 * 0.29 us, as 8 bytes, to 0.31 instead of 0.38 so, 512 to 0.36 instead of 0.46; where it takes 50
 * nothing changed.  A hint; any thread.
 */
static inline void epshm_spsc_await(const epshm_spsc_ring_t *ring)
{
    /* Relaxed: nothing is read. */
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const unsigned char *area;
    uint64_t lines;

    if (head != atomic_load_explicit(&ring->expected_at, memory_order_relaxed)) {
        return; /* the last one was another kind of message */
    }
    lines = atomic_load_explicit(&ring->expected, memory_order_relaxed);
    area = atomic_load_explicit(&ring->area, memory_order_relaxed);
    for (uint64_t i = 0; NULL != area && i < lines; ++i) { /* another thread may not see it yet */
        __builtin_prefetch(area + ((head + i) & ring->mask) * EPSHM_SPSC_OUT_OF_LINE);
    }
}

/** Give the cells of the first message back to the producer. */
static inline void epshm_spsc_pop(epshm_spsc_ring_t *ring, uint64_t count)
{
    /* Release pairs with the acquires of head by the producer: our reads before the new head. */
    atomic_store_explicit(&ring->head,
                          atomic_load_explicit(&ring->head, memory_order_relaxed) + count,
                          memory_order_release);
}

/**
 * Copy the first message.
 *
 * @param[out] target  room for whole cells
 * @param[in]  count   its cells
 */
static inline void epshm_spsc_read(const epshm_spsc_ring_t *ring, void *target, uint64_t count)
{
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    unsigned char *to = (unsigned char *) target;

    for (uint64_t i = 0; i < count; ++i) {
        memcpy(to + i * EPSHM_SPSC_PAYLOAD, ring->cell[(head + i) & ring->mask].data,
               EPSHM_SPSC_PAYLOAD);
    }
}

#endif /* BTL_EPSHM_SPSC_H */
