/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A pipe (btl_epshm_pipe.h), the producer's side.
 *
 * Tests: unit/test_epshm_pipe, unit/test_epshm_pipe_nonsense, unit/test_epshm_pipe_two, model/pipe
 */

#ifndef BTL_EPSHM_PIPE_OUT_H
#define BTL_EPSHM_PIPE_OUT_H

#include "btl_epshm_pipe.h"

/**
 * Make a pipe in memory of epshm_pipe_bytes(cells) bytes, on a cache line, not published yet.
 *
 * @param[in] cells      a power of two, EPSHM_PIPE_CELLS_LEAST and more
 * @param[in] addressee  see epshm_pipe_t
 */
static inline void epshm_pipe_create(epshm_pipe_out_t *out, void *memory, uint64_t cells,
                                     uint64_t addressee)
{
    epshm_pipe_t *pipe = (epshm_pipe_t *) memory;

    memset(memory, 0, epshm_pipe_bytes(cells));
    pipe->magic = EPSHM_PIPE_MAGIC;
    pipe->cells = cells;
    pipe->addressee = addressee;
    atomic_init(&pipe->end, EPSHM_PIPE_OPEN);
    *out = (epshm_pipe_out_t){
        .pipe = pipe, .cells = (epshm_pipe_cell_t *) (pipe + 1), .mask = cells - 1, .limit = cells};
}

/** Give the pipe an area of size bytes, a multiple of EPSHM_PIPE_LINE, at offset in the segment. */
static inline void epshm_pipe_add_area(epshm_pipe_out_t *out, void *memory, uint64_t offset,
                                       uint64_t size)
{
    out->area = (unsigned char *) memory;
    out->area_size = size;
    out->area_limit = size;
    /* Relaxed: the consumer reads both for the first message that is in the area, and acquires its
     * sequence number before. */
    atomic_store_explicit(&out->pipe->area_size, size, memory_order_relaxed);
    atomic_store_explicit(&out->pipe->area, offset, memory_order_relaxed);
}

/** Has the consumer given up the pipe? */
static inline bool epshm_pipe_is_detached(const epshm_pipe_t *pipe)
{
    /* Acquire pairs with the release in epshm_pipe_detach: the consumer's last accesses are ordered
     * before the producer's next use of the memory. */
    return 0 != atomic_load_explicit(&pipe->detached, memory_order_acquire);
}

/** Has it given up the producer?  A hint that stays true. */
static inline bool epshm_pipe_is_refused(const epshm_pipe_t *pipe)
{
    /* Relaxed: nothing of the consumer's is looked at because of it. */
    return EPSHM_PIPE_LEFT < atomic_load_explicit(&pipe->detached, memory_order_relaxed);
}

/** The cached limit does not do: read the consumer's head.
 * @return EPSHM_PIPE_MESSAGE (there is room now), EPSHM_PIPE_NOTHING, EPSHM_PIPE_BROKEN */
static inline int epshm_pipe_refresh(epshm_pipe_out_t *out, uint64_t count)
{
    /* Acquire pairs with the release in epshm_pipe_done: the consumer's reads of a cell are ordered
     * before our next writes to it. */
    const uint64_t head = atomic_load_explicit(&out->pipe->head, memory_order_acquire);
    const uint64_t limit = head + out->mask + 1;

    /* It only grows, and not beyond what was sent. */
    if (head > out->tail || limit < out->limit) {
        return EPSHM_PIPE_BROKEN;
    }
    out->limit = limit;
    return out->tail + count <= limit ? EPSHM_PIPE_MESSAGE : EPSHM_PIPE_NOTHING;
}

/** May count cells be written?  Returns as epshm_pipe_refresh. */
static inline int epshm_pipe_room(epshm_pipe_out_t *out, uint64_t count)
{
    return out->tail + count <= out->limit ? EPSHM_PIPE_MESSAGE : epshm_pipe_refresh(out, count);
}

