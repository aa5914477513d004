/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pairs without pipes, between two processes and without any MPI: packets, which pairs get pipes and
 * lose them, and packets that make no sense.  Where memory is short: test_epshm_short.c.
 *
 * Guards: btl_epshm_node_packet.c, btl_epshm_node_pipe.c, btl_epshm_node_progress.c,
 * btl_epshm_node_doorbell.c, btl_epshm_node_lost.c, btl_epshm_doorbell.h
 */

#include "test_epshm_losses.h"

static bool no_memory;

/** In place of the C library's, for btl/epshm's calls alone: -Wl,--wrap. */
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
    return no_memory ? NULL : __real_realloc(memory, size);
}

/** More packets than a door has room for, and no memory for more room: none is taken until there is
 * some; then all come in order, those that were pushed meanwhile last.  The second time the module
 * goes before, and leaves all to their sender. */
static void case_no_memory(const pair_t *pair)
{
    enum { MANY = 200, TURNS = 200 };
    static test_ep_t eps[MANY];
    name_t theirs;

    mca_btl_epshm_component.pipes = 0;
    test_ep_begin(pair, &eps[0], &theirs);
    test_ep_watch(&eps[0]);
    for (int i = 0; 1 == pair->rank && i < MANY; ++i) {
        if (0 < i) {
            TAP_EQ(OPAL_SUCCESS, test_ep_open(&eps[i]));
        }
        test_ep_connect(&eps[i], &theirs);
    }
    for (uint64_t round = 0; round < 2; ++round) {
        for (uint64_t i = 0; 1 == pair->rank && i < MANY; ++i) {
            TAP_EQ(OPAL_SUCCESS, send_whole(&eps[i], round * (MANY + 1) + i, 100));
        }
        meet(pair);
        no_memory = 0 == pair->rank;
        for (int i = 0; 0 == pair->rank && i < TURNS; ++i) {
            TAP_EQ(0, eps[0].module->ep_progress(eps[0].module));
        }
        meet(pair);
        if (1 == pair->rank) {
            TAP_EQ(OPAL_SUCCESS, send_whole(&eps[0], round * (MANY + 1) + MANY, 100));
        }
        meet(pair);
        no_memory = no_memory && 1 == round;
        for (int i = 0; 0 == pair->rank && i < TURNS; ++i) {
            (void) eps[0].module->ep_progress(eps[0].module);
        }
        TAP_EQ(0 == pair->rank ? MANY + 1 : 0, eps[0].received);
        if (0 == round && 0 == pair->rank) { /* it has the memory now */
            ((epshm_node_module_t *) eps[0].module)->found_capacity = MANY / 4;
        }
        meet(pair);
    }
    TAP_EQ(0, losses + sender_losses);
    TAP_EQ(0, atomic_load(&mca_btl_epshm_component.pipes_broken));
    if (0 == pair->rank) {
        test_ep_close(&eps[0]);
    }
    meet(pair);
    for (int i = 0; 1 == pair->rank && i < MANY; ++i) {
        mca_btl_epshm_node_packets_reclaim((epshm_node_module_t *) eps[i].module, 2);
        TAP_EQ(0, ((epshm_node_module_t *) eps[i].module)->sent_count);
        test_ep_disconnect(&eps[i]);
        test_ep_close(&eps[i]);
    }
}

/** Packets of many endpoints arrive in the order in which they were sent, and the memory of those
 * that have been read serves again. */
static void case_packets(const pair_t *pair)
{
    enum { MANY = 100, COUNT = 20000 };
    static test_ep_t eps[MANY];
    uint64_t taken = 0, read = 0, random;
    name_t theirs;

    mca_btl_epshm_component.pipes = 0;
    test_ep_begin(pair, &eps[0], &theirs);
    eps[0].seed = tap_stream(8);
    eps[0].most = 8000;
    if (0 == pair->rank) {
        while (COUNT > eps[0].received) {
            test_ep_turn(&eps[0]);
            for (; read + MANY <= eps[0].received; read += MANY) {
                tell(pair, &read, sizeof(read)); /* it is not ahead by more than twice that */
            }
        }
        meet(pair);
        test_ep_close(&eps[0]);
        return;
    }
    random = tap_stream(8);
    for (int i = 0; i < MANY; ++i) {
        if (0 < i) {
            TAP_EQ(OPAL_SUCCESS, test_ep_open(&eps[i]));
        }
        test_ep_connect(&eps[i], &theirs);
    }
    for (uint64_t number = 0; number < COUNT; ++number) {
        const size_t size = next_size(&random, 8000);

        if (0 == number % MANY && 2 * MANY <= number) {
            hear(pair, &read, sizeof(read));
        }
        TAP_EQ(OPAL_SUCCESS, send_one(&eps[number * 7 % MANY], number, size));
        if (COUNT / 2 == number) {
            taken = memory_taken();
        }
    }
    TAP_CHECK(memory_taken() <= taken + taken / 2, "%llu bytes, and %llu at half the messages",
              (unsigned long long) memory_taken(), (unsigned long long) taken);
    hear(pair, &read, sizeof(read));
    hear(pair, &read, sizeof(read));
    meet(pair);
    for (int i = 0; i < MANY; ++i) {
        test_ep_disconnect(&eps[i]);
        test_ep_close(&eps[i]);
    }
}

