/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * An endpoint's connections to peers in other processes, made at first use, and which of them are
 * lost. A peer that is lost stays lost for this endpoint.
 *
 * Tests: cut, fault, ulfm_ack, ways
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_connection.h"
#include "pml_epml_flow.h"

#include "ompi/constants.h"
#if OPAL_ENABLE_FT_MPI
#    include "ompi/runtime/params.h"
#endif

/* ---- lost peers ------------------------------------------------------------------------------ */

void mca_pml_epml_lost_note(mca_pml_epml_ep_t *ep, mca_pml_epml_connection_t *connection)
{
    if (0 == connection->peer_id) {
        return; /* noted already */
    }
    mca_pml_epml_lost_set_anybody();
    connection->lost_id = connection->peer_id;
    connection->peer_id = 0; /* a send must look first */
    mca_pml_epml_lost_look_soon(ep);
}

bool mca_pml_epml_lost_is(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    const mca_pml_epml_connection_t *connection;

    if (NULL != peer->shm) {
        return false;
    }
    if (ep->wire.broken[peer->transport]
        || mca_pml_epml_lost_is_dead(&peer->proc->super.proc_name)) {
        return true;
    }
    connection = mca_pml_epml_connection_entry(ep, peer);
    return NULL != connection && peer->id == connection->lost_id;
}

bool mca_pml_epml_lost_refuses(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    if (!mca_pml_epml_lost_is(ep, peer)) {
        return false;
    }
    if (mca_pml_epml_lost_is_dead(&peer->proc->super.proc_name)) {
        mca_pml_epml_lost_tell(); /* mca_pml_epml_lost_look may not have come to it yet */
    }
    return true;
}

bool mca_pml_epml_lost_pends(const mca_pml_epml_request_t *request)
{
#if OPAL_ENABLE_FT_MPI
    return ompi_ftmpi_enabled && !request->blocking && MPI_ANY_SOURCE == request->rank
           && MPI_ANY_TAG <= request->tag && !request->comm->loss.revoked;
#else
    (void) request;
    return false;
#endif
}

int mca_pml_epml_lost_blocks(const mca_pml_epml_comm_t *comm, int src, int tag)
{
    if (tag < MPI_ANY_TAG || comm->loss.revoked) {
        /* Of a collective, which cannot succeed any more, whatever peer is next in it. */
        if (!comm->loss.member) {
            return -1;
        }
        return 0 <= src ? src : 0 <= comm->loss.rank ? comm->loss.rank : 0;
    }
    if (MPI_ANY_SOURCE == src) {
        return comm->loss.acked < comm->loss.count ? comm->loss.rank : -1;
    }
    return 0 <= src && src < comm->peers->count
                   && mca_pml_epml_lost_is(comm->ep, comm->peers->member[src])
               ? src
               : -1;
}

/* ---- connections ----------------------------------------------------------------------------- */

/** The entry of a slot, or the free one where it belongs.  The table is never full. */
static inline mca_pml_epml_connection_t *connection_of(const mca_pml_epml_ep_t *ep, uint32_t slot)
{
    const uint32_t mask = ep->wire.connection_size - 1;
    /* Slots are given out one after the other, and peers at every 2^k-th slot shall not share a
     * place: multiply, by 2^32 over the golden ratio, and take high bits. */
    uint32_t at = (slot * UINT32_C(2654435769)) >> 8;

    while (ep->wire.connections[at & mask].used && slot != ep->wire.connections[at & mask].slot) {
        ++at;
    }
    return &ep->wire.connections[at & mask];
}

mca_pml_epml_connection_t *mca_pml_epml_connection_entry(const mca_pml_epml_ep_t *ep,
                                                         const mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection;

    if (NULL == ep->wire.connections) {
        return NULL;
    }
    connection = connection_of(ep, peer->slot);
    return connection->used ? connection : NULL;
}

mca_pml_epml_connection_t *mca_pml_epml_connection_find(const mca_pml_epml_ep_t *ep,
                                                        const mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection;

    if (OPAL_UNLIKELY(NULL == ep->wire.connections)) {
        return NULL;
    }
    connection = connection_of(ep, peer->slot);
    return OPAL_LIKELY(peer->id == connection->peer_id) ? connection : NULL;
}

