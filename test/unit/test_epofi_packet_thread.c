/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * the packet thread of btl/epofi when things go wrong: packets that the provider refuses, peers that die
 * or are given up while bytes wait for them, modules and processes that end with them.  Two
 * processes over tcp on the loopback interface; the provider's functions are replaced.
 *
 * Guards: btl_epofi_packet.c, btl_epofi_packet_thread.c, btl_epofi_packet_lock.c
 */

#include "test_epofi.h"

#include "opal/mca/btl/epofi/object/btl_epofi_packet_lock.h"

#include <time.h>

enum {
    OWN = 2,    /**< messages that go by themselves before the first packet */
    BURST = 10, /**< messages of which the last ones are in a packet */
    LOOKS = 64  /**< of the packet thread, between two tries at most */
};

static void nap(unsigned int ms)
{
    const struct timespec time = {.tv_nsec = (long) ms * 1000000};

    (void) nanosleep(&time, NULL);
}

/* ---- a provider that refuses ----------------------------------------------------------------- */

static mca_btl_epofi_module_t *watched;
static ssize_t (*real_send)(struct fid_ep *ep, const void *buffer, size_t length, void *desc,
                            fi_addr_t address, void *context);
static struct fi_ops_msg ops;
static _Atomic bool refuses;
static _Atomic uint32_t tries;   /**< that were refused */
static _Atomic uint32_t unknown; /**< of them those of which the module did not count the packet */

static ssize_t fake_send(struct fid_ep *ep, const void *buffer, size_t length, void *desc,
                         fi_addr_t address, void *context)
{
    if (!refuses) {
        return real_send(ep, buffer, length, desc, address, context);
    }
    ++tries;
    unknown += 0 == watched->packet_count ? 1 : 0;
    return -FI_EAGAIN;
}

static void start_watched(const pair_t *pair, test_ep_t *ep)
{
    mca_btl_epofi_component.packet_wait = 10;
    start(pair, ep);
    watched = module_of(ep);
    ops = *watched->fi.ep->msg;
    real_send = ops.send;
    ops.send = fake_send;
    watched->fi.ep->msg = &ops;
}

/** Some messages, of which a packet is left that is refused from now on. */
static void leave_packet(test_ep_t *ep)
{
    refuses = true;
    for (uint64_t i = 0; i < BURST; ++i) {
        TAP_EQ(OPAL_SUCCESS, test_ep_send(ep, &i, sizeof(i), NULL, 0));
    }
    TAP_EQ(1, watched->packet_count);
    TAP_CHECK(BURST - OWN <= ep->peer->packet.count, "%u of %d in the packet",
              ep->peer->packet.count, BURST);
}

/** A connection, so that messages do not wait for one. */
static void connect_both(const pair_t *pair, test_ep_t *ep)
{
    uint64_t zero = 0;

    TAP_EQ(OPAL_SUCCESS, test_ep_send(ep, &zero, sizeof(zero), NULL, 0));
    test_ep_wait(ep, 1);
    pair_barrier(pair, ep);
    while (0 < module_of(ep)->inflight) {
        (void) test_ep_progress(ep);
    }
    pair_barrier(pair, ep);
}

static void end(const pair_t *pair, test_ep_t *ep)
{
    pair_barrier(pair, ep);
    test_ep_end(ep);
}

