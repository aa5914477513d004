/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pending queues: what could not be sent at once, peer by peer, in order.
 *
 * A progress call tries a few peers, then those behind them in the list get theirs, so that a
 * turn costs the same however many are slow.  A request waits as itself, a control message as a
 * copy; if there is no memory for the copy a request waits in its place.
 *
 * An active message that waits is a control message with data.  A transport that is short of memory
 * may have no buffer for all of it (OMPI_ERR_NOT_AVAILABLE): then it goes in pieces.
 *
 * A peer waits for each control message: it is never dropped while the peer is there.  What says
 * that there is no transport now (a transport without memory for a connection) is tried again, for
 * pml_epml_transport_wait; what says that there never will be one ends the pair at once.
 *
 * Tests: unit/test_epml_pieces, p2p_order (few), random_traffic (few), slow_peer, ways
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_connection.h"
#include "pml_epml_transmit.h"

#include "ompi/constants.h"

/** Peers that are tried in one progress call, and things that are sent to one of them. */
#define EPML_PENDING_PEERS 32
#define EPML_PENDING_THINGS 64

bool mca_pml_epml_pending_has(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    return OPAL_UNLIKELY(NULL != ep->wire.pending.first)
           && NULL != epml_pending_find(&ep->wire.pending, peer->slot);
}

static void transmit_append(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                            mca_pml_epml_pending_t *pending)
{
    ++ep->wire.deferred;
    if (epml_pending_append(&ep->wire.pending, peer, peer->slot, &pending->thing)) {
        mca_pml_epml_peer_retain(peer);
        mca_pml_epml_ep_set_busy(ep, true);
    }
}

void mca_pml_epml_pending_request(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                  mca_pml_epml_request_t *request)
{
    request->pending.request = request;
    transmit_append(ep, peer, &request->pending);
}

/* ---- control messages ------------------------------------------------------------------------ */

void mca_pml_epml_pending_give_up(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer)
{
    mca_btl_ep_module_t *module = ep->transports.module[peer->transport];

    if (NULL != peer->shm || mca_pml_epml_lost_is(ep, peer)) {
        return; /* its receive queue is always there; or that has been said */
    }
    mca_pml_epml_connection_give_up(ep, peer);
    if (NULL != module && NULL != module->ep_refuse && 0 < peer->address_length) {
        module->ep_refuse(module, peer->address, peer->address_length);
    }
    EPML_SHOW_HELP("no transport back", true, (unsigned int) OMPI_PROC_MY_NAME->vpid,
                   ompi_process_info.nodename,
                   (unsigned int) mca_pml_epml_name_process(&peer->proc->super.proc_name).vpid);
}

int mca_pml_epml_pending_judge(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, int rc,
                               uint64_t *since)
{
    switch (rc) {
    case OMPI_SUCCESS:
    case OMPI_ERR_OUT_OF_RESOURCE:
        *since = 0;
        return rc;
    case OMPI_ERR_NOT_AVAILABLE:
        if (0 == *since) {
            *since = mca_pml_epml_now_ns();
        }
        if (mca_pml_epml_now_ns() - *since
            < (uint64_t) mca_pml_epml_component.transport_wait * 1000000u) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        break;
    case OMPI_ERR_UNREACH:
    case MPI_ERR_PROC_FAILED:
        return MPI_ERR_PROC_FAILED; /* which is known, and has been reported */
    default:
        break;
    }
    mca_pml_epml_pending_give_up(ep, peer);
    return MPI_ERR_PROC_FAILED;
}

int mca_pml_epml_send_control_data(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                   const void *header, size_t header_size, const void *data,
                                   size_t size)
{
    mca_pml_epml_pending_t *pending;
    uint64_t since = 0;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (!mca_pml_epml_pending_has(ep, peer)) {
        rc = mca_pml_epml_transmit(ep, peer, header, header_size, data, size);
        if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
            return rc;
        }
        rc = mca_pml_epml_pending_judge(ep, peer, rc, &since);
    } else if (OPAL_UNLIKELY(mca_pml_epml_lost_refuses(ep, peer))) {
        /* Its pending queue ends, which must not be put off: without memory the answer would go
         * behind other answers, without end (mca_pml_epml_pending_lost). */
        rc = MPI_ERR_PROC_FAILED;
    }
    if (OMPI_ERR_OUT_OF_RESOURCE != rc) {
        return rc;
    }
    pending = malloc(sizeof(*pending) + header_size + size);
    if (NULL == pending) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    pending->request = NULL;
    pending->size = header_size + size;
    pending->sent = 0;
    memcpy(pending + 1, header, header_size);
    if (0 < size) {
        memcpy((unsigned char *) (pending + 1) + header_size, data, size);
    }
    transmit_append(ep, peer, pending);
    return OMPI_SUCCESS;
}

