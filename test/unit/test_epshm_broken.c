/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What two endpoints of a node share makes no sense: both learn of it, once, and nobody is misled.
 *
 * Guards: btl_epshm_peer_proc.c, btl_epshm_node_lost.c
 */

#include "test_epshm_losses.h"

/* ---- what two endpoints share makes no sense ------------------------------------------------- */

/** Nonsense as the next message of a pipe. */
static void corrupt_cell(test_ep_t *ep)
{
    epshm_pipe_out_t *out = &((epshm_node_peer_t *) ep->peer)->out;

    memset(epshm_pipe_out_cell(out, 0)->data, 0xff, EPSHM_PIPE_CELL_PAYLOAD);
    epshm_pipe_publish(out, 1);
}

/** Nonsense where the next message begins: a number that none has there, ever. */
static void corrupt_sequence(test_ep_t *ep)
{
    epshm_pipe_out_t *out = &((epshm_node_peer_t *) ep->peer)->out;

    atomic_store_explicit(&epshm_pipe_out_cell(out, 0)->seq, out->tail + 5, memory_order_relaxed);
}

/** Rank 1 sends nonsense, after three messages; rank 0 has sent it something before, or has not.
 * Both learn that they have lost each other, and what another endpoint sends still arrives. */
static void corrupt_pipe(const pair_t *pair, void (*corrupt)(test_ep_t *), bool both_ways)
{
    test_ep_t ep = {.received = 0}, good = {.received = 3};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (1 == pair->rank) {
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&good));
        test_ep_connect_pipe(&good, &theirs);
        test_ep_connect_pipe(&ep, &theirs);
        for (uint64_t number = 0; number < 3; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&ep, number, 8 + 300 * number));
        }
        corrupt(&ep);
    } else if (both_ways) {
        test_ep_connect_pipe(&ep, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, 0, 8));
    }
    meet(pair);
    test_ep_turns(&ep);
    meet(pair);
    test_ep_turns(&ep);
    if (0 == pair->rank) {
        TAP_EQ(1, atomic_load(&mca_btl_epshm_component.pipes_broken));
        TAP_EQ(3, ep.received);
        TAP_EQ(both_ways ? 1 : 0, losses);
        TAP_EQ(both_ways ? 0 : 1, sender_losses);
        TAP_CHECK(both_ways || 0 == memcmp(&theirs, &lost_sender, sizeof(theirs)),
                  "somebody else is lost");
        meet(pair);
        meet(pair);
        while (4 > ep.received) {
            test_ep_turn(&ep);
        }
    } else {
        TAP_EQ(1, losses);
        TAP_EQ(0, sender_losses);
        TAP_EQ(both_ways ? 1 : 0, ep.received);
        TAP_CHECK(epshm_pipe_is_refused(((epshm_node_peer_t *) ep.peer)->out.pipe), "it is read");
        meet(pair);
        TAP_EQ(OPAL_SUCCESS, send_one(&good, 3, 8));
        meet(pair);
    }
    meet(pair);
    TAP_EQ(0, ((epshm_node_module_t *) ep.module)->in_count - (0 == pair->rank));
    if (1 == pair->rank) {
        test_ep_disconnect(&good);
        test_ep_close(&good);
    }
    if (1 == pair->rank || both_ways) {
        test_ep_disconnect(&ep);
    }
    test_ep_close(&ep);
}

static void case_corrupt(const pair_t *pair)
{
    corrupt_pipe(pair, corrupt_cell, false);
}

static void case_corrupt_sequence(const pair_t *pair)
{
    corrupt_pipe(pair, corrupt_sequence, false);
}

static void case_corrupt_both(const pair_t *pair)
{
    corrupt_pipe(pair, corrupt_cell, true);
}

/** Rank 0 reads a pipe of rank 1's and writes nonsense of how far it is.  What rank 1 had sent
 * arrives, and both know.  If rank 0 has sent something, too, rank 1 reads no more of that. */