#define EPML_CONNECTIONS_MIN 8

/** Make sure that the endpoint's table has room for one more, with a quarter of it free. */
static int connections_grow(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_connection_t *old = ep->wire.connections;
    const uint32_t old_size = ep->wire.connection_size;
    const uint32_t size = 0 < old_size ? 2 * old_size : EPML_CONNECTIONS_MIN;
    mca_pml_epml_connection_t *grown;

    if (ep->wire.connections_used + 1 + old_size / 4 <= old_size) {
        return OMPI_SUCCESS;
    }
    grown = calloc(size, sizeof(*grown));
    if (NULL == grown) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ep->wire.connections = grown;
    ep->wire.connection_size = size;
    for (uint32_t i = 0; i < old_size; ++i) {
        if (old[i].used) {
            *connection_of(ep, old[i].slot) = old[i];
        }
    }
    free(old);
    return OMPI_SUCCESS;
}

mca_pml_epml_connection_t *mca_pml_epml_connection_place(mca_pml_epml_ep_t *ep,
                                                         const mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection;

    if (OMPI_SUCCESS != connections_grow(ep)) {
        return NULL;
    }
    connection = connection_of(ep, peer->slot);
    if (!connection->used) {
        *connection = (mca_pml_epml_connection_t){.slot = peer->slot, .used = true};
        ++ep->wire.connections_used;
    }
    if (NULL != connection->endpoint) { /* of an earlier owner of the slot */
        connection->module->ep_disconnect(connection->module, connection->endpoint);
        connection->endpoint = NULL;
    }
    connection->peer_id = 0;
    mca_pml_epml_flow_forget(ep, connection);
    connection->lost_id = 0;
    connection->fetches = false;
    connection->copied = 0;
    return connection;
}

void mca_pml_epml_connection_give_up(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection = mca_pml_epml_connection_find(ep, peer);

    if (NULL != connection) {
        mca_pml_epml_lost_note(ep, connection);
        return;
    }
    connection = mca_pml_epml_connection_place(ep, peer);
    if (NULL != connection) {
        connection->lost_id = peer->id;
        mca_pml_epml_lost_look_soon(ep);
    } else {
        /* Without memory to note the one: better all than an endless wait. */
        mca_pml_epml_transport_break(ep, peer->transport);
    }
}

/** First use of a peer by this endpoint. */
static __attribute__((noinline)) int connect_first(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                                                   mca_pml_epml_connection_t **connection_p)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_ep_module_t *module = ep->transports.module[peer->transport];
    mca_pml_epml_connection_t *connection;
    int rc;

    if (NULL == module || 0 == peer->address_length) {
        return MPI_ERR_OTHER;
    }
    if (mca_pml_epml_lost_refuses(ep, peer)) {
        return MPI_ERR_PROC_FAILED;
    }
    connection = mca_pml_epml_connection_place(ep, peer);
    if (NULL == connection) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ep->wire.connecting = peer;
    rc = module->ep_connect(module, peer->address, peer->address_length, &connection->endpoint);
    ep->wire.connecting = NULL;
    if (OMPI_SUCCESS == rc) {
        connection->peer_id = peer->id;
        connection->name = peer->proc->super.proc_name;
        connection->module = module;
        *connection_p = connection;
    }
    /* Of an operation that code says that the peer is gone; this one has never been there. */
    return OMPI_ERR_UNREACH == rc ? MPI_ERR_OTHER : rc;
}

int mca_pml_epml_peer_connect(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                              mca_pml_epml_connection_t **connection_p)
{
    mca_pml_epml_connection_t *connection = mca_pml_epml_connection_find(ep, peer);

    if (OPAL_LIKELY(NULL != connection)) {
        *connection_p = connection;
        return OMPI_SUCCESS;
    }
    return connect_first(ep, peer, connection_p);
}

void mca_pml_epml_connections_close(mca_pml_epml_ep_t *ep)
{
    for (uint32_t i = 0; i < ep->wire.connection_size; ++i) {
        mca_pml_epml_connection_t *connection = &ep->wire.connections[i];

        if (NULL != connection->endpoint) {
            connection->module->ep_disconnect(connection->module, connection->endpoint);
        }
    }
    free(ep->wire.connections);
}
