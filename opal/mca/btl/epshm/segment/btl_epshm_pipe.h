/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * A pipe: the queue by which one endpoint sends to one endpoint of another process.
 *
 * It lies in memory that both processes have mapped, in the sender's segment, and holds offsets and
 * numbers only, no pointers.  One producer, one consumer, so there is no atomic read-modify-write
 * in it.  Messages are cells of one cache line, whose sequence numbers say that they are there;
 * what does not fit in a few cells goes through a byte area beside them, in order, and is read in
 * place.  Both ends keep their own positions in memory of their own and only publish them: what
 * the other side has written is compared with them before it is used, so that a process gone wrong
 * breaks its own pipes and nothing else (EPSHM_PIPE_BROKEN).
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_epshm_pipe, unit/test_epshm_pipe_nonsense, unit/test_epshm_pipe_two, model/pipe
 */

#ifndef BTL_EPSHM_PIPE_H
#define BTL_EPSHM_PIPE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The unit in which cores exchange memory. */
#define EPSHM_PIPE_LINE 64

/** Bytes of a message that one cell holds, envelope included. */
#define EPSHM_PIPE_CELL_PAYLOAD 56

/** The most cells of one message; longer ones use the area. */
#define EPSHM_PIPE_CELLS_MAX 8

/** Bounds of the number of cells, a power of two. */
#define EPSHM_PIPE_CELLS_LEAST (2 * EPSHM_PIPE_CELLS_MAX)
#define EPSHM_PIPE_CELLS_MOST (1 << 20)

#define EPSHM_PIPE_MAGIC UINT64_C(0x65706970652d3031)

/** epshm_pipe_t.end while the producer may still send, and when it has given up the consumer. */
#define EPSHM_PIPE_OPEN UINT64_MAX
#define EPSHM_PIPE_GIVEN_UP (UINT64_MAX - 1)

/** epshm_pipe_t.detached, once the consumer never touches the pipe again: it has read all, or has
 * gone; or it has given up the producer.  Any other value but 0 is taken for the latter. */
#define EPSHM_PIPE_LEFT 1
#define EPSHM_PIPE_REFUSED 2

enum {
    EPSHM_PIPE_BROKEN = -1, /**< the other side has written what makes no sense */
    EPSHM_PIPE_NOTHING = 0,
    EPSHM_PIPE_MESSAGE = 1
};

/** What the first cell of a message says. */
enum {
    EPSHM_PIPE_INLINE = 1, /**< size bytes follow in the cells */
    EPSHM_PIPE_BULK = 2,   /**< size bytes are in the area, at the position that follows */
    EPSHM_PIPE_BARE = 3,   /**< EPSHM_PIPE_REST bytes of header follow, then size bytes */
    EPSHM_PIPE_APART = 4   /**< as _BULK, with that much of header behind the position */
};

/** Bytes of a header without what all headers begin with. */
#define EPSHM_PIPE_REST 16

/** The first bytes of every message. */
typedef struct epshm_pipe_envelope_t {
    uint8_t kind; /**< EPSHM_PIPE_INLINE, ... */
    uint8_t tag;
    uint16_t unused;
    uint32_t size; /**< bytes */
} epshm_pipe_envelope_t;

_Static_assert(sizeof(uint64_t) == sizeof(epshm_pipe_envelope_t), "it is read at once");

/** The largest message, in bytes, that travels in the cells; and in one of them. */
#define EPSHM_PIPE_INLINE_MAX \
    (EPSHM_PIPE_CELLS_MAX * EPSHM_PIPE_CELL_PAYLOAD - sizeof(epshm_pipe_envelope_t))
#define EPSHM_PIPE_ONE_CELL_MAX (EPSHM_PIPE_CELL_PAYLOAD - sizeof(epshm_pipe_envelope_t))

/** The most bytes behind such a header in one cell. */
#define EPSHM_PIPE_BARE_MAX (EPSHM_PIPE_ONE_CELL_MAX - EPSHM_PIPE_REST)

typedef struct epshm_pipe_cell_t {
    /** Position + 1 of the message that starts here, written last; stale in cells that continue a
     * message, and never looked at there. */
    _Atomic uint64_t seq;
    unsigned char data[EPSHM_PIPE_CELL_PAYLOAD];
} epshm_pipe_cell_t;

_Static_assert(EPSHM_PIPE_LINE == sizeof(epshm_pipe_cell_t), "a cell is one cache line");