static void corrupt_head(const pair_t *pair, bool both_ways)
{
    test_ep_t ep = {.received = 0};
    int rc = OPAL_SUCCESS;
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (0 == pair->rank && both_ways) {
        test_ep_connect_pipe(&ep, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, 0, 8));
    }
    meet(pair);
    if (1 == pair->rank) {
        test_ep_turns(&ep);
        TAP_EQ(both_ways ? 1 : 0, ((epshm_node_module_t *) ep.module)->in_count);
        test_ep_connect_pipe(&ep, &theirs);
        atomic_store(&((epshm_node_peer_t *) ep.peer)->out.pipe->head, UINT64_C(1) << 60);
        for (int i = 0; i < 10000 && OPAL_SUCCESS == rc; ++i) {
            rc = send_one(&ep, (uint64_t) i, 8);
            ep.seed += OPAL_SUCCESS == rc;
        }
        TAP_EQ(OPAL_ERR_UNREACH, rc);
        TAP_EQ(1, losses);
        test_ep_turns(&ep);
        TAP_EQ(0, ((epshm_node_module_t *) ep.module)->in_count);
        tell(pair, &ep.seed, sizeof(ep.seed));
        meet(pair);
        test_ep_disconnect(&ep);
    } else {
        uint64_t sent;

        hear(pair, &sent, sizeof(sent));
        test_ep_turns(&ep);
        TAP_EQ(sent, ep.received);
        TAP_EQ(both_ways ? 1 : 0, losses);
        TAP_EQ(both_ways ? 0 : 1, sender_losses);
        TAP_CHECK(both_ways || 0 == memcmp(&theirs, &lost_sender, sizeof(theirs)),
                  "somebody else is lost");
        meet(pair);
        if (both_ways) {
            test_ep_disconnect(&ep);
        }
    }
    test_ep_close(&ep);
}

static void case_corrupt_head(const pair_t *pair)
{
    corrupt_head(pair, false);
}

static void case_corrupt_head_both(const pair_t *pair)
{
    corrupt_head(pair, true);
}

/** Rank 0 cannot send to rank 1, of which more waits than a turn takes, and refuses it: what had
 * been sent arrives, and rank 1 learns of it, once.  So it is whether a look that is due comes upon
 * the pipe first or one that another word in the door brings about. */
static void refuse(const pair_t *pair, bool by_doorbell)
{
    test_ep_t ep = {.received = 0}, other = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (1 == pair->rank) {
        test_ep_connect_pipe(&ep, &theirs);
        for (uint64_t number = 0; number < 100; ++number) {
            TAP_EQ(OPAL_SUCCESS, send_one(&ep, number, 8));
        }
        meet(pair);
        meet(pair);
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&other));
        if (by_doorbell) {
            test_ep_connect_pipe(&other, &theirs);
        }
        meet(pair);
        meet(pair);
        test_ep_turns(&ep);
        TAP_EQ(1, losses);
        test_ep_disconnect(&ep);
        if (by_doorbell) {
            test_ep_disconnect(&other);
        }
        test_ep_close(&other);
    } else {
        epshm_node_module_t *module = (epshm_node_module_t *) ep.module;

        meet(pair);
        (void) ep.module->ep_progress(ep.module);
        TAP_CHECK(100 > ep.received, "it has all been taken at once");
        ep.module->ep_refuse(ep.module, theirs.bytes, theirs.length);
        meet(pair);
        meet(pair);
        module->progress_calls = by_doorbell ? 0 : UINT32_MAX; /* no look at the pipes, or one */
        (void) ep.module->ep_progress(ep.module);
        TAP_EQ(by_doorbell ? 1 : 0, module->in_count);
        TAP_EQ(100, ep.received);
        TAP_EQ(0, losses + sender_losses); /* the owner knows */
        meet(pair);
    }
    test_ep_close(&ep);
}

static void case_refuse(const pair_t *pair)
{
    refuse(pair, false);
}

static void case_refuse_by_doorbell(const pair_t *pair)
{
    refuse(pair, true);
}

/** Rank 1 is refused before it has sent anything: it learns of that when it does. */
static void case_refuse_early(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (0 == pair->rank) {
        ep.module->ep_refuse(ep.module, theirs.bytes, theirs.length);
        meet(pair);
        meet(pair);
        test_ep_turns(&ep);
        TAP_EQ(0, ((epshm_node_module_t *) ep.module)->in_count);
        TAP_EQ(0, losses + sender_losses);
        meet(pair);
    } else {
        meet(pair);
        test_ep_connect_pipe(&ep, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, 0, 8));
        meet(pair);
        meet(pair);
        test_ep_turns(&ep);
        TAP_EQ(1, losses);
        test_ep_disconnect(&ep);
    }
    meet(pair);
    test_ep_close(&ep);
}