/** One endpoint sends to many, in bursts, of which at most two have a pipe at a time: order stays. */
static void case_ways_change(const pair_t *pair)
{
    enum { MANY = 12, COUNT = 60000 };
    static test_ep_t eps[MANY];
    static struct mca_btl_base_endpoint_t *peers[MANY];
    uint64_t random = tap_stream(9), sent[MANY] = {0}, opened = 0;
    name_t names[MANY], theirs;
    int to = 0;

    mca_btl_epshm_component.pipes = 2;
    mca_btl_epshm_component.pipe_after = 3;
    test_ep_begin(pair, &eps[0], &theirs);
    for (int i = 0; i < MANY; ++i) {
        if (1 == pair->rank) {
            if (0 < i) {
                TAP_EQ(OPAL_SUCCESS, test_ep_open(&eps[i]));
            }
            name_of(&eps[i], &names[i]);
            tell(pair, &names[i], sizeof(names[i]));
        } else {
            hear(pair, &names[i], sizeof(names[i]));
            TAP_EQ(OPAL_SUCCESS, eps[0].module->ep_connect(eps[0].module, names[i].bytes,
                                                           names[i].length, &peers[i]));
        }
    }
    if (1 == pair->rank) {
        for (uint64_t all = 0; COUNT > all;) {
            all = 0;
            for (int i = 0; i < MANY; ++i) {
                (void) eps[i].module->ep_progress(eps[i].module);
                all += eps[i].received;
            }
        }
    }
    for (uint64_t number = 0; 0 == pair->rank && number < COUNT; ++number) {
        epshm_node_peer_t *peer;
        bool had;
        int rc;

        if (0 == tap_below(&random, 40)) {
            to = (int) tap_below(&random, MANY);
        }
        eps[0].peer = peers[to];
        peer = (epshm_node_peer_t *) peers[to];
        had = NULL != peer->out.pipe;
        while (OPAL_ERR_OUT_OF_RESOURCE
                   == (rc = send_whole(&eps[0], sent[to], tap_below(&random, 1000)))
               || OPAL_ERR_NOT_AVAILABLE == rc) {
            test_ep_turn(&eps[0]);
        }
        TAP_EQ(OPAL_SUCCESS, rc);
        opened += !had && NULL != peer->out.pipe;
        ++sent[to];
        for (int i = 0; i < 30; ++i) {
            (void) eps[0].module->ep_progress(eps[0].module);
        }
    }
    if (0 == pair->rank) {
        TAP_CHECK(10 < opened, "a pipe was opened %llu times", (unsigned long long) opened);
        TAP_CHECK(2 >= ((epshm_node_module_t *) eps[0].module)->pipes, "too many pipes");
        meet(pair);
        for (int i = 0; i < MANY; ++i) {
            eps[0].module->ep_disconnect(eps[0].module, peers[i]);
        }
        test_ep_close(&eps[0]);
        return;
    }
    meet(pair);
    for (int i = 0; i < MANY; ++i) {
        test_ep_close(&eps[i]);
    }
}

/** A receiver that does not look keeps back eight packets, and none for another one. */
static void case_bound(const pair_t *pair)
{
    struct mca_btl_base_endpoint_t *lazy;
    test_ep_t ep = {.received = 0}, other = {.received = 8};
    name_t theirs, others;
    uint64_t sent = 0;

    mca_btl_epshm_component.pipes = 0;
    test_ep_begin(pair, &ep, &theirs);
    if (1 == pair->rank) {
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&other));
        name_of(&other, &others);
        tell(pair, &others, sizeof(others));
        while (9 > other.received) {
            test_ep_turn(&other);
        }
        TAP_EQ(8,
               ep.module->ep_progress(ep.module)); /* a test of MPI's sees that it may find more */
        TAP_EQ(8, ep.received);
        meet(pair);
        test_ep_close(&other);
        test_ep_close(&ep);
        return;
    }
    hear(pair, &others, sizeof(others));
    test_ep_connect(&ep, &theirs);
    lazy = ep.peer;
    while (100 > sent && OPAL_SUCCESS == send_whole(&ep, sent, 8)) {
        ++sent;
    }
    TAP_EQ(8, sent);
    TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, send_whole(&ep, sent, 8));
    test_ep_connect(&ep, &others);
    TAP_EQ(OPAL_SUCCESS, send_whole(&ep, sent, 8));
    meet(pair);
    test_ep_disconnect(&ep);
    ep.peer = lazy;
    TAP_EQ(OPAL_SUCCESS, send_whole(&ep, sent, 8)); /* they have been read */
    test_ep_disconnect(&ep);
    test_ep_close(&ep);
}