/** The shared part; the cells follow it. */
typedef struct epshm_pipe_t {
    /* Line 0: the producer's, constant once the consumer knows of the pipe. */
    alignas(EPSHM_PIPE_LINE) uint64_t magic;
    uint64_t cells;        /**< their number, a power of two */
    uint64_t addressee;    /**< number of the endpoint that it is for, given out by its process */
    uint64_t sender;       /**< likewise, of the one that it is of */
    uint64_t door;         /**< of that one: offset in the segment */
    _Atomic uint64_t next; /**< link of the list in the consumer's door */

    /* Line 1: the producer's. */
    alignas(EPSHM_PIPE_LINE) _Atomic uint64_t end; /**< behind the last message, or _OPEN */
    _Atomic uint64_t area;      /**< offset in the producer's segment; 0: none yet */
    _Atomic uint64_t area_size; /**< bytes */

    /* Line 2: the consumer's; read by the producer once a lap. */
    alignas(EPSHM_PIPE_LINE) _Atomic uint64_t head; /**< first position not yet consumed */
    _Atomic uint64_t area_head; /**< first byte, counted from the beginning, not yet consumed */
    _Atomic uint64_t detached;  /**< EPSHM_PIPE_LEFT, EPSHM_PIPE_REFUSED */
} epshm_pipe_t;

_Static_assert(EPSHM_PIPE_LINE == offsetof(epshm_pipe_t, end), "constants stand alone");
_Static_assert(2 * EPSHM_PIPE_LINE == offsetof(epshm_pipe_t, head), "the consumer's stand alone");
_Static_assert(3 * EPSHM_PIPE_LINE == sizeof(epshm_pipe_t), "cells follow on a line of their own");

/** The producer's end; memory of its own. */
typedef struct epshm_pipe_out_t {
    epshm_pipe_t *pipe;
    epshm_pipe_cell_t *cells;
    uint64_t mask;
    uint64_t tail;  /**< first free position */
    uint64_t limit; /**< positions below it may be written; lags behind head + cells */
    unsigned char *area; /**< NULL: none yet */
    uint64_t area_size;
    uint64_t area_tail;  /**< as tail and limit, in bytes */
    uint64_t area_place; /**< area_tail modulo area_size: a division takes as long as 50 bytes */
    uint64_t area_limit;
    uint64_t area_seen;  /**< the consumer's area_head when last looked at */
} epshm_pipe_out_t;

/** The consumer's end; memory of its own. */
typedef struct epshm_pipe_in_t {
    epshm_pipe_t *pipe;
    epshm_pipe_cell_t *cells;
    uint64_t mask;
    uint64_t head;
    const unsigned char *segment; /**< the producer's memory, for the area */
    const _Atomic uint64_t *segment_used; /**< bytes of it that may be looked at */
    uint64_t segment_size;        /**< bytes of it that are mapped */
    const unsigned char *area;    /**< NULL: not used yet */
    uint64_t area_size;
    uint64_t area_head;
    uint64_t area_place; /**< area_head modulo area_size */
    uint64_t expected;   /**< bytes in the area of the next message, if it is as the last one */
} epshm_pipe_in_t;

/** The most of them that a consumer who waits looks at. */
#define EPSHM_PIPE_EXPECTED_MAX (16 * EPSHM_PIPE_LINE)

/** A message that has arrived. */
typedef struct epshm_pipe_message_t {
    void *data; /**< in the pipe, or the caller's room */
    const void *rest; /**< EPSHM_PIPE_REST bytes of its header, in the pipe; NULL: data has it all */
    uint32_t size;
    uint8_t tag;
    uint64_t cells;     /**< that it takes */
    uint64_t area_head, area_place; /**< of the pipe when it is through */
} epshm_pipe_message_t;

/** Bytes of a pipe with so many cells. */
static inline size_t epshm_pipe_bytes(uint64_t cells)
{
    return sizeof(epshm_pipe_t) + (size_t) cells * sizeof(epshm_pipe_cell_t);
}

static inline uint64_t epshm_pipe_cells_for(size_t size)
{
    return (sizeof(epshm_pipe_envelope_t) + size + EPSHM_PIPE_CELL_PAYLOAD - 1)
           / EPSHM_PIPE_CELL_PAYLOAD;
}

/** Bytes that a message takes in the area: whole lines, so that it starts on one. */
static inline uint64_t epshm_pipe_area_for(uint64_t size)
{
    return (size + EPSHM_PIPE_LINE - 1) & ~(uint64_t) (EPSHM_PIPE_LINE - 1);
}

/** A value out of memory that the producer may write to at any time.  It is checked, and then it is
 * used: the compiler must not read it again in between, and for all it knows this has changed it. */
