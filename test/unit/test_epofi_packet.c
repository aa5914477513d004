/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Packets of btl/epofi: what goes into one, when it leaves, also if nobody progresses the module,
 * and how one that makes no sense is received.  Two processes over tcp on the loopback interface.
 *
 * Guards: btl_epofi_packet.c, btl_epofi_packet_thread.c, btl_epofi_packet_lock.c
 */

#include "test_epofi.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

/* ---- the packet thread, at rest as long as the test says ------------------------------------------- */

static pthread_t main_thread;
static _Atomic bool rests;

/** In front of libc's.  the packet thread sleeps between two looks; a sender that loses its core for some
 * time must not be taken for one that has turned away. */
int nanosleep(const struct timespec *pause, struct timespec *left)
{
    long rc;

    do {
        rc = syscall(SYS_nanosleep, pause, left);
    } while (atomic_load(&rests) && !pthread_equal(main_thread, pthread_self()));
    return (int) rc;
}

static void set_rests(bool on)
{
    main_thread = pthread_self();
    atomic_store(&rests, on);
}

/* ---- cases ----------------------------------------------------------------------------------- */

enum { OWN = 2 /**< messages that go by themselves before the first packet */ };

/** Of the last thing that was begun to be sent. */
static uint64_t last_number(const test_ep_t *ep)
{
    return ep->peer->pair->out.sequence;
}

static void end(const pair_t *pair, test_ep_t *ep)
{
    pair_barrier(pair, ep);
    TAP_EQ(0, mca_btl_epofi_dropped(ep->module));
    TAP_EQ(0, losses);
    test_ep_end(ep);
}

/** Many messages in a row take few sends. */
static void case_stream(const pair_t *pair)
{
    enum { COUNT = 2000 };
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};

    set_rests(true);
    start(pair, &ep);
    for (uint64_t i = 0; i < COUNT && 0 == pair->rank; ++i) {
        send_number(&ep, i);
    }
    set_rests(false);
    if (0 == pair->rank) {
        TAP_CHECK(COUNT / 20 > last_number(&ep), "%d messages in %d sends", COUNT,
                  (int) last_number(&ep));
    } else {
        test_ep_wait(&ep, COUNT);
    }
    end(pair, &ep);
}

/** A packet that is exactly full, and one with a single message. */
static void case_full(const pair_t *pair)
{
    enum { SIZE = 256, FULL = 16 };
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};

    mca_btl_epofi_component.packet_size = SIZE;
    set_rests(true);
    start(pair, &ep);
    if (0 == pair->rank) {
        const mca_btl_epofi_packet_t *packet = &ep.peer->packet;

        TAP_EQ(SIZE / FULL, mca_btl_epofi_part_size(8));
        for (uint64_t i = 0; i < OWN + FULL; ++i) {
            send_number(&ep, i);
        }
        TAP_EQ(FULL, packet->count);
        TAP_EQ(SIZE, packet->used);
        TAP_EQ(OWN + 1, last_number(&ep));
        send_number(&ep, OWN + FULL);
        TAP_EQ(1, packet->count);
        TAP_EQ(OWN + 2, last_number(&ep));
        TAP_EQ(1, module_of(&ep)->packet_count);
        (void) test_ep_progress(&ep);
        TAP_EQ(0, module_of(&ep)->packet_count);
    } else {
        test_ep_wait(&ep, OWN + FULL + 1);
    }
    set_rests(false);
    end(pair, &ep);
}

/** The sender turns to something else after its last message. */
static void case_turns_away(const pair_t *pair)
{
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};

    set_rests(true); /* not between two of them */
    start(pair, &ep);
    for (uint64_t i = 0; i < 10 && 0 == pair->rank; ++i) {
        send_number(&ep, i);
    }
    set_rests(false);
    if (0 == pair->rank) {
        pair_barrier(pair, NULL);
        TAP_EQ(OWN + 1, last_number(&ep));
    } else {
        test_ep_wait(&ep, 10);
        pair_barrier(pair, &ep);
    }
    end(pair, &ep);
}

/** A peer that is sent one message at a time, without any progress, is left alone after a few. */
static void case_little(const pair_t *pair)
{
    enum { COUNT = 40 };
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};

    start(pair, &ep);
    for (uint64_t i = 0; i < COUNT; ++i) {
        if (0 == pair->rank) {
            send_number(&ep, i);
            TAP_EQ(i + 1, last_number(&ep));
            pair_barrier(pair, NULL);
        } else {
            test_ep_wait(&ep, i + 1);
            pair_barrier(pair, &ep);
        }
    }
    if (0 == pair->rank) {
        TAP_EQ(64, ep.peer->direct_next); /* it was waited for the packet thread twice */
    }
    end(pair, &ep);
}

static const size_t sizes[] = {8, 9, 24, 100, 500, 3000, 8180, 8184, 8185, 16384, 40000};

static size_t size_of(uint64_t number)
{
    /* Mostly small ones, in no order: the golden ratio's multiples. */
    const uint64_t mixed = (number * UINT64_C(0x9E3779B97F4A7C15)) >> 56;

    return sizes[40 > mixed ? mixed % (sizeof(sizes) / sizeof(sizes[0])) : mixed % 5];
}

