/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The door (btl_epshm_doorbell.h) between threads: producers push packets, whose memory they use again
 * as soon as it is given back, and the consumer finds each once, whole, in its producer's order.
 *
 * Guards: btl_epshm_doorbell.h
 */

#include "opal/mca/btl/epshm/segment/btl_epshm_doorbell.h"

#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { PRODUCERS = 3, SLOTS = 4, WORDS = 6 };

typedef struct slot_t {
    epshm_packet_t packet;
    uint64_t word[8];
} slot_t;

static slot_t *slots; /**< SLOTS of each producer: what would be its segment */
static _Atomic uint64_t used;
static epshm_doorbell_t doorbell;
static uint64_t count;

static void *produce(void *argument)
{
    const uint64_t producer = (uint64_t) (uintptr_t) argument;

    for (uint64_t number = 0; number < count; ++number) {
        const uint64_t index = producer * SLOTS + number % SLOTS;
        slot_t *slot = &slots[index];

        while (0 == epshm_packet_state(&slot->packet)) {
            sched_yield();
        }
        slot->packet.sender = producer;
        for (int i = 0; i < WORDS; ++i) {
            slot->word[i] = number + (uint64_t) i;
        }
        epshm_packet_set(&slot->packet, EPSHM_PACKET_MESSAGE, 7, sizeof(slot->word));
        TAP_EQ(0, epshm_doorbell_push(&doorbell, &slot->packet.next, index + 1));
    }
    return NULL;
}

/** Read a list, from its oldest element on.  @return elements */
static uint64_t consume(uint64_t word, uint64_t next[PRODUCERS])
{
    uint64_t found[PRODUCERS * SLOTS], n = 0;

    while (0 != word && n < PRODUCERS * SLOTS) {
        found[n++] = word - 1;
        word = epshm_word_follow(&slots[word - 1].packet.next);
    }
    TAP_EQ(0, word);
    for (uint64_t i = n; 0 < i; --i) {
        epshm_pipe_envelope_t envelope;
        epshm_packet_t *packet = epshm_packet_open((unsigned char *) slots,
                                                   PRODUCERS * SLOTS * sizeof(slot_t), &used,
                                                   found[i - 1] * sizeof(slot_t), &envelope);
        const uint64_t *words = (const uint64_t *) (packet + 1);
        uint64_t *expected = &next[packet->sender];

        TAP_EQ(sizeof(slots->word), envelope.size);
        for (int j = 0; j < WORDS; ++j) {
            TAP_EQ(*expected + (uint64_t) j, words[j]);
        }
        ++*expected;
        epshm_packet_detach(packet, EPSHM_PIPE_LEFT);
    }
    return n;
}

static void case_threads(void)
{
    uint64_t next[PRODUCERS] = {0}, all = 0;
    pthread_t threads[PRODUCERS];

    tap_case("%d producers", PRODUCERS);
    for (uintptr_t i = 0; i < PRODUCERS; ++i) {
        pthread_create(&threads[i], NULL, produce, (void *) i);
    }
    while (all < PRODUCERS * count) {
        const uint64_t word = epshm_doorbell_take(&doorbell, 0);

        if (0 == word) {
            sched_yield();
        }
        all += consume(word, next);
    }
    for (int i = 0; i < PRODUCERS; ++i) {
        pthread_join(threads[i], NULL);
        TAP_EQ(count, next[i]);
    }
    tap_case_done();
}

/** A door that has been left, or is broken, takes nothing; an element is found once. */
static void case_states(void)
{
    epshm_doorbell_t other = {.last = 0, .owner = 5};
    slot_t *slot = &slots[0];

    tap_case("states of a door");
    TAP_CHECK(!epshm_doorbell_is_left(&other, 5) && epshm_doorbell_is_left(&other, 6),
              "whose is it?");
    TAP_EQ(0, epshm_doorbell_push(&other, &slot->packet.next, 9));
    TAP_EQ(9, epshm_doorbell_take(&other, EPSHM_DOORBELL_LEFT));
    TAP_EQ(0, epshm_word_follow(&slot->packet.next));
    TAP_EQ(EPSHM_WORD_SEEN, epshm_word_follow(&slot->packet.next));
    TAP_EQ(EPSHM_DOORBELL_LEFT, epshm_doorbell_push(&other, &slot->packet.next, 9));
    atomic_store(&other.last, EPSHM_DOORBELL_BROKEN);
    TAP_EQ(EPSHM_DOORBELL_BROKEN, epshm_doorbell_push(&other, &slot->packet.next, 9));
    epshm_doorbell_leave(&other);
    TAP_CHECK(epshm_doorbell_is_left(&other, 5), "it has not been left");
    tap_case_done();
}

/** What somebody says to be a packet, and is none. */
static void case_nonsense(void)
{
    const uint64_t size = PRODUCERS * SLOTS * sizeof(slot_t);
    const unsigned char *segment = (unsigned char *) slots;
    epshm_pipe_envelope_t envelope;

    tap_case("packets that are none");
    epshm_packet_set(&slots[0].packet, EPSHM_PACKET_MESSAGE, 7, size - sizeof(epshm_packet_t));
    TAP_CHECK(NULL != epshm_packet_open(segment, size, &used, 0, &envelope), "it is one");
    slots[0].packet.envelope.size++;
    TAP_CHECK(NULL == epshm_packet_open(segment, size, &used, 0, &envelope), "behind the end");
    TAP_CHECK(NULL == epshm_packet_open(segment, size, &used, 8, &envelope), "not on a line");
    TAP_CHECK(NULL == epshm_packet_open(segment, size, &used, size, &envelope), "at the end");
    TAP_CHECK(NULL == epshm_packet_open(segment, size - 1, &used, 0, &envelope), "not mapped");
    TAP_CHECK(NULL == epshm_packet_open(segment, size, &used, 64, &envelope), "data");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_doorbell", 120);
    count = TAP_SANITIZED ? 30000 : 200000;
    slots = aligned_alloc(EPSHM_PIPE_LINE, PRODUCERS * SLOTS * sizeof(slot_t));
    memset(slots, 0, PRODUCERS * SLOTS * sizeof(slot_t));
    for (int i = 0; i < PRODUCERS * SLOTS; ++i) {
        slots[i].packet.magic = EPSHM_PACKET_MAGIC;
        epshm_packet_detach(&slots[i].packet, EPSHM_PIPE_LEFT);
    }
    atomic_init(&used, PRODUCERS * SLOTS * sizeof(slot_t));
    case_threads();
    case_states();
    case_nonsense();
    free(slots);
    return tap_end();
}