static inline uint64_t epshm_pipe_once(uint64_t value)
{
#if !defined(MODEL_CHECKER) /* it takes what an instruction of its own leaves for anything */
    __asm__("" : "+r"(value));
#endif
    return value;
}

/* ---- the producer's side --------------------------------------------------------------------- */

/**
 * Make a pipe in memory of epshm_pipe_bytes(cells) bytes, on a cache line, that nobody else knows.
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
    *out = (epshm_pipe_out_t){.pipe = pipe,
                              .cells = (epshm_pipe_cell_t *) (pipe + 1),
                              .mask = cells - 1,
                              .limit = cells};
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

/** Is the message at which the consumer stands still the one that was sent?  Nobody but the producer
 * writes there, and what the consumer says is where a message begins, or where one will. */
static inline bool epshm_pipe_is_intact(const epshm_pipe_out_t *out)
{
    /* Relaxed, both: only the values matter, and the number is one that this side has written. */
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

/** Copy EPSHM_PIPE_REST bytes of a header: word by word, as they have just been written; a wider load
 * would have to wait until those stores have left the store buffer. */
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
    uint64_t position = out->area_tail;
    const uint64_t to_end = out->area_size - out->area_place;

    /* Pieces do not wrap around; what is left at the end is skipped. */
    if (need > to_end) {
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
         * fits neither behind the last one nor before it would wait for ever.  No limit for others:
         * if this piece is forgotten, nothing is skipped. */
        if (position + need > out->area_limit && head != out->area_tail) {
            return EPSHM_PIPE_NOTHING;
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

    out->area_place = behind == out->area_size ? 0 : behind;
    out->area_tail = position + length;
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

/** Likewise, with the header in the cell: what is in the area begins on a line, and is as few of them
 * as can be.
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

/* ---- the consumer's side --------------------------------------------------------------------- */

/**
 * Look at a pipe that somebody says to be at offset of a segment; nothing is believed.
 *
 * @param[in] segment  the producer's memory
 * @param[in] size     bytes of it that are mapped
 * @param[in] used     bytes of it that may be looked at: the producer's word, no more than size
 * @return false if there is no pipe; then *in is untouched
 */
static inline bool epshm_pipe_open(epshm_pipe_in_t *in, const unsigned char *segment, uint64_t size,
                                   const _Atomic uint64_t *used, uint64_t offset)
{
    /* Relaxed: who told us of the pipe has made room for it before. */
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
    /* Relaxed: who acts on it goes through epshm_pipe_peek. */
    return in->head + 1
           == atomic_load_explicit(&in->cells[in->head & in->mask].seq, memory_order_relaxed);
}

/** Could what stands where the next message begins have been written by a producer?  It is its
 * number, or, until it comes, that of a message that began there laps ago, or none.  Anything else
 * would be waited at for ever; and so would one that is not there when its producer has gone. */
static inline bool epshm_pipe_is_sound(const epshm_pipe_in_t *in)
{
    /* Acquire pairs with the release in epshm_pipe_close: whoever sees that sees all messages. */
    const uint64_t end = atomic_load_explicit(&in->pipe->end, memory_order_acquire);
    /* Relaxed: only the value matters. */
    const uint64_t seq
        = atomic_load_explicit(&in->cells[in->head & in->mask].seq, memory_order_relaxed);

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
    if (position - in->area_head > in->area_size
        || 0 != position % EPSHM_PIPE_LINE || message->size > in->area_size) {
        return EPSHM_PIPE_BROKEN;
    }
    place = in->area_place + (position - in->area_head);
    place -= place < in->area_size ? 0 : in->area_size;
    if (place > in->area_size - message->size) {
        return EPSHM_PIPE_BROKEN;
    }
    message->rest = is_apart ? cell->data + sizeof(epshm_pipe_envelope_t)
                                   + sizeof(position)
                             : NULL;
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
        in->expected = message->size < EPSHM_PIPE_EXPECTED_MAX ? message->size
                                                               : EPSHM_PIPE_EXPECTED_MAX;
        in->area_head = message->area_head;
        in->area_place = message->area_place;
        atomic_store_explicit(&in->pipe->area_head, in->area_head, memory_order_release);
    }
    in->head += message->cells;
    atomic_store_explicit(&in->pipe->head, in->head, memory_order_release);
}

/** There is nothing: fetch the lines in the area of what will come next as well, which could else
 * only be asked for when its cell has come.  See epshm_lane_await. */
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

#endif /* BTL_EPSHM_PIPE_H */