/** All are refused: one that has a pipe here, and one that comes later. */
static void case_refuse_all(const pair_t *pair)
{
    test_ep_t ep = {.received = 0}, other = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (1 == pair->rank) {
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&other));
        test_ep_watch(&other);
        test_ep_connect_pipe(&ep, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, 0, 8));
        meet(pair);
        meet(pair);
        test_ep_connect_pipe(&other, &theirs);
        test_ep_turns(&ep);
        TAP_EQ(1, losses);
        test_ep_turns(&other);
        TAP_EQ(2, losses);
        test_ep_disconnect(&ep);
        test_ep_disconnect(&other);
        test_ep_close(&other);
    } else {
        meet(pair);
        (void) ep.module->ep_progress(ep.module);
        TAP_EQ(1, ep.received);
        ep.module->ep_refuse(ep.module, NULL, 0);
        TAP_EQ(OPAL_ERR_UNREACH, ep.module->ep_progress(ep.module));
        meet(pair);
    }
    test_ep_close(&ep);
}

/** Nonsense in the list of a door: each sender that has left word in it, or does so later, learns
 * that it is not heard, and the door's owner that it hears none. */
static void case_corrupt_doorbell(const pair_t *pair)
{
    test_ep_t ep = {.received = 0}, heard = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    test_ep_watch(&ep);
    if (1 == pair->rank) {
        TAP_EQ(OPAL_SUCCESS, test_ep_open(&heard));
        test_ep_connect_pipe(&heard, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&heard, 0, 8));
        meet(pair);
        meet(pair);
        test_ep_connect_pipe(&ep, &theirs);
        TAP_EQ(OPAL_SUCCESS, send_one(&ep, 1, 8));
        atomic_store(&((epshm_node_peer_t *) ep.peer)->doorbell->last, 0xdeadbeefcafe);
        meet(pair);
        meet(pair);
        test_ep_turns(&ep);
        TAP_EQ(1, losses);
        test_ep_disconnect(&ep);
        test_ep_connect_pipe(&ep, &theirs); /* late */
        test_ep_turns(&ep);
        TAP_EQ(2, losses);
        test_ep_disconnect(&ep);
        TAP_CHECK(epshm_pipe_is_refused(((epshm_node_peer_t *) heard.peer)->out.pipe),
                  "whom it had heard does not know that it hears no more");
        test_ep_disconnect(&heard);
        test_ep_close(&heard);
    } else {
        meet(pair);
        test_ep_turns(&ep);
        TAP_EQ(1, ep.received);
        meet(pair);
        meet(pair);
        TAP_CHECK(0 > ep.module->ep_progress(ep.module), "it goes on");
        TAP_CHECK(0 > ep.module->ep_progress(ep.module), "it goes on again");
        TAP_EQ(1, ep.received);
        meet(pair);
    }
    meet(pair);
    test_ep_close(&ep);
}

/** The words of a door lead to one another for ever. */
static void case_endless_doorbell(const pair_t *pair)
{
    test_ep_t ep = {.received = 0};
    name_t theirs;

    test_ep_begin(pair, &ep, &theirs);
    if (1 == pair->rank) {
        epshm_node_peer_t *peer;

        test_ep_connect_pipe(&ep, &theirs);
        peer = (epshm_node_peer_t *) ep.peer;
        atomic_store(&peer->out.pipe->next, atomic_load(&peer->doorbell->last));
        meet(pair);
        meet(pair);
        test_ep_disconnect(&ep);
    } else {
        meet(pair);
        TAP_CHECK(0 > ep.module->ep_progress(ep.module), "it goes on");
        meet(pair);
    }
    test_ep_close(&ep);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_broken", 300);
    folder_make();
    run_pair("a corrupt pipe", case_corrupt, false);
    run_pair("a corrupt place in a pipe", case_corrupt_sequence, false);
    run_pair("a corrupt pipe of two", case_corrupt_both, false);
    run_pair("a corrupt pipe, as its sender sees", case_corrupt_head, false);
    run_pair("a corrupt pipe of two, as its sender sees", case_corrupt_head_both, false);
    run_pair("a sender that is refused", case_refuse, false);
    run_pair("a sender that is refused when another one comes", case_refuse_by_doorbell, false);
    run_pair("all senders are refused", case_refuse_all, false);
    run_pair("a sender that is refused before it sends", case_refuse_early, false);
    run_pair("a corrupt door", case_corrupt_doorbell, false);
    run_pair("a door without an end", case_endless_doorbell, false);
    return pairs_end();
}
