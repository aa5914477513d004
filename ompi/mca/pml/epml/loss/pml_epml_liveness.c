/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Liveness of the peers that an endpoint waits for.  It is checked when nothing has arrived for a
 * while, or when a client reports a loss.
 *
 * Called by the endpoint's progress, under its lock, and by the layer service.
 *
 * Tests: death (untold_), fault (asked)
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_lost.h"

#include "ompi/constants.h"
#include "ompi/runtime/ompi_rte.h"

/** Members of a communicator that are looked at in one round, if it may be any of them. */
#define ASK_MOST 16

/** Check one peer.  The launcher is asked as well, now and then, for peers without a connection.
 *
 * @param[in] named  it is waited for, and may have given this endpoint up; else it is one of many,
 *                   which are connected to only if the launcher has no answer */
static void lost_ask_peer(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer, bool named)
{
    const bool mute = NULL == peer->shm && EPML_TRANSPORT_NET == peer->transport
                      && mca_pml_epml_pmix_watch();
    mca_pml_epml_connection_t *connection;

    if (NULL == peer->shm && OMPI_SUCCESS == mca_pml_epml_peer_connect(ep, peer, &connection)) {
        connection->module->ep_check_liveness(connection->module, connection->endpoint,
                                              named || mute);
    }
}

/** Look after some members, the next ones in the next round: they may be many. */
static void ask_some(mca_pml_epml_comm_t *comm)
{
    const mca_pml_epml_peers_t *peers = comm->peers;

    for (int i = 0; i < peers->count && i < ASK_MOST; ++i) {
        lost_ask_peer(comm->ep, peers->member[comm->loss.ask_next++ % (uint32_t) peers->count],
                      false);
    }
}

/** Check the peers that a message of this kind is awaited from, or sent to. */
static void ask_for(mca_pml_epml_comm_t *comm, int rank, int tag)
{
    if (0 <= rank) {
        lost_ask_peer(comm->ep, comm->peers->member[rank], true);
    }
    if (0 > rank || MPI_ANY_TAG > tag) {
        /* It may be any of them; a collective waits for a member that waits for another one. */
        ask_some(comm);
    }
}

/** Check the peers that a request waits for. */
static void ask_for_request(const mca_pml_epml_request_t *request)
{
    if (!request->ops->sends && NULL == request->posted.queue && NULL != request->source) {
        lost_ask_peer(request->ep, request->source, true);
    } else {
        ask_for(request->comm, request->rank, request->tag);
    }
}

/** Check the peers that a probing thread waits for. */
static void ask_for_probe(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_comm_t *comm = 0 == ep->loss.probed.context
                                    ? NULL
                                    : mca_pml_epml_comm_find(ep, ep->loss.probed.context);

    if (NULL != comm) { /* else it has been freed since */
        ask_for(comm, ep->loss.probed.source, ep->loss.probed.tag);
    }
    ep->loss.probed.context = 0; /* a thread that still probes comes again */
}

void mca_pml_epml_liveness_check(mca_pml_epml_ep_t *ep)
{
    MCA_BTL_EP_HOLD_CANCEL();
    const uint64_t interval = (uint64_t) mca_pml_epml_component.liveness_interval * 1000000u;
    const uint64_t now = mca_pml_epml_now_ns();

    if (EPML_QUIET_LONG == ep->engine.quiet || 0 == ep->loss.quiet_ns) {
        ep->loss.quiet_ns = now; /* it has just become quiet */
    }
    if (0 == interval || (!ep->loss.ask_soon && now - ep->loss.quiet_ns < interval)) {
        return;
    }
    ep->loss.ask_soon = false;
    ep->loss.quiet_ns = now;
    for (const epml_match_posted_t *posted = epml_match_posted_after(&ep->match, NULL);
         NULL != posted; posted = epml_match_posted_after(&ep->match, posted)) {
        ask_for_request((const mca_pml_epml_request_t *) ((const char *) posted
                                                          - offsetof(mca_pml_epml_request_t,
                                                                     posted)));
    }
    for (uint32_t i = 0; i < ep->numbers.count; ++i) {
        mca_pml_epml_request_t *request = epml_request_ids_slot(&ep->numbers, i)->request;

        if (NULL == request || atomic_load_explicit(&request->done, memory_order_relaxed)) {
            continue;
        }
        ask_for_request(request);
        if (NULL != request->ops->remind) {
            request->ops->remind(request);
        }
    }
    ask_for_probe(ep);
    for (const epml_pending_thing_t *queue = ep->wire.pending.first; NULL != queue;
         queue = queue->next_queue) {
        lost_ask_peer(ep, queue->peer, true);
    }
}

/** Beyond a network a peer may be lost to one member and not to another one, which will find
 * out. */
static inline bool is_same_process(const mca_pml_epml_peer_t *peer)
{
    return NULL == peer->shm && EPML_TRANSPORT_NODE == peer->transport;
}

/** Note a member's process.  @return had it been noted? */
static bool note_process(unsigned char *noted, const mca_pml_epml_peer_t *peer)
{
    const uint32_t process = mca_pml_epml_process_number(&peer->proc->super.proc_name);
    const unsigned char bit = (unsigned char) (1u << process % 8);
    const bool was = 0 != (noted[process / 8] & bit);

    noted[process / 8] |= bit;
    return was;
}

/** Check the local peers.  A process dies as a whole: one member of each is enough, and a peer with
 * a connection needs no memory of the node for it.
 *
 * @param[in,out] noted  a bit a process; NULL: there was no memory */
static void liveness_check_local(mca_pml_epml_comm_t *comm, unsigned char *noted)
{
    const mca_pml_epml_peers_t *peers = comm->peers;

    for (int32_t i = 0; i < peers->count; ++i) {
        mca_pml_epml_peer_t *peer = peers->member[i];

        if (is_same_process(peer) && NULL != mca_pml_epml_connection_find(comm->ep, peer)) {
            lost_ask_peer(comm->ep, peer, false);
            if (NULL != noted) {
                (void) note_process(noted, peer);
            }
        }
    }
    for (int32_t i = 0; NULL != noted && i < peers->count; ++i) {
        if (is_same_process(peers->member[i]) && !note_process(noted, peers->member[i])) {
            lost_ask_peer(comm->ep, peers->member[i], false);
        }
    }
}

void mca_pml_epml_lost_look_after(mca_pml_epml_comm_t *comm)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_pml_epml_ep_t *ep = comm->ep;

    mca_pml_epml_lock(ep);
    if (0 > comm->loss.rank) {
        unsigned char *noted = calloc(mca_pml_epml_process_numbers() / 8 + 1, 1);

        liveness_check_local(comm, noted);
        free(noted);
    }
    if (mca_pml_epml_lost_has_unseen(ep)) {
        mca_pml_epml_lost_look(ep);
    }
    mca_pml_epml_unlock(ep);
}