int mca_pml_epml_send_control(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, const void *message,
                              size_t size)
{
    return mca_pml_epml_send_control_data(ep, peer, message, size, NULL, 0);
}

/* ---- progress -------------------------------------------------------------------------------- */

/** Send an active message in pieces, or the rest of it: messages of one peer's queue follow each
 * other, so its pieces do.  @return as mca_pml_epml_transmit; OMPI_SUCCESS: the last one is sent */
static int send_pieces(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                       mca_pml_epml_pending_t *pending)
{
    const mca_pml_epml_hdr_match_t *whole = (const mca_pml_epml_hdr_match_t *) (pending + 1);
    const unsigned char *data = (const unsigned char *) (whole + 1);
    const size_t size = pending->size - sizeof(*whole);
    int rc = OMPI_SUCCESS;

    while (OMPI_SUCCESS == rc && pending->sent < size) {
        const size_t left = size - pending->sent, piece = left < EPML_PIECE ? left : EPML_PIECE;
        mca_pml_epml_hdr_match_t hdr = *whole;

        hdr.common.flags = piece < left ? EPML_HDR_FLAG_MORE : 0;
        rc = mca_pml_epml_transmit(ep, peer, &hdr, sizeof(hdr), data + pending->sent, piece);
        pending->sent += OMPI_SUCCESS == rc ? piece : 0;
    }
    return rc;
}

/** Send a control message, or go on with it. */
static int send_kept(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                     mca_pml_epml_pending_t *pending)
{
    const mca_pml_epml_hdr_common_t *common = (const mca_pml_epml_hdr_common_t *) (pending + 1);
    int rc = OMPI_ERR_NOT_AVAILABLE;

    if (0 == pending->sent) {
        rc = mca_pml_epml_transmit(ep, peer, pending + 1, pending->size, NULL, 0);
    }
    return OMPI_ERR_NOT_AVAILABLE == rc && EPML_HDR_AM == common->kind
                   && sizeof(mca_pml_epml_hdr_match_t) + EPML_PIECE < pending->size
               ? send_pieces(ep, peer, pending)
               : rc;
}

/** Send one thing, which is in no queue.  @return false: not now */
static bool send_one(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                     mca_pml_epml_pending_t *pending, uint64_t *since)
{
    int rc;

    if (NULL != pending->request) {
        *since = 0;
        return OMPI_ERR_OUT_OF_RESOURCE != pending->request->ops->resume(pending->request);
    }
    rc = mca_pml_epml_pending_judge(ep, peer, send_kept(ep, peer, pending), since);
    if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        return false;
    }
    free(pending);
    return true;
}

/** Send what can be sent to one peer.  @return number of things sent */
static int progress_queue(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer)
{
    epml_pending_thing_t *first;
    int sent = 0;

    while (sent < EPML_PENDING_THINGS
           && NULL != (first = epml_pending_find(&ep->wire.pending, peer->slot))) {
        uint64_t since = first->since;
        /* Out of the queue before it goes on: a request that is through may go back to its user, or
         * wait for something else. */
        const bool over = epml_pending_take(&ep->wire.pending, first);
        const bool gone = send_one(ep, peer, mca_pml_epml_pending_of(first), &since);
        bool again = false;

        if (gone) {
            ++sent;
        } else {
            again = epml_pending_put_back(&ep->wire.pending, peer, peer->slot, first);
            first->since = since;
        }
        if (over && !again) {
            mca_pml_epml_peer_release(peer); /* the queue's; a new one has its own */
        } else if (!over && again) {
            mca_pml_epml_peer_retain(peer);
        }
        if (!gone) {
            break;
        }
    }
    return sent;
}

