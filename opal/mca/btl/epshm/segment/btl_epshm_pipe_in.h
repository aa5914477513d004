/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A pipe (btl_epshm_pipe.h), the consumer's side.
 *
 * Tests: unit/test_epshm_pipe, unit/test_epshm_pipe_nonsense, unit/test_epshm_pipe_two, model/pipe
 */

#ifndef BTL_EPSHM_PIPE_IN_H
#define BTL_EPSHM_PIPE_IN_H

#include "btl_epshm_pipe.h"

/**
 * Validate a pipe that a producer says to be at offset of a segment; nothing is trusted.
 *
 * @param[in] segment  the producer's memory
 * @param[in] size     bytes of it that are mapped
 * @param[in] used     bytes of it that may be looked at: the producer's word, no more than size
 * @return false if there is no pipe; then *in is untouched
 */
static inline bool epshm_pipe_open(epshm_pipe_in_t *in, const unsigned char *segment, uint64_t size,
                                   const _Atomic uint64_t *used, uint64_t offset)
{
    /* Relaxed: the process that announced the pipe has made room for it before. */
    const uint64_t most = atomic_load_explicit(used, memory_order_relaxed);
    epshm_pipe_t *pipe = (epshm_pipe_t *) (segment + offset);
    uint64_t cells;

    if (most > size || 0 != offset % EPSHM_PIPE_LINE || offset > most
        || most - offset < sizeof(*pipe) || EPSHM_PIPE_MAGIC != pipe->magic) {
        return false;
    }
    cells = epshm_pipe_once(pipe->cells);
    if (EPSHM_PIPE_CELLS_LEAST > cells || EPSHM_PIPE_CELLS_MOST < cells
        || 0 != (cells & (cells - 1)) || most - offset < epshm_pipe_bytes(cells)) {
        return false;
    }
    *in = (epshm_pipe_in_t){.pipe = pipe,
                            .cells = (epshm_pipe_cell_t *) (pipe + 1),
                            .mask = cells - 1,
                            .segment = segment,
                            .segment_used = used,
                            .segment_size = size};
    return true;
}

/** Is there a message?  A hint. */
static inline bool epshm_pipe_pending(const epshm_pipe_in_t *in)
{
    /* Relaxed: a caller that acts on it goes through epshm_pipe_peek. */
    return in->head + 1
           == atomic_load_explicit(&in->cells[in->head & in->mask].seq, memory_order_relaxed);
}

/** Could what stands where the next message begins have been written by a producer?  It is its
 * number, or, until it comes, that of a message that began there laps ago, or none.  Anything else
 * would be waited at without end; and so would one that is not there when its producer has gone. */
static inline bool epshm_pipe_is_sound(const epshm_pipe_in_t *in)
{
    /* Acquire pairs with the release in epshm_pipe_close: a thread that sees it sees all
     * messages. */
    const uint64_t end = atomic_load_explicit(&in->pipe->end, memory_order_acquire);
    /* Relaxed: only the value matters. */
    const uint64_t seq = atomic_load_explicit(&in->cells[in->head & in->mask].seq,
                                              memory_order_relaxed);

    if (EPSHM_PIPE_GIVEN_UP > end && in->head != end) {
        return in->head < end && in->head + 1 == seq;
    }
    return 0 == seq || (seq <= in->head + 1 && 0 == ((in->head + 1 - seq) & in->mask));
}

/** Copy a message of several cells to room. */
static inline void epshm_pipe_read(const epshm_pipe_in_t *in, unsigned char *room, size_t size)
{
    for (uint64_t position = in->head; 0 < size; ++position) {
        const size_t chunk = size < EPSHM_PIPE_CELL_PAYLOAD ? size : EPSHM_PIPE_CELL_PAYLOAD;

        memcpy(room, in->cells[position & in->mask].data, chunk);
        room += chunk;
        size -= chunk;
    }
}

