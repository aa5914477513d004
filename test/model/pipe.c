/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of a pipe (btl_epshm_pipe.h), its door, and its memory: a producer makes a pipe of two
 * cells, leaves word of it, sends three messages in cells and two through the area, and closes; the
 * consumer finds it, reads to the end, and detaches; the producer then writes to the memory again.
 *
 * The variant MODEL_DOORBELL: two producers, each with a pipe and one message, and one door.  The
 * variant MODEL_PACKET: each sends two packets in the same memory, the second one when the first has
 * been read.  The variant MODEL_BEHIND: each sends a packet, one announces a pipe behind it.
 *
 * Guards: btl_epshm_doorbell.h, btl_epshm_pipe.h, btl_epshm_pipe_in.h, btl_epshm_pipe_out.h
 */

#if defined(MODEL_DOORBELL) || defined(MODEL_PACKET) || defined(MODEL_BEHIND)
#    define MODEL_THREADS 3
#    define MESSAGES 1
#else
#    define MODEL_THREADS 2
#    define MESSAGES 5
#endif
#include "model.h"

#include "opal/mca/btl/epshm/segment/btl_epshm_doorbell.h"
#include "opal/mca/btl/epshm/segment/btl_epshm_pipe_in.h"
#include "opal/mca/btl/epshm/segment/btl_epshm_pipe_out.h"

#define PRODUCERS (MODEL_THREADS - 1)

#define CELLS EPSHM_PIPE_CELLS_LEAST /* 2 for a checker: adapted by run-model */
#define WORDS (((3 + CELLS) * EPSHM_PIPE_LINE) / sizeof(uint64_t))
#define AREA EPSHM_PIPE_LINE

typedef struct segment_t {
    alignas(EPSHM_PIPE_LINE) uint64_t word[WORDS];
    alignas(EPSHM_PIPE_LINE) uint64_t area[AREA / sizeof(uint64_t)];
#if defined(MODEL_BEHIND)
    alignas(EPSHM_PIPE_LINE) uint64_t packet[2 * EPSHM_PIPE_LINE / sizeof(uint64_t)];
#endif
} segment_t;

segment_t *segment[PRODUCERS];
epshm_doorbell_t doorbell; /**< words are 1 + the number of a producer */
_Atomic uint64_t used = sizeof(segment_t);

static void model_setup(void)
{
    for (int i = 0; i < PRODUCERS; ++i) {
        if (NULL == segment[i]) {
            segment[i] = aligned_alloc(EPSHM_PIPE_LINE, sizeof(segment_t));
            assert(NULL != segment[i]);
        }
    }
    atomic_store_explicit(&doorbell.last, 0, memory_order_relaxed);
}

#if !defined(MODEL_PACKET)
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
    assert(0 == epshm_doorbell_push(&doorbell, &out.pipe->next, number + 1));
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

#    if !defined(MODEL_BEHIND)
/** As mca_btl_epshm_node_answer_doorbell. */
static void consume(void)
{
    for (int found = 0; found < PRODUCERS;) {
        uint64_t word;

        MODEL_AWAIT(0 != atomic_load_explicit(&doorbell.last, memory_order_relaxed));
        word = epshm_doorbell_take(&doorbell, 0);
        while (0 != word) {
            const uint64_t number = word - 1;
            epshm_pipe_in_t in;

            assert(PRODUCERS > number);
            assert(epshm_pipe_open(&in, (const unsigned char *) segment[number], sizeof(segment_t),
                                   &used, 0));
            assert(1000 + number == in.pipe->addressee);
            word = epshm_word_follow(&in.pipe->next);
            read_to_end(&in, number);
            ++found;
        }
    }
}

#    else
#        define PACKET_WORD 11 /* of the first producer's packet; words of pipes are less */
#        define ELEMENTS (PRODUCERS + 1)

/** Of the first producer: what has come of it. */
static uint64_t come;

static epshm_packet_t *open_packet(uint64_t number, epshm_pipe_envelope_t *envelope)
{
    return epshm_packet_open((const unsigned char *) segment[number], sizeof(segment_t), &used,
                             offsetof(segment_t, packet), envelope);
}

static void produce_behind(uint64_t number)
{
    epshm_packet_t *packet = (epshm_packet_t *) segment[number]->packet;
    uint64_t *data = (uint64_t *) epshm_packet_data(packet);

    packet->magic = EPSHM_PACKET_MAGIC;
    packet->sender = number;
    data[0] = 20 + number;
    epshm_packet_set(packet, EPSHM_PACKET_MESSAGE, 7, sizeof(data[0]));
    assert(0 == epshm_doorbell_push(&doorbell, &packet->next, PACKET_WORD + number));
    if (0 == number) {
        produce(number);
    }
    MODEL_AWAIT(0 != epshm_packet_state(packet));
    data[0] = 0; /* another one's memory now */
}

