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
 * Model of a pipe (btl_epshm_pipe.h), its door, and its memory: a producer makes a pipe of two
 * cells, leaves word of it, sends three messages in cells and two through the area, and closes; the
 * consumer finds it, reads to the end, and detaches; the producer then writes to the memory again.
 *
 * The variant MODEL_DOOR: two producers, each with a pipe and one message, and one door.
 *
 * The door is done as by announce (btl_epshm_node_peer.c) and answer_door
 * (btl_epshm_node_progress.c), which need more around them than a model has.
 *
 * Guards: btl_epshm_pipe.h, btl_epshm_pipe_in.h, btl_epshm_pipe_out.h
 */

#if defined(MODEL_DOOR)
#    define MODEL_THREADS 3
#    define MESSAGES 1
#else
#    define MODEL_THREADS 2
#    define MESSAGES 5
#endif
#include "model.h"

#include "opal/mca/btl/epshm/segment/btl_epshm_pipe_in.h"
#include "opal/mca/btl/epshm/segment/btl_epshm_pipe_out.h"

#define PRODUCERS (MODEL_THREADS - 1)

#define CELLS EPSHM_PIPE_CELLS_LEAST /* 2 for a checker: adapted by run-model */
#define WORDS (((3 + CELLS) * EPSHM_PIPE_LINE) / sizeof(uint64_t))
#define AREA EPSHM_PIPE_LINE

typedef struct segment_t {
    alignas(EPSHM_PIPE_LINE) uint64_t word[WORDS];
    alignas(EPSHM_PIPE_LINE) uint64_t area[AREA / sizeof(uint64_t)];
} segment_t;

segment_t *segment[PRODUCERS];
_Atomic uint64_t door; /**< 1 + number of the producer whose word came last */
_Atomic uint64_t used = sizeof(segment_t);

static void model_setup(void)
{
    for (int i = 0; i < PRODUCERS; ++i) {
        if (NULL == segment[i]) {
            segment[i] = aligned_alloc(EPSHM_PIPE_LINE, sizeof(segment_t));
            assert(NULL != segment[i]);
        }
    }
    atomic_store_explicit(&door, 0, memory_order_relaxed);
}

/** As announce. */
static void leave_word(epshm_pipe_t *pipe, uint64_t number)
{
    uint64_t last = atomic_load_explicit(&door, memory_order_relaxed);

    do {
        atomic_store_explicit(&pipe->next, last, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(&door, &last, number + 1, memory_order_release,
                                                    memory_order_relaxed));
}

static void send(epshm_pipe_out_t *out, uint64_t value)
{
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_INLINE, .tag = 7, .size = 8};
    uint64_t first;

    memcpy(&first, &envelope, sizeof(first));
    MODEL_AWAIT(EPSHM_PIPE_MESSAGE == epshm_pipe_room(out, 1));
    epshm_pipe_write(out, 0, &first, sizeof(first));
    epshm_pipe_write(out, sizeof(first), &value, sizeof(value));
    epshm_pipe_publish(out, 1);
    assert(epshm_pipe_is_intact(out));
}

static void send_by_area(epshm_pipe_out_t *out, uint64_t number, uint64_t value)
{
    uint64_t position;

    if (NULL == out->area) {
        epshm_pipe_add_area(out, segment[number]->area, offsetof(segment_t, area), AREA);
    }
    MODEL_AWAIT(EPSHM_PIPE_MESSAGE == epshm_pipe_reserve(out, AREA, &position));
    *(uint64_t *) epshm_pipe_area_at(out, position) = value;
    MODEL_AWAIT(EPSHM_PIPE_MESSAGE == epshm_pipe_room(out, 1));
    if (0 == value % 2) { /* of the two that there are, one */
        uint64_t rest[2] = {value, value + 1};

        epshm_pipe_send_apart(out, position, (const unsigned char *) rest, AREA, 7);
    } else {
        epshm_pipe_send_bulk(out, position, AREA, 7);
    }
}

static void produce(uint64_t number)
{
    epshm_pipe_out_t out;

    epshm_pipe_create(&out, segment[number]->word, CELLS, 1000 + number);
    leave_word(out.pipe, number);
    for (uint64_t i = 0; i < MESSAGES; ++i) {
        if (3 <= i) {
            send_by_area(&out, number, 10 * number + i);
        } else {
            send(&out, 10 * number + i);
        }
    }
    epshm_pipe_close(&out);
    MODEL_AWAIT(epshm_pipe_is_detached(out.pipe));
    /* Another one's memory now. */
    for (size_t i = 0; i < WORDS; i += 8) {
        segment[number]->word[i] = 0;
    }
    segment[number]->area[0] = 0;
}

static void read_to_end(epshm_pipe_in_t *in, uint64_t number)
{
    unsigned char room[EPSHM_PIPE_CELLS_MAX * EPSHM_PIPE_CELL_PAYLOAD]
        __attribute__((aligned(EPSHM_PIPE_LINE)));
    epshm_pipe_message_t message;

    for (uint64_t i = 0; i < MESSAGES; ++i) {
        assert(epshm_pipe_is_sound(in));
        MODEL_AWAIT(epshm_pipe_pending(in));
        MODEL_AWAIT(EPSHM_PIPE_MESSAGE == epshm_pipe_peek(in, room, &message));
        assert(7 == message.tag);
        assert(*(const uint64_t *) message.data == 10 * number + i);
        assert((4 == i) == (NULL != message.rest));
        assert(NULL == message.rest
               || *((const uint64_t *) message.rest + 1) == 10 * number + i + 1);
        epshm_pipe_done(in, &message);
    }
    MODEL_AWAIT(epshm_pipe_is_over(in));
    assert(EPSHM_PIPE_NOTHING == epshm_pipe_peek(in, room, &message));
    epshm_pipe_detach(in->pipe);
}

/** As answer_door. */
static void consume(void)
{
    for (int found = 0; found < PRODUCERS;) {
        uint64_t word;

        MODEL_AWAIT(0 != atomic_load_explicit(&door, memory_order_relaxed));
        word = atomic_exchange_explicit(&door, 0, memory_order_acquire);
        while (0 != word) {
            const uint64_t number = word - 1;
            epshm_pipe_in_t in;

            assert(PRODUCERS > number);
            assert(epshm_pipe_open(&in, (const unsigned char *) segment[number], sizeof(segment_t),
                                   &used, 0));
            assert(1000 + number == in.pipe->addressee);
            word = atomic_load_explicit(&in.pipe->next, memory_order_relaxed);
            read_to_end(&in, number);
            ++found;
        }
    }
}

static void model_thread(unsigned int number)
{
    if (PRODUCERS == number) {
        consume();
    } else {
        produce(number);
    }
}

static void model_verdict(void)
{
    assert(0 == atomic_load_explicit(&door, memory_order_relaxed));
#if defined(MODEL_CHECKER)
    for (int i = 0; i < PRODUCERS; ++i) {
        free(segment[i]);
    }
#endif
}
