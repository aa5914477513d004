/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pairs without pipes where memory is short, between two processes and without any MPI: what packets
 * take, and what goes all the same when there is none left.
 *
 * Guards: btl_epshm_node_packet.c, btl_epshm_node_pipe.c, btl_epshm_node_send.c
 */

#include "test_epshm_node.h"

#include "opal/datatype/opal_convertor.h"
#include "opal/mca/accelerator/base/base.h"

/** Rank 1 has a thousand peers, and sends each of them three messages, one after the other is read:
 * its memory is that of the messages on their way, not that of a thousand pairs. */
static void case_memory(const pair_t *pair)
{
    enum { MANY = 1000, EACH = 3 };
    static struct mca_btl_base_endpoint_t *peers[MANY];
    test_ep_t ep = {.received = 0};
    uint64_t number = 0;
    name_t theirs;

    mca_btl_epshm_component.pipes = 0; /* or what is in pipes is overtaken: all lead to one */
    test_ep_begin(pair, &ep, &theirs);
    for (int i = 0; 1 == pair->rank && i < MANY; ++i) {
        test_ep_connect(&ep, &theirs);
        peers[i] = ep.peer;
    }
    for (int round = 0; round < EACH; ++round) {
        for (int i = 0; 1 == pair->rank && i < MANY; ++i) {
            int rc;

            ep.peer = peers[i];
            do {
                rc = send_whole(&ep, number, 1000);
            } while (OPAL_ERR_NOT_AVAILABLE == rc && 0 == sched_yield());
            TAP_EQ(OPAL_SUCCESS, rc);
            ++number;
        }
    }
    while (0 == pair->rank && MANY * EACH > ep.received) {
        test_ep_turn(&ep);
    }
    TAP_CHECK((1 << 20) > memory_taken(), "%llu bytes", (unsigned long long) memory_taken());
    meet(pair);
    for (int i = 0; 1 == pair->rank && i < MANY; ++i) {
        ep.module->ep_disconnect(ep.module, peers[i]);
    }
    meet(pair);
    test_ep_close(&ep);
}

/** Take in as many messages as rank 1 says it has sent. */
static void receive_all(const pair_t *pair, test_ep_t *ep)
{
    uint64_t sent = 0;

    hear(pair, &sent, sizeof(sent));
    while (sent > ep->received) {
        test_ep_turn(ep);
    }
    meet(pair);
}

/** Rank 1's part of it. */
static void await_received(const pair_t *pair, uint64_t sent)
{
    tell(pair, &sent, sizeof(sent));
    meet(pair);
}

/** Memory until there is none: no message but those that are too large is refused, as there is always
 * a way for a small one to a peer that has read what was sent to it. */
static void case_no_room(const pair_t *pair)
{
    enum { MANY = 200 };
    static struct mca_btl_base_endpoint_t *peers[MANY];
    test_ep_t ep = {.received = 0};
    uint64_t sent = 0;
    name_t theirs;
    int rc = OPAL_SUCCESS;

    mca_btl_epshm_component.pipes = MANY;
    test_ep_begin(pair, &ep, &theirs);
    if (1 == pair->rank) {
        receive_all(pair, &ep);
        test_ep_close(&ep);
        return;
    }
    for (int i = 0; i < MANY; ++i) {
        TAP_EQ(OPAL_SUCCESS,
               ep.module->ep_connect(ep.module, theirs.bytes, theirs.length, &peers[i]));
    }
    for (int i = 0; i < MANY / 2; ++i) {
        (void) mca_btl_epshm_node_open_pipe((epshm_node_peer_t *) peers[i]);
    }
    TAP_CHECK(MANY / 2 > ((epshm_node_module_t *) ep.module)->pipes, "%u pipes in 512 KiB",
              ((epshm_node_module_t *) ep.module)->pipes);
    ep.peer = peers[MANY - 1];
    while (OPAL_SUCCESS == (rc = send_whole(&ep, sent, 600))) {
        ++sent;
        ep.peer = peers[MANY / 2 + (int) sent % (MANY / 2 - 1)];
    }
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, rc);
    for (int i = 0; i < MANY; ++i) {
        epshm_node_peer_t *peer = (epshm_node_peer_t *) peers[i];

        ep.peer = peers[i];
        if (NULL == peer->out.pipe && 0 == peer->packets) {
            TAP_EQ(OPAL_SUCCESS, send_whole(&ep, sent++, 400));
        }
    }
    TAP_CHECK(MANY / 4 < sent, "only %llu messages", (unsigned long long) sent);
    await_received(pair, sent);
    for (int i = 0; i < MANY; ++i) {
        ep.module->ep_disconnect(ep.module, peers[i]);
    }
    test_ep_close(&ep);
}