static _Atomic uint64_t *link_of(uint64_t word)
{
    epshm_pipe_envelope_t envelope;
    epshm_packet_t *packet;
    epshm_pipe_in_t in;

    if (PACKET_WORD <= word) {
        packet = open_packet(word - PACKET_WORD, &envelope);
        assert(NULL != packet);
        return &packet->next;
    }
    assert(1 == word);
    assert(epshm_pipe_open(&in, (const unsigned char *) segment[0], sizeof(segment_t), &used, 0));
    return &in.pipe->next;
}

static void take_element(uint64_t word)
{
    epshm_pipe_envelope_t envelope;
    epshm_packet_t *packet;
    epshm_pipe_in_t in;

    if (PACKET_WORD <= word) {
        const uint64_t number = word - PACKET_WORD;

        packet = open_packet(number, &envelope);
        assert(EPSHM_PACKET_MESSAGE == envelope.kind && sizeof(uint64_t) == envelope.size);
        assert(*(const uint64_t *) epshm_packet_data(packet) == 20 + number);
        epshm_packet_detach(packet, EPSHM_PIPE_LEFT);
        come += 0 == number;
        return;
    }
    assert(1 == come); /* the packet before it */
    assert(epshm_pipe_open(&in, (const unsigned char *) segment[0], sizeof(segment_t), &used, 0));
    read_to_end(&in, 0);
}

/** As mca_btl_epshm_node_answer_doorbell: the oldest first. */
static void consume_behind(void)
{
    come = 0;
    for (int found = 0; found < ELEMENTS;) {
        uint64_t word, list[ELEMENTS];
        int count = 0;

        MODEL_AWAIT(0 != atomic_load_explicit(&doorbell.last, memory_order_relaxed));
        word = epshm_doorbell_take(&doorbell, 0);
        while (0 != word) {
            assert(ELEMENTS > count);
            list[count++] = word;
            word = epshm_word_follow(link_of(word));
        }
        for (found += count; 0 < count;) {
            take_element(list[--count]);
        }
    }
}
#    endif

#else
/** The same memory for each message. */
static void produce_packets(uint64_t number)
{
    epshm_packet_t *packet = (epshm_packet_t *) segment[number]->word;
    uint64_t *data = (uint64_t *) epshm_packet_data(packet);

    packet->magic = EPSHM_PACKET_MAGIC;
    packet->sender = number;
    for (uint64_t i = 0; i < 2; ++i) {
        data[0] = 10 * number + i;
        epshm_packet_set(packet, EPSHM_PACKET_MESSAGE, 7, sizeof(data[0]));
        assert(0 == epshm_doorbell_push(&doorbell, &packet->next, number + 1));
        MODEL_AWAIT(0 != epshm_packet_state(packet));
    }
}

static void consume_packets(void)
{
    uint64_t next[PRODUCERS] = {0};

    for (int found = 0; found < 2 * PRODUCERS;) {
        uint64_t word;

        MODEL_AWAIT(0 != atomic_load_explicit(&doorbell.last, memory_order_relaxed));
        word = epshm_doorbell_take(&doorbell, 0);
        while (0 != word) {
            const uint64_t number = word - 1;
            epshm_pipe_envelope_t envelope;
            epshm_packet_t *packet;

            assert(PRODUCERS > number);
            packet = epshm_packet_open((const unsigned char *) segment[number], sizeof(segment_t),
                                       &used, 0, &envelope);
            assert(NULL != packet);
            assert(EPSHM_PACKET_MESSAGE == envelope.kind && sizeof(uint64_t) == envelope.size);
            word = epshm_word_follow(&packet->next);
            assert(EPSHM_WORD_SEEN != word);
            assert(*(const uint64_t *) epshm_packet_data(packet) == 10 * number + next[number]);
            ++next[number];
            epshm_packet_detach(packet, EPSHM_PIPE_LEFT);
            ++found;
        }
    }
}
#endif

static void model_thread(unsigned int number)
{
#if defined(MODEL_PACKET)
    (PRODUCERS == number ? consume_packets() : produce_packets(number));
#elif defined(MODEL_BEHIND)
    (PRODUCERS == number ? consume_behind() : produce_behind(number));
#else
    (PRODUCERS == number ? consume() : produce(number));
#endif
}

static void model_verdict(void)
{
    assert(0 == atomic_load_explicit(&doorbell.last, memory_order_relaxed));
#if defined(MODEL_CHECKER)
    for (int i = 0; i < PRODUCERS; ++i) {
        free(segment[i]);
    }
#endif
}