/** Send buffers that are in use. */
static unsigned int buffers_out(const mca_btl_epofi_pool_t *pool)
{
    unsigned int out = pool->count;

    for (const mca_btl_epofi_frag_t *frag = pool->free; NULL != frag; frag = frag->next) {
        --out;
    }
    return out;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/** What is refused is tried again and again, and leaves when it can, with nobody in MPI. */
static void case_refused(const pair_t *pair)
{
    enum { TRIES = 12 };
    test_ep_t ep = {0};

    start_watched(pair, &ep);
    connect_both(pair, &ep);
    if (0 == pair->rank) {
        uint32_t looks;

        leave_packet(&ep);
        while (TRIES > tries) {
            (void) sched_yield();
        }
        mca_btl_epofi_packets_hold(watched);
        looks = ep.peer->packet.age;
        mca_btl_epofi_packets_release(watched);
        TAP_CHECK(tries * LOOKS >= looks, "%u tries at %u looks", tries, looks);
        TAP_EQ(0, unknown);
        refuses = false;
        pair_barrier(pair, NULL);
    } else {
        test_ep_wait(&ep, 1 + BURST);
        pair_barrier(pair, &ep);
    }
    end(pair, &ep);
}

/** The owner is refused, too: it counts the packet all the while. */
static void case_refused_owner(const pair_t *pair)
{
    test_ep_t ep = {0};

    start_watched(pair, &ep);
    connect_both(pair, &ep);
    if (0 == pair->rank) {
        leave_packet(&ep);
        for (int i = 0; i < 1000; ++i) {
            (void) test_ep_progress(&ep);
        }
        TAP_EQ(0, unknown);
        TAP_EQ(1, watched->packet_count);
        refuses = false;
        (void) test_ep_progress(&ep);
        TAP_EQ(0, watched->packet_count);
    } else {
        test_ep_wait(&ep, 1 + BURST);
    }
    end(pair, &ep);
}

/** It looks at modules that have packets, and comes back to one that it has forgotten. */
static void case_forgotten(const pair_t *pair)
{
    test_ep_t ep = {0};

    start_watched(pair, &ep);
    connect_both(pair, &ep);
    TAP_CHECK(!watched->watched, "watched without a packet");
    for (uint64_t round = 1; round <= 3; ++round) {
        if (0 == pair->rank) {
            while (0 < watched->inflight) {
                (void) test_ep_progress(&ep);
            }
            leave_packet(&ep);
            TAP_CHECK(watched->watched, "not watched");
            refuses = false;
            pair_barrier(pair, NULL);
            while (watched->watched) {
                (void) sched_yield();
            }
        } else {
            test_ep_wait(&ep, 1 + round * BURST);
            pair_barrier(pair, &ep);
        }
        pair_barrier(pair, &ep);
    }
    end(pair, &ep);
}

/** The peer dies while bytes wait for it, and the owner does something else meanwhile. */
static void case_death(const pair_t *pair)
{
    test_ep_t ep = {0};
    char byte = 0;

    start_watched(pair, &ep);
    connect_both(pair, &ep);
    if (1 == pair->rank) {
        _exit(1 == read(pair->in, &byte, 1) ? 0 : 1);
    }
    leave_packet(&ep);
    TAP_EQ(1, write(pair->out, &byte, 1));
    TAP_EQ(0, read(pair->in, &byte, 1)); /* it is dead */
    refuses = false;
    nap(20); /* the packet thread's turn */
    while (0 == losses) {
        ep.module->ep_check_liveness(ep.module, ep.peer, true);
        (void) test_ep_progress(&ep);
    }
    while (0 < watched->inflight) {
        (void) test_ep_progress(&ep);
    }
    TAP_EQ(0, watched->packet_count);
    TAP_EQ(0, buffers_out(&watched->eager_pool));
    TAP_EQ(OPAL_ERR_UNREACH, test_ep_send(&ep, &byte, 1, NULL, 0));
    test_ep_disconnect(&ep);
    TAP_CHECK(NULL == watched->endpoint_list, "the dead one's endpoint is left");
    test_ep_close(&ep);
}

/** The owner gives the peer up while bytes wait for it, and forgets it. */
static void case_given_up(const pair_t *pair)
{
    test_ep_t ep = {0};

    start_watched(pair, &ep);
    connect_both(pair, &ep);
    if (0 == pair->rank) {
        leave_packet(&ep);
        ep.module->ep_abandon(ep.module, ep.peer);
        test_ep_disconnect(&ep);
        TAP_CHECK(NULL != watched->endpoint_list, "an endpoint went with its packet");
        while (0 < watched->inflight) {
            (void) test_ep_progress(&ep);
        }
        TAP_CHECK(NULL == watched->endpoint_list, "an endpoint stays");
        TAP_EQ(0, watched->packet_count);
        TAP_EQ(0, buffers_out(&watched->eager_pool));
        test_ep_close(&ep);
        pair_barrier(pair, NULL);
    } else {
        pair_barrier(pair, &ep);
        test_ep_end(&ep);
    }
}

/** A module ends with a packet that nobody takes: the packet thread knows it no more. */
static void case_closed(const pair_t *pair)
{
    test_ep_t ep = {0};

    mca_btl_epofi_component.linger = 50;
    start_watched(pair, &ep);
    connect_both(pair, &ep);
    if (0 == pair->rank) {
        uint32_t before;

        leave_packet(&ep);
        test_ep_close(&ep);
        before = tries;
        nap(20);
        TAP_EQ(before, tries);
        pair_barrier(pair, NULL);
    } else {
        pair_barrier(pair, &ep);
        test_ep_end(&ep);
    }
}

static bool lock_is_held(void)
{
    if (atomic_flag_test_and_set(&watched->packet_lock)) {
        return true;
    }
    atomic_flag_clear(&watched->packet_lock);
    return false;
}

static struct fi_ops_av av_ops;
static const struct fi_ops_av *real_av;
static int av_calls;

static int fake_insert(struct fid_av *av, const void *address, size_t count, fi_addr_t *fi_addr,
                       uint64_t flags, void *context)
{
    ++av_calls;
    TAP_CHECK(lock_is_held(), "the packet thread may look at addresses while one is entered");
    return real_av->insert(av, address, count, fi_addr, flags, context);
}

static int fake_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
    ++av_calls;
    TAP_CHECK(lock_is_held(), "the packet thread may look at addresses while one is removed");
    return real_av->remove(av, fi_addr, count, flags);
}

