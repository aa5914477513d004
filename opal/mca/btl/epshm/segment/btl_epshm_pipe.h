/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
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
 * the other process has written is compared with them before it is used, so that a process gone
 * wrong breaks its own pipes and nothing else (EPSHM_PIPE_BROKEN).
 *
 * What it is made of; btl_epshm_pipe_out.h has what the producer does, btl_epshm_pipe_in.h what the
 * consumer does.  Standalone: C11 atomics, no Open MPI.
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
    EPSHM_PIPE_BROKEN = -1, /**< the other process has written what makes no sense */
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
    uint64_t doorbell;     /**< of that one: offset in the segment */
    _Atomic uint64_t next; /**< link of the list in the consumer's doorbell */

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

/** Short pieces of the area that follow each other stay in its first part (bytes, both), for which a
 * core's first cache has room: messages of 2 to 8 KiB go at 1.4 times the rate.  The rest is for
 * longer ones, of which several shall be under way. */
#define EPSHM_PIPE_SHORT 12288
#define EPSHM_PIPE_SHORT_LAP 16384

/** Tries to find room there after which a short piece goes behind it: the consumer is away, and the
 * producer shall not wait for it while there is room (which what was skipped is not, unless the area
 * was empty). */
#define EPSHM_PIPE_SHORT_WAITS 64

/** The producer's end; memory of its own. */
typedef struct epshm_pipe_out_t {
    epshm_pipe_t *pipe;
    epshm_pipe_cell_t *cells;
    uint64_t mask;
    uint64_t tail;       /**< first free position */
    uint64_t limit;      /**< positions below it may be written; lags behind head + cells */
    unsigned char *area; /**< NULL: none yet */
    uint64_t area_size;
    uint64_t area_tail;  /**< as tail and limit, in bytes */
    uint64_t area_place; /**< area_tail modulo area_size: a division takes as long as 50 bytes */
    uint64_t area_limit;
    uint64_t area_seen; /**< the consumer's area_head when last looked at */
    bool area_short;    /**< the last piece was a short one */
    uint32_t area_waits; /**< of the next short one, for room in the first part */
} epshm_pipe_out_t;

/** The consumer's end; memory of its own. */
typedef struct epshm_pipe_in_t {
    epshm_pipe_t *pipe;
    epshm_pipe_cell_t *cells;
    uint64_t mask;
    uint64_t head;
    const unsigned char *segment;         /**< the producer's memory, for the area */
    const _Atomic uint64_t *segment_used; /**< bytes of it that may be looked at */
    uint64_t segment_size;                /**< bytes of it that are mapped */
    const unsigned char *area;            /**< NULL: not used yet */
    uint64_t area_size;
    uint64_t area_head;
    uint64_t area_place; /**< area_head modulo area_size */
    uint64_t expected;   /**< bytes in the area of the next message, if it is as the last one */
} epshm_pipe_in_t;

/** A waiting consumer looks at fewer of them.  With more the producer is still writing, and has to
 * fetch lines again that it has fetched: without, 4000 bytes one way take 0.93 of the time. */
#define EPSHM_PIPE_EXPECTED_MAX (16 * EPSHM_PIPE_LINE)

/** A message that has arrived. */
typedef struct epshm_pipe_message_t {
    void *data; /**< in the pipe, or the caller's room */
    const void
        *rest; /**< EPSHM_PIPE_REST bytes of its header, in the pipe; NULL: data has it all */
    uint32_t size;
    uint8_t tag;
    uint64_t cells;                 /**< that it takes */
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
 * used: the compiler must not read it again in between, and for all it knows this has changed
 * it. */
static inline uint64_t epshm_pipe_once(uint64_t value)
{
#if !defined(MODEL_CHECKER) /* it takes what an instruction of its own leaves for anything */
    __asm__("" : "+r"(value));
#endif
    return value;
}

#endif /* BTL_EPSHM_PIPE_H */