/* ---- packets that make no sense -------------------------------------------------------------- */

static epshm_packet_t *last_packet(const test_ep_t *ep)
{
    return ((epshm_node_module_t *) ep->module)->sent_last->packet;
}

static void spoil_kind(test_ep_t *ep)
{
    last_packet(ep)->envelope.kind = 77;
}

static void spoil_tag(test_ep_t *ep)
{
    last_packet(ep)->envelope.tag = 1;
}

static void spoil_addressee(test_ep_t *ep)
{
    last_packet(ep)->addressee += UINT64_C(1) << 50;
}

/** Rank 1 sends four packets, the third of which is spoilt: the first two arrive, and both learn
 * that they have lost each other. */
static void spoilt(const pair_t *pair, void (*spoil)(test_ep_t *ep))
{
    test_ep_t ep = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (1 == pair->rank) {
        test_ep_connect(&ep, &theirs);
        for (uint64_t number = 0; number < 4; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_whole(&ep, number, 100));
            if (2 == number) {
                spoil(&ep);
            }
        }
    }
    meet(pair);
    test_ep_turns(&ep);
    meet(pair);
    test_ep_turns(&ep);
    TAP_EQ(1, losses + sender_losses);
    TAP_EQ(0 == pair->rank ? 2 : 0, ep.received);
    TAP_EQ(0 == pair->rank ? 1 : 0, atomic_load(&mca_btl_epshm_component.pipes_broken));
    if (1 == pair->rank) {
        TAP_EQ(OPAL_ERR_UNREACH, send_whole(&ep, 4, 8));
        test_ep_disconnect(&ep);
    }
    meet(pair);
    test_ep_close(&ep);
}

static void case_kind(const pair_t *pair)
{
    spoilt(pair, spoil_kind);
}

static void case_tag(const pair_t *pair)
{
    spoilt(pair, spoil_tag);
}

static void case_addressee(const pair_t *pair)
{
    spoilt(pair, spoil_addressee);
}

/** A packet that says that it is larger than memory is, or whose link leads back: the door is given
 * up, and its senders see that. */
static void broken_doorbell(const pair_t *pair, bool endless)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (1 == pair->rank) {
        test_ep_connect(&ep, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_whole(&ep, 0, 8));
        TAP_EQ(OPAL_SUCCESS, send_whole(&ep, 1, 8));
        if (endless) {
            atomic_store(&((epshm_node_module_t *) ep.module)->sent->packet->next,
                         atomic_load(&((epshm_node_peer_t *) ep.peer)->doorbell->last));
        } else {
            last_packet(&ep)->envelope.size = UINT32_MAX;
        }
        meet(pair);
        meet(pair);
        test_ep_turns(&ep);
        TAP_EQ(1, losses + sender_losses);
        test_ep_disconnect(&ep);
    } else {
        meet(pair);
        TAP_CHECK(0 > ep.module->ep_progress(ep.module), "it goes on");
        TAP_EQ(0, ep.received);
        meet(pair);
    }
    test_ep_close(&ep);
}

static void case_size(const pair_t *pair)
{
    broken_doorbell(pair, false);
}

static void case_endless(const pair_t *pair)
{
    broken_doorbell(pair, true);
}

/** Rank 0 gives rank 1 up, which waits and has nothing on its way: it is notified, or learns of it
 * when it asks. */
static void given_up(const pair_t *pair, bool asks)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    test_ep_connect(&ep, &theirs);
    if (0 == pair->rank) {
        if (asks) {
            ep.module->ep_refuse(ep.module, theirs.bytes, theirs.length);
        } else {
            mca_btl_epshm_node_cut((epshm_node_peer_t *) ep.peer);
        }
        meet(pair);
        meet(pair);
        test_ep_turns(&ep);
        meet(pair);
    } else {
        meet(pair);
        if (asks) {
            ep.module->ep_check_liveness(ep.module, ep.peer, true);
        }
        meet(pair);
        meet(pair);
        test_ep_turns(&ep);
        TAP_EQ(1, losses + sender_losses);
    }
    meet(pair);
    test_ep_disconnect(&ep);
    test_ep_close(&ep);
}

static void case_notified(const pair_t *pair)
{
    given_up(pair, false);
}

static void case_asks(const pair_t *pair)
{
    given_up(pair, true);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_packets", 300);
    folder_make();
    run_pair("packets of a hundred endpoints", case_packets, false);
    run_pair("no memory for what is in a door", case_no_memory, false);
    run_pair("few pipes for many pairs", case_ways_change, false);
    run_pair("a receiver that does not look", case_bound, false);
    run_pair("a packet of no kind", case_kind, false);
    run_pair("a packet of another tag", case_tag, false);
    run_pair("a packet for nobody", case_addressee, false);
    run_pair("a packet that is too large", case_size, false);
    run_pair("packets without an end", case_endless, false);
    run_pair("an endpoint that is notified", case_notified, false);
    run_pair("an endpoint that asks", case_asks, false);
    return pairs_end();
}
