/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages without a receive: see pml_epml_flow.h.
 *
 * Tests: flood, slow_peer (held), random_traffic (held)
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_connection.h"
#include "pml_epml_flow.h"
#include "pml_epml_transmit.h"

#include "ompi/constants.h"

/** Messages kept of a sender that was sent HOLD, after which it is sent again: it may have
 * forgotten (its connection is a new one). */
#define EPML_HOLD_AGAIN 256

/* ---- the receiver's side --------------------------------------------------------------------- */

mca_pml_epml_unexpected_t *mca_pml_epml_unexpected_new(mca_pml_epml_ep_t *ep,
                                                       const mca_pml_epml_hdr_rndv_t *hdr,
                                                       const void *data, size_t size)
{
    const size_t rest = EPML_HDR_EAGER == hdr->match.common.kind ? 0 : EPML_RNDV_REST;
    mca_pml_epml_unexpected_t *message = malloc(mca_pml_epml_unexpected_cost(rest + size));

    if (OPAL_UNLIKELY(NULL == message)) {
        return NULL;
    }
    message->common = hdr->match.common;
    message->size = (uint32_t) (rest + size);
    memcpy(message->data, &hdr->length, rest);
    memcpy(message->data + rest, data, size);
    ep->flow.bytes += mca_pml_epml_unexpected_cost(rest + size);
    return message;
}

void mca_pml_epml_flow_init(mca_pml_epml_ep_t *ep)
{
    ep->flow.limit = mca_pml_epml_component.unexpected_limit;
}

/** Notify the local peers; others are notified when they send. */
static void set_full(mca_pml_epml_ep_t *ep, bool full)
{
    if (NULL == ep->life.self) {
        return; /* no other thread knows it yet */
    }
    ep->flow.times_full += full && !ep->flow.full;
    ep->flow.full = full;
    /* Relaxed: see mca_pml_epml_flow_is_held. */
    atomic_store_explicit(&ep->life.self->full, full, memory_order_relaxed);
}

static int send_flow(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, mca_pml_epml_hdr_kind_t kind)
{
    const mca_pml_epml_hdr_flow_t hdr = {.common = {.kind = kind}, .uid = ep->life.uid};

    return mca_pml_epml_send_control(ep, peer, &hdr, sizeof(hdr));
}

/** Tell a sender in another process to hold. */
static void tell_to_hold(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender)
{
    mca_pml_epml_connection_t *connection;

    if (OMPI_SUCCESS != mca_pml_epml_peer_connect(ep, sender, &connection)) {
        return;
    }
    if (NULL != connection->holding && ++connection->kept_since_hold < EPML_HOLD_AGAIN) {
        return;
    }
    if (OMPI_SUCCESS != send_flow(ep, sender, EPML_HDR_HOLD)) {
        return; /* the next message of that sender brings another try */
    }
    ++ep->flow.holds_sent;
    connection->kept_since_hold = 0;
    if (NULL == connection->holding) {
        /* The reference keeps address and slot until it has been sent GO. */
        mca_pml_epml_peer_retain(sender);
        connection->holding = sender;
        ++ep->flow.holding_count;
    }
}

void mca_pml_epml_flow_kept(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender,
                            const mca_pml_epml_unexpected_t *message)
{
    if (ep->flow.bytes > ep->flow.most) {
        ep->flow.most = ep->flow.bytes;
    }
    if (OPAL_LIKELY(!ep->flow.full)) {
        if (OPAL_LIKELY(ep->flow.bytes <= ep->flow.limit)) {
            return;
        }
        set_full(ep, true);
    }
    /* One whose data did not come may hold already; if not, it is notified with those that do. */
    if (NULL == sender->shm && EPML_HDR_EAGER == message->common.kind) {
        tell_to_hold(ep, sender);
    }
}

void mca_pml_epml_flow_exhausted(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *sender)
{
    mca_pml_epml_requests_trim(ep);
    ep->flow.exhausted = true;
    set_full(ep, true);
    if (NULL == sender->shm) {
        tell_to_hold(ep, sender);
    }
}

void mca_pml_epml_flow_go(mca_pml_epml_ep_t *ep)
{
    if (ep->flow.full) {
        set_full(ep, false);
    }
    for (uint32_t i = 0; 0 < ep->flow.holding_count && i < ep->wire.connection_size; ++i) {
        mca_pml_epml_peer_t *peer = ep->wire.connections[i].holding;

        if (NULL == peer) {
            continue;
        }
        /* Without memory it goes on holding: mca_pml_epml_flow_check tries again.  After any other
         * error nothing reaches it any more. */
        if (OMPI_ERR_OUT_OF_RESOURCE == send_flow(ep, peer, EPML_HDR_GO)) {
            continue;
        }
        ++ep->flow.gos_sent;
        if (i >= ep->wire.connection_size || peer != ep->wire.connections[i].holding) {
            return; /* it had to be connected anew, and the table has grown: later */
        }
        ep->wire.connections[i].holding = NULL;
        --ep->flow.holding_count;
        mca_pml_epml_peer_release(peer);
    }
}

void mca_pml_epml_flow_clear(mca_pml_epml_ep_t *ep)
{
    for (uint32_t i = 0; i < ep->wire.connection_size; ++i) {
        if (NULL != ep->wire.connections[i].holding) {
            mca_pml_epml_peer_release(ep->wire.connections[i].holding);
            ep->wire.connections[i].holding = NULL;
        }
    }
    ep->flow.holding_count = 0;
}

/* ---- the sender's side ----------------------------------------------------------------------- */

static void set_held(mca_pml_epml_ep_t *ep, mca_pml_epml_connection_t *connection, bool held)
{
    if (held != connection->held) {
        connection->held = held;
        ep->flow.held_count += held ? 1 : -1;
    }
}

bool mca_pml_epml_flow_got_hold(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    const mca_pml_epml_connection_t *connection = mca_pml_epml_connection_find(ep, peer);

    return NULL != connection && connection->held;
}

void mca_pml_epml_flow_forget(mca_pml_epml_ep_t *ep, mca_pml_epml_connection_t *connection)
{
    set_held(ep, connection, false);
}

static bool flow_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_flow_t *hdr = message->hdr;
    mca_pml_epml_peer_t *peer = mca_pml_epml_peer_find(hdr->uid);
    mca_pml_epml_connection_t *connection = NULL;

    if (NULL != peer && NULL == peer->shm) {
        connection = mca_pml_epml_connection_find(ep, peer);
    }
    if (NULL != connection) {
        set_held(ep, connection, EPML_HDR_HOLD == hdr->common.kind);
        ep->flow.holds_received += EPML_HDR_HOLD == hdr->common.kind;
    } else {
        /* We have nothing to do with that endpoint any more: the communicator is gone. */
        mca_pml_epml_ep_drop(ep);
    }
    if (NULL != peer) {
        mca_pml_epml_peer_release(peer);
    }
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_flow_kind = {.size = sizeof(mca_pml_epml_hdr_flow_t),
                                                    .from = EPML_FROM_UID,
                                                    .uid = offsetof(mca_pml_epml_hdr_flow_t, uid),
                                                    .arrived = flow_arrived};