/** First message in the area: where is it? */
static inline bool epshm_pipe_find_area(epshm_pipe_in_t *in)
{
    /* Relaxed: stored before the message whose sequence number was acquired. */
    const uint64_t offset = atomic_load_explicit(&in->pipe->area, memory_order_relaxed);
    const uint64_t size = atomic_load_explicit(&in->pipe->area_size, memory_order_relaxed);
    const uint64_t used = atomic_load_explicit(in->segment_used, memory_order_relaxed);

    if (used > in->segment_size || 0 == offset || 0 != offset % EPSHM_PIPE_LINE || 0 == size
        || 0 != size % EPSHM_PIPE_LINE || offset > used || used - offset < size) {
        return false;
    }
    in->area = in->segment + offset;
    in->area_size = size;
    return true;
}

/** All messages but those of one cell.  Parameters as epshm_pipe_peek. */
static inline int epshm_pipe_peek_long(epshm_pipe_in_t *in, const epshm_pipe_cell_t *cell,
                                       bool is_apart, unsigned char *room,
                                       epshm_pipe_message_t *message)
{
    uint64_t position, place;

    if (0 != message->cells) { /* inline, several cells */
        if (EPSHM_PIPE_CELLS_MAX < message->cells) {
            return EPSHM_PIPE_BROKEN;
        }
        epshm_pipe_read(in, room, sizeof(epshm_pipe_envelope_t) + message->size);
        message->data = room + sizeof(epshm_pipe_envelope_t);
        return EPSHM_PIPE_MESSAGE;
    }
    memcpy(&position, cell->data + sizeof(epshm_pipe_envelope_t), sizeof(position));
    position = epshm_pipe_once(position);
    if (NULL == in->area && !epshm_pipe_find_area(in)) {
        return EPSHM_PIPE_BROKEN;
    }
    /* Whole, not further ahead than what may have been skipped at the area's end, and in order: one
     * that goes back is far ahead, too. */
    if (position - in->area_head > in->area_size || 0 != position % EPSHM_PIPE_LINE
        || message->size > in->area_size) {
        return EPSHM_PIPE_BROKEN;
    }
    place = in->area_place + (position - in->area_head);
    place -= place < in->area_size ? 0 : in->area_size;
    if (place > in->area_size - message->size) {
        return EPSHM_PIPE_BROKEN;
    }
    message->rest = is_apart ? cell->data + sizeof(epshm_pipe_envelope_t) + sizeof(position) : NULL;
    message->cells = 1;
    message->data = (void *) (in->area + place);
    message->area_head = position + epshm_pipe_area_for(message->size);
    place += epshm_pipe_area_for(message->size);
    message->area_place = place < in->area_size ? place : 0;
    return EPSHM_PIPE_MESSAGE;
}

/**
 * The next message, valid until epshm_pipe_done.
 *
 * @param[in]  room       EPSHM_PIPE_CELLS_MAX * EPSHM_PIPE_CELL_PAYLOAD bytes, for those that are
 *                        not one piece
 * @param[out] message
 * @return EPSHM_PIPE_MESSAGE, EPSHM_PIPE_NOTHING, EPSHM_PIPE_BROKEN
 */
