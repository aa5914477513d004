/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The node side of btl/epshm as pml/epml uses it, between two processes and without any MPI: order,
 * the end of endpoints and processes, killed ones included, memory that is used again and memory
 * that runs out.
 *
 * Guards: btl/epshm
 */

#include "test_epshm_node.h"

/* ---- cases ----------------------------------------------------------------------------------- */

static void case_traffic(const pair_t *pair)
{
    const uint64_t count = 20000;
    test_ep_t ep = {.seed = tap_stream(1 - pair->rank), .most = 16384};
    uint64_t random = tap_stream((uint64_t) pair->rank);
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_connect(&ep, &theirs);
    for (uint64_t number = 0; number < count; ++number) {
        const size_t size = next_size(&random, ep.most);
        int rc;

        while (OPAL_ERR_OUT_OF_RESOURCE == (rc = send_one(&ep, number, size))) {
            test_ep_turn(&ep);
        }
        TAP_EQ(OPAL_SUCCESS, rc);
    }
    while (ep.received < count) {
        test_ep_turn(&ep);
    }
    TAP_EQ(count, ep.received);
    meet(pair);
    test_ep_disconnect(&ep);
    test_ep_close(&ep);
}

/** Rank 1 sends and ends, in one of three ways; rank 0 looks only then. */
static void end_of_sender(const pair_t *pair, bool killed)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;
    char byte;

    test_ep_begin(pair, &ep, &theirs);
    if (1 == pair->rank) {
        test_ep_connect(&ep, &theirs);
        for (uint64_t number = 0; number < 10; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&ep, number, 700 * number));
        }
        if (killed) {
            (void) raise(SIGKILL);
        }
        test_ep_disconnect(&ep);
        test_ep_close(&ep);
        return;
    }
    TAP_EQ(0, recv(pair->fd, &byte, 1, 0)); /* it has ended, and its file is gone, if it could */
    for (int turn = 0; turn < 1000; ++turn) {
        (void) ep.module->ep_progress(ep.module);
    }
    TAP_EQ(10, ep.received);
    TAP_EQ(killed ? 1 : 0, ((epshm_node_module_t *) ep.module)->in_count);
    test_ep_close(&ep);
}

static void case_end(const pair_t *pair)
{
    end_of_sender(pair, false);
}

static void case_killed(const pair_t *pair)
{
    end_of_sender(pair, true);
}

/** Rank 1 takes nothing and ends; rank 0 sends until it notices. */
static void end_of_receiver(const pair_t *pair, bool killed)
{
    test_ep_t ep = {.received = 0};
    uint64_t sent = 0, tries = 0;
    name_t theirs;
    int rc = OPAL_SUCCESS;
    char byte;

    test_ep_begin(pair, &ep, &theirs);
    if (1 == pair->rank) {
        if (killed) {
            (void) raise(SIGKILL);
        }
        hear(pair, &byte, 1); /* the pipe is full */
        test_ep_close(&ep);
        meet(pair);
        meet(pair);
        return;
    }
    test_ep_connect_pipe(&ep, &theirs);
    while (OPAL_SUCCESS == rc) {
        rc = send_one(&ep, 1, 8);
        sent += OPAL_SUCCESS == rc;
    }
    TAP_EQ(mca_btl_epshm_component.pipe_cells, sent);
    TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, rc);
    if (killed) {
        (void) recv(pair->fd, &byte, 1, 0);
    } else {
        tell(pair, "x", 1);
        meet(pair);
    }
    /* The kernel may be still at ending the process when it has closed its socket. */
    while (OPAL_ERR_OUT_OF_RESOURCE == (rc = send_one(&ep, 1, 8))) {
        if (0 == ++tries % 1000) {
            sched_yield();
        }
    }
    TAP_EQ(OPAL_ERR_UNREACH, rc);
    TAP_EQ(OPAL_ERR_UNREACH, send_one(&ep, 1, 8));
    test_ep_disconnect(&ep);
    test_ep_close(&ep);
    if (!killed) {
        meet(pair);
    }
}

static void case_receiver_closed(const pair_t *pair)
{
    end_of_receiver(pair, false);
}

static void case_receiver_killed(const pair_t *pair)
{
    end_of_receiver(pair, true);
}

/** Rank 1 takes nothing and ends, its process lives; rank 0 has fragments for it, until it is
 * notified.
 */