/** To the peers from the second one on, until there is no packet of 1 KiB left.
 * @return number of messages sent so far */
static uint64_t use_up(test_ep_t *ep, struct mca_btl_base_endpoint_t **peers, int count,
                       uint64_t sent)
{
    int rc = OPAL_SUCCESS;

    for (int i = 1; i < count && OPAL_ERR_NOT_AVAILABLE != rc; ++i) {
        ep->peer = peers[i];
        while (OPAL_SUCCESS == (rc = send_whole(ep, sent, 1000))) {
            ++sent;
        }
    }
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, rc);
    ep->peer = peers[0];
    return sent;
}

/** Pack a message of 900 bytes, and send what can be sent of it.  @return has any been? */
static bool send_first_part(test_ep_t *ep, uint64_t number)
{
    enum { HEADER = 8, DATA = 892 };
    mca_btl_base_module_t *btl = &ep->module->super;
    mca_btl_base_descriptor_t *descriptor;
    opal_convertor_t *convertor;
    unsigned char data[HEADER + DATA];
    size_t size = DATA;

    /* Convertors ask where memory lies, so somebody must answer. */
    TAP_EQ(OPAL_SUCCESS,
           mca_base_framework_open(&opal_accelerator_base_framework, MCA_BASE_OPEN_DEFAULT));
    TAP_EQ(OPAL_SUCCESS, opal_accelerator_base_select());
    TAP_EQ(OPAL_SUCCESS, opal_datatype_init());
    convertor = opal_convertor_create((int32_t) opal_local_arch, 0);
    for (size_t i = 0; i < sizeof(data); ++i) {
        data[i] = pattern(number, i);
    }
    (void) opal_convertor_prepare_for_send(convertor, &opal_datatype_uint1, DATA, data + HEADER);
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, btl->btl_sendi(btl, ep->peer, convertor, data, HEADER, DATA,
                                                  MCA_BTL_NO_ORDER, 0, MCA_BTL_EP_TAG, NULL));
    descriptor = btl->btl_prepare_src(btl, ep->peer, convertor, MCA_BTL_NO_ORDER, HEADER, &size, 0);
    TAP_CHECK(NULL != descriptor, "no part of it can be sent");
    if (NULL != descriptor) {
        TAP_EQ(EPSHM_PIPE_INLINE_MAX - HEADER, size);
        memcpy(descriptor->des_segments->seg_addr.pval, data, HEADER);
        TAP_EQ(1, btl->btl_send(btl, ep->peer, descriptor, MCA_BTL_EP_TAG));
    }
    OBJ_RELEASE(convertor);
    (void) mca_base_framework_close(&opal_accelerator_base_framework);
    return NULL != descriptor;
}

/** Memory of a packet of 2 KiB is free, and there is none for one of 1 KiB: a message that would fit
 * in 1 KiB goes in parts, or is to be announced. */
static void case_other_sizes(const pair_t *pair)
{
    enum { MANY = 80 };
    static struct mca_btl_base_endpoint_t *peers[MANY];
    test_ep_t ep = {.received = 0};
    uint64_t sent = 0;
    name_t theirs;

    mca_btl_epshm_component.pipes = 0;
    mca_btl_epshm_component.packet_bytes = segment_size;
    test_ep_begin(pair, &ep, &theirs);
    if (0 == pair->rank) {
        receive_all(pair, &ep);
        receive_all(pair, &ep);
        test_ep_close(&ep);
        return;
    }
    for (int i = 0; i < MANY; ++i) {
        test_ep_connect(&ep, &theirs);
        peers[i] = ep.peer;
    }
    TAP_EQ(OPAL_SUCCESS, send_one(&ep, sent++, 8));
    TAP_EQ(OPAL_SUCCESS, send_one(&ep, sent++, 2000));
    await_received(pair, sent);
    mca_btl_epshm_node_packets_reclaim((epshm_node_module_t *) ep.module, UINT32_MAX);
    sent = use_up(&ep, peers, MANY, sent);
    sent += send_first_part(&ep, sent);
    await_received(pair, sent);
    for (int i = 0; i < MANY; ++i) {
        ep.module->ep_disconnect(ep.module, peers[i]);
    }
    test_ep_close(&ep);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_short", 300);
    folder_make();
    run_pair("memory of a thousand pairs", case_memory, false);
    segment_size = 524288;
    run_pair("no memory left", case_no_room, false);
    run_pair("memory left for other sizes", case_other_sizes, false);
    return pairs_end();
}
