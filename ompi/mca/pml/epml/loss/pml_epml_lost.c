/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Peers that are lost: what waits for them ends with MPI_ERR_PROC_FAILED.
 *
 * There are two ways to learn of a loss.  The launcher tells of a process that has died: that is
 * true for all endpoints of this process, and noted in a set that they look at.  A transport finds
 * that it cannot reach a peer: that is true for the one endpoint whose transport it is, and noted
 * in its table of connections.  Notes are made wherever a loss is reported; what follows from them
 * is done by each endpoint itself, under its lock, at its next progress call (mca_pml_epml_lost_look).
 *
 * A peer that is lost stays lost for this endpoint.  docs/losses.md, "When something breaks", has
 * the rules.  The launcher's notices are in pml_epml_lost_launcher.c; pml_epml_liveness.c checks
 * the liveness of silent peers.
 *
 * Tests: cut, death, fault
 */

#include "ompi_config.h"

#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_leave.h"
#include "pml_epml_lost.h"

#include "ompi/constants.h"
#include "ompi/runtime/ompi_rte.h"

/** "rank 3 on host x, endpoint [[1,2],3]" */
static void describe_peer(const opal_process_name_t *name, char *text, size_t size)
{
    const int used = mca_pml_epml_lost_describe_process(name, text, size);

    if ((size_t) used < size) {
        (void) snprintf(text + used, size - (size_t) used, ", endpoint %s", OMPI_NAME_PRINT(name));
    }
}