static void case_fragments_to_nobody(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    mca_btl_base_descriptor_t *descriptor;
    mca_btl_base_module_t *btl;
    int sent = 0, rc = OPAL_SUCCESS;
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    meet(pair);
    if (0 == pair->rank) {
        btl = &ep.module->super;
        test_ep_connect_pipe(&ep, &theirs);
        for (int tries = 0; tries < EPSHM_PIPE_SHORT_WAITS; ++tries) {
            while (NULL != (descriptor = btl->btl_alloc(btl, ep.peer, MCA_BTL_NO_ORDER, 400, 0))) {
                TAP_EQ(1, btl->btl_send(btl, ep.peer, descriptor, MCA_BTL_EP_TAG));
                ++sent;
            }
        }
        TAP_CHECK(100 < sent, "only %d fragments", sent);
        meet(pair);
        meet(pair);
        for (int try = 0; try < 10 && 0 <= rc; ++try) {
            descriptor = btl->btl_alloc(btl, ep.peer, MCA_BTL_NO_ORDER, 400, 0);
            rc = NULL == descriptor ? OPAL_SUCCESS
                                    : btl->btl_send(btl, ep.peer, descriptor, MCA_BTL_EP_TAG);
        }
        TAP_EQ(OPAL_ERR_UNREACH, rc);
        test_ep_disconnect(&ep);
        test_ep_close(&ep);
    } else {
        meet(pair);
        test_ep_close(&ep);
        meet(pair);
    }
    meet(pair);
}

/** Endpoints come and go in both processes, with messages on their way at the end. */
static void case_flat(const pair_t *pair)
{
    const int rounds = 1000;
    uint64_t taken = 0;

    for (int round = 0; round < rounds; ++round) {
        test_ep_t ep = {.received = 0};
        name_t theirs;

        test_ep_begin(pair, &ep, &theirs);
        test_ep_connect(&ep, &theirs);
        for (uint64_t number = 0; number < 5; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&ep, number, 600));
        }
        if (0 == round % 2) {
            while (ep.received < 5) {
                test_ep_turn(&ep);
            }
        }
        test_ep_disconnect(&ep);
        test_ep_close(&ep);
        if (10 == round) {
            taken = memory_taken();
        }
    }
    TAP_EQ(taken, memory_taken());
}

/** An endpoint that stays, and makes few turns, hears of one after the other: they come and go. */
static void case_visitors(const pair_t *pair)
{
    const int rounds = 1000;
    test_ep_t ep = {.received = 0}, visitor;
    uint64_t taken = 0;
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    for (int round = 0; round < rounds; ++round) {
        if (1 == pair->rank) {
            visitor = (test_ep_t){.received = 0};
            TAP_EQ(OPAL_SUCCESS, test_ep_open(&visitor));
            test_ep_connect(&visitor, &theirs);
            TAP_EQ(OPAL_SUCCESS, send_one(&visitor, (uint64_t) round, 8));
            test_ep_disconnect(&visitor);
            test_ep_close(&visitor);
        }
        meet(pair);
        if (0 == pair->rank) {
            for (int turn = 0; turn < 10 && ep.received <= (uint64_t) round; ++turn) {
                (void) ep.module->ep_progress(ep.module);
            }
            TAP_EQ(round + 1, ep.received);
        }
        meet(pair);
        if (20 == round) {
            taken = memory_taken();
        }
    }
    TAP_CHECK(10 > ((epshm_node_module_t *) ep.module)->in_count, "%u pipes are kept",
              ((epshm_node_module_t *) ep.module)->in_count);
    TAP_EQ(taken, memory_taken());
    test_ep_close(&ep);
}

static void connect_pipe(test_ep_t *ep, const name_t *theirs,
                         struct mca_btl_base_endpoint_t **peer_p)
{
    test_ep_connect_pipe(ep, theirs);
    *peer_p = ep->peer;
}

/** So many pairs end at once, of a large communicator; the others take their time to leave.  That
 * does not cost the square, and the memory serves again. */
