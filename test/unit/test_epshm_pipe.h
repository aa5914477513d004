/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of the pipe between processes share: memory as a segment is, a pipe in it,
 * messages that both processes know.
 */

#ifndef EP_TEST_UNIT_TEST_EPSHM_PIPE_H
#define EP_TEST_UNIT_TEST_EPSHM_PIPE_H

#include "opal/mca/btl/epshm/segment/btl_epshm_pipe_in.h"
#include "opal/mca/btl/epshm/segment/btl_epshm_pipe_out.h"

#include "tap.h"

#include <sys/mman.h>

enum { ROOM = EPSHM_PIPE_CELLS_MAX * EPSHM_PIPE_CELL_PAYLOAD, AREA = 1 << 16 };

/** Memory as a producer's segment is: a word that says how much of it may be looked at, the pipe at
 * PIPE_AT, an area at AREA_AT. */
typedef struct segment_t {
    unsigned char *memory;
    uint64_t size;
} segment_t;

enum { PIPE_AT = 64, AREA_AT = 1 << 17, SEGMENT = AREA_AT + AREA + 4096 };

static _Atomic uint64_t *used_of(const segment_t *segment)
{
    return (_Atomic uint64_t *) (void *) segment->memory;
}

static inline segment_t segment_new(void)
{
    segment_t segment = {.size = SEGMENT};

    segment.memory = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == (void *) segment.memory) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    atomic_init(used_of(&segment), SEGMENT);
    return segment;
}

static inline void segment_free(segment_t *segment)
{
    (void) munmap(segment->memory, segment->size);
}

/** A pipe with both ends. */
static inline void make(segment_t *segment, uint64_t cells, uint64_t area, epshm_pipe_out_t *out,
                        epshm_pipe_in_t *in)
{
    epshm_pipe_create(out, segment->memory + PIPE_AT, cells, 7);
    if (0 < area) {
        epshm_pipe_add_area(out, segment->memory + AREA_AT, AREA_AT, area);
    }
    TAP_CHECK(epshm_pipe_open(in, segment->memory, segment->size, used_of(segment), PIPE_AT),
              "the pipe was not found");
}

static inline unsigned char pattern(uint64_t number, size_t i)
{
    return (unsigned char) (number * 37 + i * 11 + (i >> 8));
}

static inline void fill(unsigned char *data, size_t size, uint64_t number)
{
    for (size_t i = 0; i < size; ++i) {
        data[i] = pattern(number, i);
    }
}

/** Every other message that can be is sent with its first bytes as a header's rest. */
static bool splits;

/** Send one message with the first EPSHM_PIPE_REST bytes of data in front, as
 * btl_epshm_node_send.c does with usual headers.  @return as epshm_pipe_room */
static inline int send_split(epshm_pipe_out_t *out, const unsigned char *data, size_t size)
{
    const size_t behind = size - EPSHM_PIPE_REST;
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_BARE,
                                            .tag = 3,
                                            .size = (uint32_t) behind};
    uint64_t position;
    int rc = epshm_pipe_room(out, 1);

    if (EPSHM_PIPE_MESSAGE == rc && EPSHM_PIPE_BARE_MAX >= behind) {
        unsigned char *cell = epshm_pipe_out_cell(out, 0)->data;

        memcpy(cell, &envelope, sizeof(envelope));
        epshm_pipe_write_rest(cell + sizeof(envelope), data);
        memcpy(cell + sizeof(envelope) + EPSHM_PIPE_REST, data + EPSHM_PIPE_REST, behind);
        epshm_pipe_publish(out, 1);
        return rc;
    }
    if (EPSHM_PIPE_MESSAGE == rc) {
        rc = epshm_pipe_reserve(out, behind, &position);
    }
    if (EPSHM_PIPE_MESSAGE == rc) {
        memcpy(epshm_pipe_area_at(out, position), data + EPSHM_PIPE_REST, behind);
        epshm_pipe_send_apart(out, position, data, (uint32_t) behind, 3);
    }
    return rc;
}

/** Send one message, as btl_epshm_node_send.c does.  @return as epshm_pipe_room */
static inline int send(epshm_pipe_out_t *out, const unsigned char *data, size_t size)
{
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_INLINE,
                                            .tag = 3,
                                            .size = (uint32_t) size};
    uint64_t position;
    int rc;

    if (splits && EPSHM_PIPE_REST <= size && 0 != out->tail % 2) {
        return send_split(out, data, size);
    }
    if (size <= EPSHM_PIPE_INLINE_MAX) {
        rc = epshm_pipe_room(out, epshm_pipe_cells_for(size));
        if (EPSHM_PIPE_MESSAGE == rc) {
            epshm_pipe_write(out, 0, &envelope, sizeof(envelope));
            epshm_pipe_write(out, sizeof(envelope), data, size);
            epshm_pipe_publish(out, epshm_pipe_cells_for(size));
        }
        return rc;
    }
    rc = epshm_pipe_room(out, 1);
    if (EPSHM_PIPE_MESSAGE == rc) {
        rc = epshm_pipe_reserve(out, size, &position);
    }
    if (EPSHM_PIPE_MESSAGE == rc) {
        memcpy(epshm_pipe_area_at(out, position), data, size);
        epshm_pipe_send_bulk(out, position, (uint32_t) size, 3);
    }
    return rc;
}

static inline void check(const epshm_pipe_message_t *message, size_t size, uint64_t number)
{
    const size_t front = NULL != message->rest ? EPSHM_PIPE_REST : 0;
    const unsigned char *data = message->data, *rest = message->rest;

    TAP_EQ(size, front + message->size);
    TAP_EQ(3, message->tag);
    for (size_t i = 0; size == front + message->size && i < size; ++i) {
        const unsigned char got = i < front ? rest[i] : data[i - front];

        if (pattern(number, i) != got) {
            TAP_CHECK(false, "message %llu, byte %zu of %zu: expected %u, got %u",
                      (unsigned long long) number, i, size, pattern(number, i), got);
            return;
        }
    }
}

/** The next message must be there, and this one; it is done with. */
static inline void take(epshm_pipe_in_t *in, size_t size, uint64_t number)
{
    unsigned char room[ROOM];
    epshm_pipe_message_t message;

    TAP_EQ(EPSHM_PIPE_MESSAGE, epshm_pipe_peek(in, room, &message));
    check(&message, size, number);
    epshm_pipe_done(in, &message);
}

#endif /* EP_TEST_UNIT_TEST_EPSHM_PIPE_H */