static void expect_sized(test_ep_t *ep, const unsigned char *data, size_t length)
{
    uint64_t *next = ep->state;
    uint64_t number = 0;
    size_t wrong = 0;

    memcpy(&number, data, sizeof(number));
    TAP_EQ(*next, number);
    TAP_EQ(size_of(number), length);
    for (size_t i = sizeof(number); i < length; ++i) {
        wrong += (unsigned char) (number + i) != data[i];
    }
    TAP_EQ(0, wrong);
    ++*next;
}

/** Messages that fit into packets among those that do not, both ways at once, in order. */
static void case_mixed(const pair_t *pair)
{
    enum { COUNT = 3000 };
    static unsigned char data[40000];
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_sized, .state = &next};

    start(pair, &ep);
    for (uint64_t number = 0; number < COUNT; ++number) {
        const size_t length = size_of(number);

        for (size_t i = sizeof(number); i < length; ++i) {
            data[i] = (unsigned char) (number + i);
        }
        TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, &number, sizeof(number), data + sizeof(number),
                                          length - sizeof(number)));
        if (0 == number % 37) {
            (void) test_ep_progress(&ep);
        }
    }
    test_ep_wait(&ep, COUNT);
    end(pair, &ep);
}

/* ---- what makes no sense --------------------------------------------------------------------- */

typedef struct broken_t {
    const char *what;
    size_t size;
    uint64_t words[6];
    uint64_t received; /**< messages in front of it that are right */
} broken_t;

/** A part's header. */
#define PART(length, tag) ((uint64_t) (length) | (uint64_t) (tag) << 32)

/** Send a packet past btl/epofi. */
static void send_packet(test_ep_t *ep, const void *bytes, size_t size)
{
    unsigned char buffer[sizeof(mca_btl_epofi_wire_t) + 64] = {0};

    mca_btl_epofi_wire_init(ep->peer->pair, buffer, EPOFI_TAG_PACKET, size);
    mca_btl_epofi_pair_sent(ep->peer->pair);
    memcpy(buffer + sizeof(mca_btl_epofi_wire_t), bytes, size);
    while (-FI_EAGAIN
           == fi_inject(module_of(ep)->fi.ep, buffer, sizeof(mca_btl_epofi_wire_t) + size,
                        ep->peer->address)) {
        (void) test_ep_progress(ep);
    }
}

/** A packet that makes no sense is a loss, of which both endpoints learn. */
static void case_broken(const pair_t *pair)
{
    static const broken_t all[] = {
        {"empty", 0, {0}, 0},
        {"half a header", 4, {PART(0, MCA_BTL_EP_TAG)}, 0},
        {"too long", 16, {PART(9, MCA_BTL_EP_TAG)}, 0},
        {"much too long", 16, {PART(UINT32_MAX, MCA_BTL_EP_TAG)}, 0},
        {"not filled up", 12, {PART(4, MCA_BTL_EP_TAG)}, 0},
        {"not zero", 16, {PART(8, MCA_BTL_EP_TAG) | UINT64_C(1) << 63}, 0},
        {"nothing behind it", 24, {PART(8, MCA_BTL_EP_TAG), 0, PART(8, MCA_BTL_EP_TAG)}, 1},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
        uint64_t next = 0;
        test_ep_t ep = {.on_message = expect_next, .state = &next};

        start(pair, &ep);
        if (0 == pair->rank) {
            send_packet(&ep, all[i].words, all[i].size);
        }
        while (0 == losses) {
            (void) test_ep_progress(&ep);
        }
        pair_barrier(pair, &ep);
        TAP_EQ(1, losses);
        TAP_EQ(0 == pair->rank ? 0 : all[i].received, ep.received);
        TAP_CHECK(0 == pair->rank || 0 < mca_btl_epofi_dropped(ep.module), "%s: none dropped",
                  all[i].what);
        TAP_CHECK(ep.module->ep_worn, "%s: the module would be used again", all[i].what);
        pair_barrier(pair, &ep);
        test_ep_end(&ep);
    }
}

/** A message of a tag that nobody has, or of one of our own, is thrown away, and no other. */
static void case_tags(const pair_t *pair)
{
    static const uint64_t words[] = {PART(8, MCA_BTL_EP_TAG),   0,
                                     PART(0, EPOFI_TAG_PACKET), PART(0, EPOFI_TAG_GONE),
                                     PART(8, MCA_BTL_EP_TAG),   1};
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_next, .state = &next};

    start(pair, &ep);
    if (0 == pair->rank) {
        send_packet(&ep, words, sizeof(words));
    } else {
        test_ep_wait(&ep, 2);
        TAP_EQ(2, mca_btl_epofi_dropped(ep.module));
    }
    pair_barrier(pair, &ep);
    TAP_EQ(0, losses);
    test_ep_end(&ep);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_packet", 60);
    run_pair("a stream", case_stream);
    run_pair("a packet that is full, and one message", case_full);
    run_pair("a sender that turns away", case_turns_away);
    run_pair("one message at a time", case_little);
    run_pair("sizes mixed", case_mixed);
    run_pair("packets that make no sense", case_broken);
    run_pair("tags in packets", case_tags);
    return tap_end();
}