static void case_many_end(const pair_t *pair)
{
    enum { MANY = 20000 };
    struct mca_btl_base_endpoint_t **peers = calloc(MANY, sizeof(*peers));
    test_ep_t ep = {.received = 0}, again = {.received = 0};
    double connecting, ending, ended;
    uint64_t taken;
    name_t theirs;

    mca_btl_epshm_component.pipe_cells = EPSHM_PIPE_CELLS_LEAST;
    mca_btl_epshm_component.pipes = MANY;
    test_ep_begin(pair, &ep, &theirs);
    connecting = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        connect_pipe(&ep, &theirs, &peers[i]);
    }
    ending = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        ep.module->ep_disconnect(ep.module, peers[i]);
    }
    ended = now(CLOCK_PROCESS_CPUTIME_ID);
    TAP_CHECK(ended - ending < 0.1 + 10 * (ending - connecting),
              "%g s to connect, %g s to disconnect", ending - connecting, ended - ending);
    taken = memory_taken();
    meet(pair);
    test_ep_close(&ep);
    test_ep_begin(pair, &again, &theirs);
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        connect_pipe(&again, &theirs, &peers[i]);
    }
    TAP_EQ(taken, memory_taken());
    for (int i = 0; 0 == pair->rank && i < MANY; ++i) {
        again.module->ep_disconnect(again.module, peers[i]);
    }
    meet(pair);
    test_ep_close(&again);
    free(peers);
}

/** More senders than a turn looks at, in turns: all are heard, in order each. */
static void case_many(const pair_t *pair)
{
    enum { MANY = 40 };
    test_ep_t ep[MANY] = {{.received = 0}}, *first = &ep[0];
    name_t theirs;

    test_ep_begin(pair, first, &theirs);
    for (int i = 1; i < MANY; ++i) {
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&ep[i]));
    }
    for (int i = 0; i < MANY; ++i) {
        test_ep_connect(&ep[i], &theirs);
    }
    for (uint64_t number = 0; number < 10 * MANY; ++number) {
        /* One at a time: they are to arrive in this order, whichever sends. */
        TAP_EQ(OPAL_SUCCESS, send_one(&ep[number * 7 % MANY], number, 8));
        while (first->received <= number) {
            test_ep_turn(first);
        }
        meet(pair);
    }
    for (int i = 0; i < MANY; ++i) {
        test_ep_disconnect(&ep[i]);
        test_ep_close(&ep[i]);
    }
}

/** An address of an endpoint that has gone, whose door another one has. */
static void case_late(const pair_t *pair)
{
    test_ep_t old = {.received = 0}, ep = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &old, &theirs);
    if (1 == pair->rank) {
        test_ep_close(&old);
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&ep));
        meet(pair);
        meet(pair);
        for (int turn = 0; turn < 100; ++turn) {
            (void) ep.module->ep_progress(ep.module);
        }
        TAP_EQ(0, ep.received);
        TAP_EQ(0, ((epshm_node_module_t *) ep.module)->in_count);
        meet(pair);
        test_ep_close(&ep);
        return;
    }
    meet(pair);
    test_ep_connect(&old, &theirs);
    TAP_EQ(OPAL_SUCCESS, send_one(&old, 0, 8));
    meet(pair);
    meet(pair);
    TAP_CHECK(old.module->ep_is_left(old.module, old.peer), "nobody said that nobody is there");
    mca_btl_epshm_node_packets_reclaim((epshm_node_module_t *) old.module, UINT32_MAX);
    TAP_EQ(0, ((epshm_node_peer_t *) old.peer)->packets);
    test_ep_disconnect(&old);
    test_ep_close(&old);
}

/** Likewise, and none has its door yet: each that comes sees that at once. */
static void case_left(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    if (1 == pair->rank) {
        test_ep_close(&ep);
        meet(pair);
        meet(pair);
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&ep)); /* and the next one is at home again */
        TAP_EQ(0, atomic_load(&((epshm_node_module_t *) ep.module)->doorbell->last));
    } else {
        meet(pair);
        test_ep_connect(&ep, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, 0, 8));
        TAP_CHECK(ep.module->ep_is_left(ep.module, ep.peer), "as if somebody read it");
        test_ep_disconnect(&ep);
        meet(pair);
    }
    test_ep_close(&ep);
}

/** Where there is no memory for areas but for those that need them, messages that would only be
 * faster there go in cells, and their sender does not ask for it again and again. */