/** Is the message at which the consumer stands still the one that was sent?  Nobody but the
 * producer writes there, and what the consumer says is where a message begins, or where one
 * will. */
static inline bool epshm_pipe_is_intact(const epshm_pipe_out_t *out)
{
    /* Relaxed, both: only the values matter, and the number is one that this process has
     * written. */
    const uint64_t head = atomic_load_explicit(&out->pipe->head, memory_order_relaxed);

    return head == out->tail
           || (head < out->tail && out->tail - head <= out->mask + 1
               && head + 1
                      == atomic_load_explicit(&out->cells[head & out->mask].seq,
                                              memory_order_relaxed));
}

static inline epshm_pipe_cell_t *epshm_pipe_out_cell(const epshm_pipe_out_t *out, uint64_t index)
{
    return &out->cells[(out->tail + index) & out->mask];
}

/** The next message, of count cells, is complete.
 *
 * The release orders the writes to its cells and to the area before the sequence number; it pairs
 * with the acquire in epshm_pipe_peek. */
static inline void epshm_pipe_publish(epshm_pipe_out_t *out, uint64_t count)
{
    const uint64_t position = out->tail;

    out->tail = position + count;
    atomic_store_explicit(&out->cells[position & out->mask].seq, position + 1,
                          memory_order_release);
}

/** Copy size bytes into the message's cells, offset bytes into the message. */
static inline void epshm_pipe_write(epshm_pipe_out_t *out, size_t offset, const void *source,
                                    size_t size)
{
    const unsigned char *from = (const unsigned char *) source;

    while (0 < size) {
        const size_t in_cell = offset % EPSHM_PIPE_CELL_PAYLOAD;
        size_t chunk = EPSHM_PIPE_CELL_PAYLOAD - in_cell;

        chunk = chunk < size ? chunk : size;
        memcpy(epshm_pipe_out_cell(out, offset / EPSHM_PIPE_CELL_PAYLOAD)->data + in_cell, from,
               chunk);
        from += chunk;
        offset += chunk;
        size -= chunk;
    }
}

/** Copy EPSHM_PIPE_REST bytes of a header: word by word, as they have just been written; a wider
 * load would have to wait until those stores have left the store buffer. */
static inline void epshm_pipe_write_rest(unsigned char *target, const unsigned char *rest)
{
    uint64_t first, second;

    memcpy(&first, rest, sizeof(first));
    first = epshm_pipe_once(first); /* or the compiler makes one load of two */
    memcpy(&second, rest + sizeof(first), sizeof(second));
    memcpy(target, &first, sizeof(first));
    memcpy(target + sizeof(first), &second, sizeof(second));
}

/**
 * Reserve one piece of the area.  It is sent by epshm_pipe_send_bulk, before the next is reserved,
 * or forgotten.
 *
 * @param[in]  size        bytes, at most area_size
 * @param[out] position_p  where it begins, counted from the beginning of all
 * @return EPSHM_PIPE_MESSAGE, EPSHM_PIPE_NOTHING (no room), EPSHM_PIPE_BROKEN
 */
static inline int epshm_pipe_reserve(epshm_pipe_out_t *out, uint64_t size, uint64_t *position_p)
{
    const uint64_t need = epshm_pipe_area_for(size);
    const uint64_t to_end = out->area_size - out->area_place;
    const bool stays = out->area_short && EPSHM_PIPE_SHORT >= need && to_end >= need
                       && EPSHM_PIPE_SHORT_LAP >= out->area_place
                       && EPSHM_PIPE_SHORT_LAP < out->area_place + need;
    uint64_t position = out->area_tail;

    /* Pieces do not wrap around; what is left at the end, or behind the part for short ones, is
     * skipped. */
    if (need > to_end || stays) {
        position += to_end;
    }
    if (position + need > out->area_limit) {
        /* Acquire pairs with the release in epshm_pipe_done, as for the cells. */
        const uint64_t head = atomic_load_explicit(&out->pipe->area_head, memory_order_acquire);

        if (head > out->area_tail || head < out->area_seen) {
            return EPSHM_PIPE_BROKEN;
        }
        out->area_seen = head;
        if (head + out->area_size > out->area_limit) {
            out->area_limit = head + out->area_size;
        }
        /* All of an empty area is free, what is skipped at its end included; or else a piece that
         * fits neither behind the last one nor before it would wait without end.  No limit for
         * others: if this piece is forgotten, nothing is skipped. */
        if (position + need > out->area_limit && head != out->area_tail) {
            position = out->area_tail;
            if (!stays || EPSHM_PIPE_SHORT_WAITS > ++out->area_waits
                || position + need > out->area_limit) {
                return EPSHM_PIPE_NOTHING;
            }
        }
    }
    *position_p = position;
    return EPSHM_PIPE_MESSAGE;
}