void mca_pml_epml_lost_describe(mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *endpoint, char *text, size_t size)
{
    const mca_pml_epml_ep_t *ep = module->ep_context;
    const opal_process_name_t *name = NULL;

    if (NULL != ep && NULL == endpoint && NULL != ep->wire.connecting) {
        name = &ep->wire.connecting->proc->super.proc_name;
    }
    for (uint32_t i = 0; NULL != ep && NULL != endpoint && i < ep->wire.connection_size; ++i) {
        if (endpoint == ep->wire.connections[i].endpoint) {
            name = &ep->wire.connections[i].name;
        }
    }
    if (NULL == name) {
        (void) snprintf(text, size, "unknown");
        return;
    }
    describe_peer(name, text, size);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/** The launcher is not waited for again for each of many peers that are lost together. */
#define WAIT_AGAIN_NS (UINT64_C(10000) * 1000000)

/** When a transport loses a peer, its process has mostly died, and the launcher is about to say so,
 * or to end the job, with the cause that the transport does not know. */
static void wait_for_launcher(mca_pml_epml_ep_t *ep, const opal_process_name_t *name)
{
    if (0 != ep->loss.launcher_ns && mca_pml_epml_now_ns() - ep->loss.launcher_ns < WAIT_AGAIN_NS) {
        return;
    }
    (void) mca_pml_epml_lost_wait(name);
    ep->loss.launcher_ns = mca_pml_epml_now_ns();
}

/** The peer of this address, on any of the endpoint's communicators. */
static mca_pml_epml_peer_t *find_by_address(const mca_pml_epml_peers_t *peers, const void *address,
                                            size_t length)
{
    for (int32_t i = 0; i < peers->count; ++i) {
        mca_pml_epml_peer_t *peer = peers->member[i];

        if (NULL == peer->shm && length == peer->address_length
            && 0 == memcmp(address, peer->address, length)) {
            return peer;
        }
    }
    return NULL;
}

static mca_pml_epml_peer_t *find_sender(mca_pml_epml_ep_t *ep, const void *address, size_t length)
{
    const mca_pml_epml_comm_t *comm;
    mca_pml_epml_peer_t *peer = NULL;
    void *at = NULL;

    while (NULL == peer && NULL != (comm = mca_pml_epml_comms_next(ep, &at))) {
        peer = find_by_address(comm->peers, address, length);
        if (NULL == peer && comm->local != comm->peers) {
            peer = find_by_address(comm->local, address, length);
        }
    }
    return peer;
}

bool mca_pml_epml_lost_sender(mca_btl_ep_module_t *module, const void *address, size_t length,
                              char *peer_text, size_t size)
{
    mca_pml_epml_ep_t *ep = module->ep_context;
    mca_pml_epml_peer_t *peer = find_sender(ep, address, length);
    mca_pml_epml_connection_t *connection;

    if (NULL == peer) {
        return true; /* nobody that anything is awaited from any more */
    }
    if (mca_pml_epml_lost_is(ep, peer)) {
        return false;
    }
    describe_peer(&peer->proc->super.proc_name, peer_text, size);
    connection = mca_pml_epml_connection_place(ep, peer);
    if (NULL != connection) {
        connection->peer_id = peer->id; /* which it is to lose at once */
        mca_pml_epml_lost_note(ep, connection);
    } else {
        mca_pml_epml_transport_break(ep,
                                     peer->transport); /* as in mca_pml_epml_connection_give_up */
    }
    return true;
}

bool mca_pml_epml_lost_upcall(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_pml_epml_ep_t *ep = module->ep_context;
    bool unknown = false;

    /* Several, where another endpoint has the address of one that is gone. */
    for (uint32_t i = 0; NULL != ep && i < ep->wire.connection_size; ++i) {
        mca_pml_epml_connection_t *connection = &ep->wire.connections[i];

        if (endpoint != connection->endpoint) {
            continue;
        }
        if (module->ep_dead) {
            mca_pml_epml_lost_process(&connection->name);
        } else if (0 != connection->peer_id) {
            wait_for_launcher(ep, &connection->name);
        }
        mca_pml_epml_lost_note(ep, connection);
        /* Else mca_pml_epml_lost_tell reports it. */
        unknown = unknown || !mca_pml_epml_lost_is_dead(&connection->name);
    }
    return unknown;
}

bool mca_pml_epml_lost_lives(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_pml_epml_ep_t *ep = module->ep_context;

    for (uint32_t i = 0; NULL != ep && i < ep->wire.connection_size; ++i) {
        if (endpoint == ep->wire.connections[i].endpoint) {
            const bool lives = mca_pml_epml_pmix_lives(&ep->wire.connections[i].name);

            if (!lives) {
                ep->loss.launcher_ns = mca_pml_epml_now_ns(); /* it has been waited for */
            }
            return lives;
        }
    }
    return true; /* nobody waits for it */
}

/** The member of a list whose network module this is, or NULL. */
static mca_pml_epml_peer_t *member_of_module(const mca_pml_epml_peers_t *peers, uint64_t source)
{
    for (int32_t i = 0; i < peers->count; ++i) {
        mca_pml_epml_peer_t *peer = peers->member[i];

        if (EPML_TRANSPORT_NET == peer->transport && sizeof(source) <= peer->address_length
            && 0 == memcmp(&source, peer->address, sizeof(source))) {
            return peer;
        }
    }
    return NULL;
}

void mca_pml_epml_lost_meet(mca_btl_ep_module_t *module, uint64_t source)
{
    mca_pml_epml_ep_t *ep = module->ep_context;
    mca_pml_epml_connection_t *connection;
    const mca_pml_epml_comm_t *comm;
    mca_pml_epml_peer_t *peer = NULL;
    void *at = NULL;

    if (NULL == ep) {
        return; /* a kept network module: its endpoint is gone */
    }
    while (NULL == peer && NULL != (comm = mca_pml_epml_comms_next(ep, &at))) {
        peer = member_of_module(comm->peers, source);
        if (NULL == peer && comm->local != comm->peers) {
            peer = member_of_module(comm->local, source);
        }
    }
    if (NULL != peer) {
        (void) mca_pml_epml_peer_connect(ep, peer, &connection);
    }
}

void mca_pml_epml_lost_attach(mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_ep_t *ep = comm->ep;

    comm->loss.rank = -1;
    if (atomic_load_explicit(
            &ep->loss.any,
            memory_order_relaxed)) { /* it may be a member, also one that the endpoint has never met */
        mca_pml_epml_lost_look_soon(ep);
    }
}

/* ---- consequences ---------------------------------------------------------------------------- */

/** Looks at the network before anything is given up: what had arrived is received. */
#define DRAIN_MOST 10000
/** So many calls in a row must find nothing: half a message is no event. */
#define DRAIN_EMPTY 64

static void lost_drain(mca_pml_epml_ep_t *ep)
{
    for (int transport = 0; transport < EPML_TRANSPORTS; ++transport) {
        mca_btl_ep_module_t *module = ep->transports.module[transport];

        if (NULL == module || ep->wire.broken[transport]) {
            continue;
        }
        if (NULL != module->ep_drain) {
            module->ep_drain(module);
            continue;
        }
        for (int i = 0, empty = 0; i < DRAIN_MOST && empty < DRAIN_EMPTY; ++i) {
            empty = 0 < module->ep_progress(module) ? 0 : empty + 1;
        }
    }
}

/** Peers of a transport that has failed learn that this endpoint is lost to them, be it that it has
 * never sent them anything, or that they come later. */
static void refuse_beyond(mca_pml_epml_ep_t *ep)
{
    for (int transport = 0; transport < EPML_TRANSPORTS; ++transport) {
        mca_btl_ep_module_t *module = ep->transports.module[transport];

        if (ep->wire.broken[transport] && NULL != module && NULL != module->ep_refuse) {
            module->ep_refuse(module, NULL, 0);
        }
    }
}

/** Nothing goes to a lost peer any more. */
static void cut_off(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection = mca_pml_epml_connection_entry(ep, peer);

    if (NULL != connection) {
        if (peer->id == connection->peer_id) {
            connection->lost_id = peer->id;
            connection->peer_id = 0;
        }
        if (peer->id == connection->lost_id && NULL != connection->endpoint) {
            connection->module->ep_abandon(connection->module, connection->endpoint);
        }
    }
    mca_pml_epml_pending_lost(ep, peer);
}

/** @param[in,out] untold  set if the launcher does not report one of them to all members
 * @param[in,out] count   increased by the number of those that are lost
 * @return the first rank of a list that is lost, or -1 */
static int32_t cut_all(mca_pml_epml_ep_t *ep, const mca_pml_epml_peers_t *peers, bool *untold,
                       int32_t *count)
{
    int32_t first = -1;

    for (int32_t i = peers->count - 1; 0 <= i; --i) {
        if (mca_pml_epml_lost_is(ep, peers->member[i])) {
            cut_off(ep, peers->member[i]);
            *untold = *untold
                      || !mca_pml_epml_lost_is_dead(&peers->member[i]->proc->super.proc_name);
            first = i;
            ++*count;
        }
    }
    return first;
}

static void pass_on(mca_pml_epml_comm_t *comm, mca_pml_epml_notice_t notice)
{
    mca_pml_epml_leave_tell(comm, notice);
    if (!comm->loss.passing[notice].over) {
        mca_pml_epml_lost_look_soon(comm->ep);
    }
}

/** What waits on a revoked communicator for a receive. */
static void drop_kept(mca_pml_epml_comm_t *comm)
{
    epml_match_unexpected_t *message;

    while (NULL != (message = epml_match_some_of_context(&comm->ep->match, comm->context))) {
        mca_pml_epml_rndv_cancel_unexpected(comm, message);
    }
}

/** Find lost peers on the endpoint's communicators.  @return is there one? */
static bool look_at_comms(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_comm_t *comm;
    void *at = NULL;
    bool any = false;

    while (NULL != (comm = mca_pml_epml_comms_next(ep, &at))) {
        bool untold = comm->loss.left;

        comm->loss.count = 0;
        comm->loss.rank = cut_all(ep, comm->peers, &untold, &comm->loss.count);
        comm->loss.member = comm->loss.left || comm->loss.revoked || 0 <= comm->loss.rank;
        if (comm->local != comm->peers
            && 0 <= cut_all(ep, comm->local, &untold, &comm->loss.count)) {
            comm->loss.member = true;
        }
        if (untold) {
            pass_on(comm, EPML_NOTICE_LEFT);
        }
        if (comm->loss.revoked) {
            pass_on(comm, EPML_NOTICE_REVOKED);
            drop_kept(comm);
        }
        any = any || comm->loss.member;
    }
    return any;
}

/** A collective on an intercommunicator fails in its group's own communicator, too. */
static void look_within(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_comm_t *comm;
    void *at = NULL;

    while (NULL != (comm = mca_pml_epml_comms_next(ep, &at))) {
        if (comm->loss.member && NULL != comm->inner) {
            comm->inner->loss.member = true;
        }
    }
}

/** Sends and receives that wait for an answer or for data of a lost peer. */
static void end_numbered(mca_pml_epml_ep_t *ep)
{
    for (uint32_t i = 0; i < ep->numbers.count; ++i) {
        mca_pml_epml_request_t *request = epml_request_ids_slot(&ep->numbers, i)->request;

        if (NULL == request || !request->comm->loss.member
            || atomic_load_explicit(&request->done, memory_order_relaxed)) {
            continue;
        }
        if (NULL != request->ops->lost) {
            request->ops->lost(request);
        }
    }
}

/** Receives that nobody will serve. */
static void end_posted(mca_pml_epml_ep_t *ep)
{
    epml_match_posted_t *next;

    for (epml_match_posted_t *posted = epml_match_posted_after(&ep->match, NULL); NULL != posted;
         posted = next) {
        mca_pml_epml_request_t *request
            = (mca_pml_epml_request_t *) ((char *) posted
                                          - offsetof(mca_pml_epml_request_t, posted));

        next = epml_match_posted_after(&ep->match, posted);
        if (request->comm->loss.member && NULL != request->ops->lost_unmatched) {
            request->ops->lost_unmatched(request);
        }
    }
}

void mca_pml_epml_lost_look(mca_pml_epml_ep_t *ep)
{
    MCA_BTL_EP_HOLD_CANCEL();
    uint32_t count;

    lost_drain(ep);
    refuse_beyond(ep);
    /* Acquire: orders the count before the bits; partner: the release in
     * mca_pml_epml_lost_process. */
    count = atomic_load_explicit(&mca_pml_epml_lost_count, memory_order_acquire);
    mca_pml_epml_lost_saw(ep, count);
    for (epml_pending_thing_t *queue = ep->wire.pending.first, *next; NULL != queue; queue = next) {
        next = queue->next_queue; /* this one goes */
        if (mca_pml_epml_lost_is(ep, queue->peer)) {
            cut_off(ep, queue->peer); /* of a communicator that has been freed, perhaps */
        }
    }
    /* Relaxed: what it stands for is read under the lock. */
    atomic_store_explicit(&ep->loss.any, true, memory_order_relaxed);
    if (!look_at_comms(ep)) {
        return;
    }
    look_within(ep);
    if (0 < count) {
        mca_pml_epml_lost_tell();
    }
    mca_pml_epml_pending_end_in_vain(ep);
    end_numbered(ep);
    end_posted(ep);
}

bool mca_pml_epml_lost_member(const mca_pml_epml_comm_t *comm)
{
    bool lost_member;

    mca_pml_epml_lock(comm->ep);
    if (mca_pml_epml_lost_has_unseen(comm->ep)) {
        mca_pml_epml_lost_look(comm->ep);
    }
    lost_member = comm->loss.member;
    mca_pml_epml_unlock(comm->ep);
    return lost_member;
}