static inline int epshm_pipe_peek(epshm_pipe_in_t *in, unsigned char *room,
                                  epshm_pipe_message_t *message)
{
    epshm_pipe_cell_t *cell = &in->cells[in->head & in->mask];
    epshm_pipe_envelope_t envelope;
    uint64_t bytes;

    /* Acquire pairs with the release in epshm_pipe_publish. */
    if (in->head + 1 != atomic_load_explicit(&cell->seq, memory_order_acquire)) {
        return EPSHM_PIPE_NOTHING;
    }
    memcpy(&bytes, cell->data, sizeof(bytes));
    bytes = epshm_pipe_once(bytes);
    memcpy(&envelope, &bytes, sizeof(envelope));
    message->size = envelope.size;
    message->tag = envelope.tag;
    message->area_head = in->area_head;
    message->area_place = in->area_place;
    if (EPSHM_PIPE_BARE == envelope.kind) {
        message->cells = 1;
        message->rest = cell->data + sizeof(envelope);
        message->data = cell->data + sizeof(envelope) + EPSHM_PIPE_REST;
        return EPSHM_PIPE_BARE_MAX >= envelope.size ? EPSHM_PIPE_MESSAGE : EPSHM_PIPE_BROKEN;
    }
    message->rest = NULL;
    if (EPSHM_PIPE_INLINE == envelope.kind && EPSHM_PIPE_ONE_CELL_MAX >= envelope.size) {
        message->cells = 1;
        message->data = cell->data + sizeof(envelope);
        return EPSHM_PIPE_MESSAGE;
    }
    if (EPSHM_PIPE_INLINE != envelope.kind && EPSHM_PIPE_BULK != envelope.kind
        && EPSHM_PIPE_APART != envelope.kind) {
        return EPSHM_PIPE_BROKEN;
    }
    message->cells = EPSHM_PIPE_INLINE == envelope.kind ? epshm_pipe_cells_for(envelope.size) : 0;
    return epshm_pipe_peek_long(in, cell, EPSHM_PIPE_APART == envelope.kind, room, message);
}

/** The message has been read: its room goes back.
 *
 * The releases order our reads before the producer's next writes; they pair with the acquires in
 * epshm_pipe_refresh and epshm_pipe_reserve. */
static inline void epshm_pipe_done(epshm_pipe_in_t *in, const epshm_pipe_message_t *message)
{
    in->expected = 0;
    if (message->area_head != in->area_head) {
        in->expected = message->size < EPSHM_PIPE_EXPECTED_MAX ? message->size : 0;
        in->area_head = message->area_head;
        in->area_place = message->area_place;
        atomic_store_explicit(&in->pipe->area_head, in->area_head, memory_order_release);
    }
    in->head += message->cells;
    atomic_store_explicit(&in->pipe->head, in->head, memory_order_release);
}

/** There is nothing: fetch the lines in the area of what will come next as well, which could else
 * only be asked for when its cell has come.  See epshm_spsc_await. */
static inline void epshm_pipe_await(const epshm_pipe_in_t *in)
{
    const uint64_t most = in->area_size - in->area_place;
    const uint64_t bytes = in->expected < most ? in->expected : most;

    for (uint64_t i = 0; i < bytes; i += EPSHM_PIPE_LINE) {
        __builtin_prefetch(in->area + in->area_place + i);
    }
}

/** Has the producer gone, and has all been read that it sent? */
static inline bool epshm_pipe_is_over(const epshm_pipe_in_t *in)
{
    /* Acquire pairs with the release in epshm_pipe_close. */
    return in->head == atomic_load_explicit(&in->pipe->end, memory_order_acquire);
}

/** Has the producer given us up? */
static inline bool epshm_pipe_is_given_up(const epshm_pipe_in_t *in)
{
    /* Acquire pairs with the release in epshm_pipe_give_up. */
    return EPSHM_PIPE_GIVEN_UP == atomic_load_explicit(&in->pipe->end, memory_order_acquire);
}

/** The consumer goes; the producer may use the memory again.
 *
 * The release orders all our accesses before that; it pairs with the acquire in
 * epshm_pipe_is_detached. */
static inline void epshm_pipe_detach(epshm_pipe_t *pipe)
{
    atomic_store_explicit(&pipe->detached, EPSHM_PIPE_LEFT, memory_order_release);
}

/** The consumer gives the producer up, which is to know, and may use the memory again: the release
 * as in epshm_pipe_detach. */
static inline void epshm_pipe_refuse(epshm_pipe_t *pipe)
{
    atomic_store_explicit(&pipe->detached, EPSHM_PIPE_REFUSED, memory_order_release);
}

#endif /* BTL_EPSHM_PIPE_IN_H */