static void case_wanted_area(const pair_t *pair)
{
    enum { COUNT = 1000 };
    test_ep_t ep = {.received = 0};
    epshm_node_peer_t *peer;
    epshm_block_t block;
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    if (1 == pair->rank) {
        test_ep_connect_pipe(&ep, &theirs);
        peer = (epshm_node_peer_t *) ep.peer;
        while (mca_btl_epshm_segment_get(EPSHM_BLOCK_AREA, mca_btl_epshm_component.pipe_bytes, 2,
                                         &block)) {
        }
        for (uint64_t number = 0; number < COUNT; ++number) {
            while (OPAL_SUCCESS != send_whole(&ep, number, 300)) {
                sched_yield();
            }
        }
        TAP_CHECK(NULL == peer->out.area, "an area was taken");
        TAP_CHECK(0 > peer->medium, "it would be asked for after %d messages", peer->medium);
        while (OPAL_SUCCESS != send_whole(&ep, COUNT, 600)) { /* this one needs it */
            sched_yield();
        }
        TAP_CHECK(NULL != peer->out.area, "no area");
    }
    while (0 == pair->rank && COUNT >= ep.received) {
        test_ep_turn(&ep);
    }
    meet(pair);
    if (1 == pair->rank) {
        test_ep_disconnect(&ep);
    }
    test_ep_close(&ep);
}

/** Addresses that are none. */
static void case_addresses(const pair_t *pair)
{
    struct mca_btl_base_endpoint_t *endpoint;
    test_ep_t ep = {.received = 0};
    epshm_node_address_t address;
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    for (size_t length = 0; length < theirs.length; ++length) {
        TAP_EQ(OPAL_ERR_BAD_PARAM,
               ep.module->ep_connect(ep.module, theirs.bytes, length, &endpoint));
    }
    /* Every byte but those of addressee and, within reason, door. */
    for (size_t i = 0; i < offsetof(epshm_node_address_t, doorbell); ++i) {
        name_t wrong = theirs;

        wrong.bytes[i] ^= 0x55;
        TAP_CHECK(OPAL_SUCCESS != ep.module->ep_reach(ep.module, wrong.bytes, wrong.length),
                  "byte %zu is not looked at", i);
    }
    memcpy(&address, theirs.bytes, sizeof(address));
    address.doorbell = address.size - EPSHM_PIPE_LINE; /* in the file, but without memory */
    TAP_CHECK(OPAL_SUCCESS != ep.module->ep_reach(ep.module, &address, sizeof(address)),
              "a door where no memory is");
    meet(pair);
    test_ep_close(&ep);
}

/** What had arrived is taken in at one call, through however many pipes. */
static void case_drain(const pair_t *pair)
{
    enum { MANY = 600, EACH = 20 };
    static test_ep_t eps[MANY];
    name_t theirs;

    test_ep_begin(pair, &eps[0], &theirs);
    if (0 == pair->rank) {
        meet(pair);
        eps[0].module->ep_drain(eps[0].module);
        TAP_EQ(MANY * EACH, eps[0].received);
        meet(pair);
        test_ep_close(&eps[0]);
        return;
    }
    for (int i = 0; i < MANY; ++i) {
        if (0 < i) {
            TAP_EQ(OPAL_SUCCESS, test_ep_open(&eps[i]));
        }
        test_ep_connect_pipe(&eps[i], &theirs);
    }
    for (uint64_t number = 0; number < MANY * EACH; ++number) {
        TAP_EQ(OPAL_SUCCESS, send_one(&eps[number / EACH], number, 8));
    }
    meet(pair);
    meet(pair);
    for (int i = 0; i < MANY; ++i) {
        test_ep_disconnect(&eps[i]);
        test_ep_close(&eps[i]);
    }
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_node", 300);
    folder_make();
    run_pair("traffic both ways", case_traffic, false);
    run_pair("messages of an endpoint whose process has ended", case_end, false);
    run_pair("messages of a process that was killed", case_killed, true);
    run_pair("to an endpoint that has gone", case_receiver_closed, false);
    run_pair("fragments to an endpoint that has gone", case_fragments_to_nobody, false);
    run_pair("to a process that was killed", case_receiver_killed, true);
    run_pair("a thousand endpoints one after the other", case_flat, false);
    run_pair("a thousand visitors of one endpoint", case_visitors, false);
    run_pair("twenty thousand pairs that end at once", case_many_end, false);
    run_pair("more senders than a turn looks at", case_many, false);
    run_pair("a late word in a door", case_late, false);
    run_pair("a late word in a door that nobody has", case_left, false);
    run_pair("addresses that are none", case_addresses, false);
    run_pair("what had arrived through six hundred pipes", case_drain, false);
    segment_size = 1 << 20;
    run_pair("an area that would only be faster", case_wanted_area, false);
    return pairs_end();
}