/** Neither the provider's table of addresses nor the acceptor's may change while the packet thread sends,
 * which may have to connect anew. */
static void case_addresses(const pair_t *pair)
{
    test_ep_t ep = {0};
    name_t mine, theirs;

    test_ep_open(&ep);
    watched = module_of(&ep);
    real_av = watched->fi.av->ops;
    av_ops = *real_av;
    av_ops.insert = fake_insert;
    av_ops.remove = fake_remove;
    watched->fi.av->ops = &av_ops;
    name_of(&ep, &mine);
    pair_exchange(pair, NULL, &mine, &theirs, sizeof(mine));
    for (int i = 1; i <= 3; ++i) {
        TAP_EQ(OPAL_SUCCESS,
               ep.module->ep_connect(ep.module, theirs.bytes, theirs.length, &ep.peer));
        test_ep_disconnect(&ep);
        TAP_EQ(2 * i, av_calls);
    }
    test_ep_close(&ep);
}

/* ---- a process that ends without MPI_Finalize ------------------------------------------------ */

static bool exits;

/** After the packet thread's own destructor, as libfabric's are. */
static __attribute__((destructor(101))) void afterwards(void)
{
    const uint32_t before = tries;

    if (!exits) {
        return;
    }
    nap(50);
    if (before != tries) {
        _exit(3);
    }
}

static void case_exit(const pair_t *pair)
{
    test_ep_t ep = {0};
    char byte = 0;

    start_watched(pair, &ep);
    connect_both(pair, &ep);
    if (0 == pair->rank) {
        leave_packet(&ep);
        TAP_EQ(0, unknown);
        exits = !tap_case_failed();
        fflush(NULL);
        exit(exits ? 0 : 1);
    }
    TAP_EQ(0, read(pair->in, &byte, 1)); /* until it has ended */
    test_ep_end(&ep);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi_packet_thread", 60);
    seconds_per_case = 20;
    run_pair("packets that are refused", case_refused);
    run_pair("refused to their owner", case_refused_owner);
    run_pair("modules without packets", case_forgotten);
    run_pair("a peer that dies", case_death);
    run_pair("a peer that is given up", case_given_up);
    run_pair("a module that ends", case_closed);
    run_pair("addresses come and go", case_addresses);
    run_pair("a process that ends", case_exit);
    return tap_end();
}