int mca_pml_epml_pending_progress(mca_pml_epml_ep_t *ep)
{
    uint32_t peers = ep->wire.pending.count < EPML_PENDING_PEERS ? ep->wire.pending.count
                                                                 : EPML_PENDING_PEERS;
    int events = 0;

    for (; 0 < peers && NULL != ep->wire.pending.first; --peers) {
        epml_pending_thing_t *first = ep->wire.pending.first;
        mca_pml_epml_peer_t *peer = first->peer;

        epml_pending_rotate(&ep->wire.pending, first);
        mca_pml_epml_peer_retain(peer); /* the queue may be over, and its reference gone */
        events += progress_queue(ep, peer);
        mca_pml_epml_peer_release(peer);
    }
    mca_pml_epml_ep_set_busy(ep,
                             mca_pml_epml_ep_has_transports(ep) || NULL != ep->wire.pending.first);
    return events;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/** The first thing for a peer, out of its queue.  @return NULL: there is none */
static mca_pml_epml_pending_t *take_first(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer)
{
    epml_pending_thing_t *first = epml_pending_find(&ep->wire.pending, peer->slot);

    if (NULL == first) {
        return NULL;
    }
    if (epml_pending_take(&ep->wire.pending, first)) {
        mca_pml_epml_peer_release(peer);
    }
    return mca_pml_epml_pending_of(first);
}

/** End a request that is in no queue any more. */
static void end_request(mca_pml_epml_request_t *request)
{
    if (NULL != request->ops->cut) {
        request->ops->cut(request);
    } else {
        (void) request->ops->resume(request);
    }
}

void mca_pml_epml_pending_lost(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_pending_t *pending;

    mca_pml_epml_peer_retain(peer); /* the queue's may be the last one */
    while (NULL != (pending = take_first(ep, peer))) {
        if (NULL == pending->request) {
            free(pending); /* an answer that is not waited for any more */
        } else {
            end_request(pending->request);
        }
    }
    mca_pml_epml_peer_release(peer);
}

/** A request that no peer has received, nor needs to any more? */
static bool is_unheard_in_vain(const epml_pending_thing_t *thing)
{
    const mca_pml_epml_request_t *request = mca_pml_epml_pending_of(thing)->request;

    return NULL != request && NULL != request->ops->is_unheard && request->ops->is_unheard(request)
           && mca_pml_epml_request_is_in_vain(request);
}

/** See mca_pml_epml_pending_end_in_vain; of one peer. */
static void end_in_vain(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer)
{
    epml_pending_thing_t *first;

    while (NULL != (first = epml_pending_find(&ep->wire.pending, peer->slot))
           && is_unheard_in_vain(first)) {
        end_request(take_first(ep, peer)->request);
    }
    for (epml_pending_thing_t *before = first; NULL != before && NULL != before->next;) {
        epml_pending_thing_t *thing = before->next;

        if (is_unheard_in_vain(thing)) {
            mca_pml_epml_request_t *request = mca_pml_epml_pending_of(thing)->request;

            epml_pending_take_behind(first, before);
            end_request(request);
        } else {
            before = thing;
        }
    }
}

void mca_pml_epml_pending_end_in_vain(mca_pml_epml_ep_t *ep)
{
    for (uint32_t peers = ep->wire.pending.count; 0 < peers && NULL != ep->wire.pending.first;
         --peers) {
        epml_pending_thing_t *first = ep->wire.pending.first;
        mca_pml_epml_peer_t *peer = first->peer;

        epml_pending_rotate(&ep->wire.pending, first);
        mca_pml_epml_peer_retain(peer); /* as in mca_pml_epml_pending_progress */
        end_in_vain(ep, peer);
        mca_pml_epml_peer_release(peer);
    }
}

void mca_pml_epml_pending_clear(mca_pml_epml_ep_t *ep)
{
    while (NULL != ep->wire.pending.first) {
        mca_pml_epml_pending_t *pending = take_first(ep, ep->wire.pending.first->peer);

        if (NULL == pending->request) {
            free(pending);
        }
    }
}