static inline unsigned char *epshm_pipe_area_at(const epshm_pipe_out_t *out, uint64_t position)
{
    /* What is skipped is what was left behind the last one. */
    return out->area + (position == out->area_tail ? out->area_place : 0);
}

/** A reserved piece is used up. */
static inline void epshm_pipe_area_used(epshm_pipe_out_t *out, uint64_t position, uint64_t size)
{
    const uint64_t length = epshm_pipe_area_for(size);
    const uint64_t behind = (position == out->area_tail ? out->area_place : 0) + length;

    if (position != out->area_tail && out->area_seen == out->area_tail) {
        out->area_limit = position + out->area_size; /* it was empty: what is skipped is free */
    }
    out->area_place = behind == out->area_size ? 0 : behind;
    out->area_tail = position + length;
    out->area_short = EPSHM_PIPE_SHORT >= length;
    out->area_waits = 0;
}

/** Send a reserved piece that has been filled.  epshm_pipe_room(out, 1) has been asked. */
static inline void epshm_pipe_send_bulk(epshm_pipe_out_t *out, uint64_t position, uint32_t size,
                                        uint8_t tag)
{
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_BULK, .tag = tag, .size = size};
    unsigned char *data = epshm_pipe_out_cell(out, 0)->data;

    memcpy(data, &envelope, sizeof(envelope));
    memcpy(data + sizeof(envelope), &position, sizeof(position));
    epshm_pipe_area_used(out, position, size);
    epshm_pipe_publish(out, 1);
}

/** Likewise, with the header in the cell: what is in the area begins on a line, and is as few of
 * them as can be.
 *
 * @param[in] rest  EPSHM_PIPE_REST bytes, of words that have just been written */
static inline void epshm_pipe_send_apart(epshm_pipe_out_t *out, uint64_t position,
                                         const unsigned char *rest, uint32_t size, uint8_t tag)
{
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_APART, .tag = tag, .size = size};
    unsigned char *data = epshm_pipe_out_cell(out, 0)->data;

    memcpy(data, &envelope, sizeof(envelope));
    memcpy(data + sizeof(envelope), &position, sizeof(position));
    epshm_pipe_write_rest(data + sizeof(envelope) + sizeof(position), rest);
    epshm_pipe_area_used(out, position, size);
    epshm_pipe_publish(out, 1);
}

/** The producer goes; what it sent may still be read. */
static inline void epshm_pipe_close(epshm_pipe_out_t *out)
{
    /* Release pairs with the acquire in epshm_pipe_is_over: all messages before their end. */
    atomic_store_explicit(&out->pipe->end, out->tail, memory_order_release);
}

/** The producer gives the consumer up, which is to know. */
static inline void epshm_pipe_give_up(epshm_pipe_out_t *out)
{
    /* Release pairs with the acquire in epshm_pipe_is_given_up: what was sent can be read. */
    atomic_store_explicit(&out->pipe->end, EPSHM_PIPE_GIVEN_UP, memory_order_release);
}

#endif /* BTL_EPSHM_PIPE_OUT_H */
