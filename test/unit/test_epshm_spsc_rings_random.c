/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The life of btl/epshm's SPSC rings: by threads that take turns with one, and in a random program in
 * which modules come and go, repeated by its seed.  Step by step: test_epshm_spsc_rings.c.
 *
 * make check builds it as it is; under ThreadSanitizer, by hand, it also proves the orders between
 * the threads that open and leave SPSC rings.
 *
 * Guards: btl_epshm_spsc.c, btl_epshm_recv_queue.c
 */

#include "test_epshm_spsc_rings.h"

#include <pthread.h>
#include <sched.h>

/* ---- threads --------------------------------------------------------------------------------- */

/* Two senders take turns with the only SPSC ring of slot 0, which the first leaves for slot 16's.
 * Nothing but the SPSC ring itself orders one before the other: under ThreadSanitizer an order that is
 * missing is a race for the ring, whose tail waits there between the two. */

enum { RECEIVER = 0, FIRST = 1, SECOND = 2, RIVAL = EPSHM_SPSC_PLACES, SLOT_COUNT };

static _Atomic int turn; /* relaxed: must not order anything */

static int turn_is(void)
{
    return atomic_load_explicit(&turn, memory_order_relaxed);
}

/** Send until the SPSC ring is there. */
static void send_until_spsc(int from, int to)
{
    while (!has_spsc(from, to)) {
        (void) test_ep_send(from, to);
        sched_yield();
    }
    for (int i = 0; i < 20; ++i) {
        (void) test_ep_send(from, to);
    }
}

static void *sender_main(void *argument)
{
    const int slot = *(const int *) argument;

    while (slot != turn_is()) {
        sched_yield();
    }
    send_until_spsc(slot, RECEIVER);
    if (FIRST == slot) {
        send_until_spsc(slot, RIVAL); /* leaves the other */
    }
    atomic_store_explicit(&turn, slot + 1, memory_order_relaxed);
    return NULL;
}

static void *receiver_main(void *argument)
{
    const int slot = *(const int *) argument;

    while (SECOND >= turn_is()) {
        if (0 == test_ep_progress(slot)) {
            sched_yield();
        }
    }
    return NULL;
}

static void *observer_main(void *argument)
{
    (void) argument;
    while (SECOND >= turn_is()) {
        (void) eps[RECEIVER].module->ep_pending(eps[RECEIVER].module);
        sched_yield();
    }
    return NULL;
}

static void case_threads(void)
{
    static const int slots[] = {RECEIVER, RIVAL, RECEIVER, FIRST, SECOND};
    void *(*const mains[])(void *) = {receiver_main, receiver_main, observer_main, sender_main,
                                      sender_main};

    tap_case("an SPSC ring goes from thread to thread");
    for (int round = 0; round < 20; ++round) {
        pthread_t threads[5];

        begin(0);
        mca_btl_epshm_component.ring_cells = 1 << 16; /* no order by its limit */
        mca_btl_epshm_component.spsc_rings = 1;
        no_buffers = true; /* which come back in an order */
        for (int i = 0; i < SLOT_COUNT; ++i) {
            test_ep_open(i);
        }
        for (int from = FIRST; from <= SECOND; ++from) {
            connect_to(from, RECEIVER);
            connect_to(from, RIVAL);
        }
        atomic_store_explicit(&turn, FIRST, memory_order_relaxed);
        for (int i = 0; i < 5; ++i) {
            if (0 != pthread_create(&threads[i], NULL, mains[i], (void *) &slots[i])) {
                printf("Bail out! no thread\n");
                exit(99);
            }
        }
        for (int i = 0; i < 5; ++i) {
            pthread_join(threads[i], NULL);
        }
        for (int i = 0; i < SLOT_COUNT; ++i) {
            take_all(i);
        }
        check_all_received();
        for (int i = 0; i < SLOT_COUNT; ++i) {
            test_ep_close(i, true);
        }
    }
    tap_case_done();
}

/* ---- a random program ------------------------------------------------------------------------ */

static void random_step(uint64_t *random, int slots)
{
    const int a = (int) tap_below(random, (uint64_t) slots);
    /* Two in three to the next one or the one whose place is the same. */
    const int b = 0 == tap_below(random, 3)
                      ? (int) tap_below(random, (uint64_t) slots)
                      : (a + 1 + EPSHM_SPSC_PLACES * (int) tap_below(random, 2)) % slots;

    if (0 == tap_below(random, 400) && next_instance < INSTANCES) {
        if (NULL != eps[a].module) {
            test_ep_close(a, true);
        }
        test_ep_open(a);
        return;
    }
    if (0 == tap_below(random, 3)) {
        (void) test_ep_progress(a);
        return;
    }
    for (uint64_t i = 1 + tap_below(random, 60); 0 < i; --i) {
        if (OPAL_SUCCESS != test_ep_send(a, b)) {
            (void) test_ep_progress(b);
        }
    }
}

static void case_random(int slots, unsigned int spsc_rings, unsigned int spsc_cells,
                        unsigned int cells, unsigned int frags)
{
    uint64_t random = tap_stream(7 + (uint64_t) slots * 1000 + spsc_rings);

    tap_case("random: %d modules that come and go, %u SPSC rings of %u cells, %u cells, %u buffers",
             slots, spsc_rings, spsc_cells, cells, frags);
    begin(0);
    mca_btl_epshm_component.spsc_rings = spsc_rings;
    mca_btl_epshm_component.spsc_cells = spsc_cells;
    mca_btl_epshm_component.ring_cells = cells;
    mca_btl_epshm_component.eager_frags_max = frags;
    for (int i = 0; i < slots; ++i) {
        test_ep_open(i);
    }
    for (int step = 0; step < 40000 && !tap_case_failed(); ++step) {
        random_step(&random, slots);
    }
    end();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_spsc_rings_random", 120);
    mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = on_receive;
    case_threads();
    case_random(3, 8, 64, 512, 256);
    case_random(20, 8, 256, 512, 4);
    case_random(SLOTS, 1, 64, 64, 1);
    case_random(SLOTS, 32, 64, 16, 2);
    case_random(20, 0, 64, 512, 16);
    return tap_end();
}
