/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Peers, lists of peers, and connections to them.
 */

#include "ompi_config.h"

#include "pml_epml_request.h"

#include "ompi/constants.h"
#include "ompi/group/group.h"
#include "opal/mca/threads/mutex.h"

/** Slots number the peers of the process, so that each endpoint can keep its connections in a
 * table. Freed slots are used again. */
static struct {
    opal_mutex_t lock;
    uint32_t *free;
    uint32_t free_count, free_capacity;
    uint32_t next;
    uint64_t next_id;
} slots = {.lock = OPAL_MUTEX_STATIC_INIT};

static void slot_get(mca_pml_epml_peer_t *peer)
{
    opal_mutex_lock(&slots.lock);
    peer->slot = 0 < slots.free_count ? slots.free[--slots.free_count] : slots.next++;
    peer->id = ++slots.next_id;
    opal_mutex_unlock(&slots.lock);
}

static void slot_put(uint32_t slot)
{
    opal_mutex_lock(&slots.lock);
    if (slots.free_count == slots.free_capacity) {
        uint32_t capacity = 0 == slots.free_capacity ? 64 : 2 * slots.free_capacity;
        uint32_t *grown = realloc(slots.free, capacity * sizeof(*grown));

        if (NULL != grown) {
            slots.free = grown;
            slots.free_capacity = capacity;
        }
    }
    if (slots.free_count < slots.free_capacity) {
        slots.free[slots.free_count++] = slot;
    }
    opal_mutex_unlock(&slots.lock);
}

void mca_pml_epml_peers_finalize(void)
{
    free(slots.free);
    slots.free = NULL;
    slots.free_count = 0;
    slots.free_capacity = 0;
}

mca_pml_epml_peer_t *mca_pml_epml_peer_create(ompi_proc_t *proc, uint64_t uid)
{
    mca_pml_epml_peer_t *peer = calloc(1, sizeof(*peer));

    if (NULL == peer) {
        return NULL;
    }
    atomic_init(&peer->references, 1);
    slot_get(peer);
    peer->proc = proc;
    peer->uid = uid;
    return peer;
}

void mca_pml_epml_peer_retain(mca_pml_epml_peer_t *peer)
{
    /* Relaxed: the caller's own reference keeps it alive. */
    atomic_fetch_add_explicit(&peer->references, 1, memory_order_relaxed);
}

void mca_pml_epml_peer_release(mca_pml_epml_peer_t *peer)
{
    /* Release and acquire: all uses are ordered before the end. */
    if (1 != atomic_fetch_sub_explicit(&peer->references, 1, memory_order_acq_rel)) {
        return;
    }
    if (NULL != peer->shm) {
        peer->shm_disconnect(NULL, peer->shm);
    }
    slot_put(peer->slot);
    mca_pml_epml_proc_put(peer->proc);
    free(peer);
}

mca_pml_epml_peers_t *mca_pml_epml_peers_create(int count)
{
    mca_pml_epml_peers_t *peers
        = calloc(1, sizeof(*peers) + (size_t) count * sizeof(peers->peer[0]));

    if (NULL == peers) {
        return NULL;
    }
    atomic_init(&peers->references, 1);
    peers->count = count;
    return peers;
}

void mca_pml_epml_peers_retain(mca_pml_epml_peers_t *peers)
{
    /* Relaxed: as for a peer. */
    atomic_fetch_add_explicit(&peers->references, 1, memory_order_relaxed);
}

void mca_pml_epml_peers_release(mca_pml_epml_peers_t *peers)
{
    /* Release and acquire: as for a peer. */
    if (1 != atomic_fetch_sub_explicit(&peers->references, 1, memory_order_acq_rel)) {
        return;
    }
    for (int i = 0; i < peers->count; ++i) {
        if (NULL != peers->peer[i]) {
            mca_pml_epml_peer_release(peers->peer[i]);
        }
    }
    free(peers);
}

/** Enter the members of one side into a table that finds them by their proc. */
static int index_side(opal_hash_table_t *table, mca_pml_epml_peers_t *side)
{
    int rc = OPAL_SUCCESS;

    for (int i = 0; OPAL_SUCCESS == rc && i < side->count; ++i) {
        rc = opal_hash_table_set_value_uint64(table, (uint64_t) (uintptr_t) side->peer[i]->proc,
                                              side->peer[i]);
    }
    return rc;
}

mca_pml_epml_peers_t *mca_pml_epml_peers_for_group(ompi_group_t *group,
                                                   mca_pml_epml_peers_t *first,
                                                   mca_pml_epml_peers_t *second)
{
    const int count = group->grp_proc_count;
    mca_pml_epml_peers_t *peers = mca_pml_epml_peers_create(count);
    opal_hash_table_t table;

    if (NULL == peers) {
        return NULL;
    }
    OBJ_CONSTRUCT(&table, opal_hash_table_t);
    if (OPAL_SUCCESS != opal_hash_table_init(&table, 2 * (size_t) count + 16)
        || OPAL_SUCCESS != index_side(&table, second)
        || OPAL_SUCCESS != index_side(&table, first)) {
        goto err_release;
    }
    for (int i = 0; i < count; ++i) {
        uint64_t key = (uint64_t) (uintptr_t) ompi_group_peer_lookup(group, i);
        void *peer;

        if (OPAL_SUCCESS != opal_hash_table_get_value_uint64(&table, key, &peer)) {
            goto err_release;
        }
        peers->peer[i] = (mca_pml_epml_peer_t *) peer;
        mca_pml_epml_peer_retain(peers->peer[i]);
    }
    OBJ_DESTRUCT(&table);
    return peers;

err_release:
    OBJ_DESTRUCT(&table);
    mca_pml_epml_peers_release(peers);
    return NULL;
}

/** Make the endpoint's table reach as far as the peer's slot. */
static int connections_grow(mca_pml_epml_ep_t *ep, uint32_t slot)
{
    uint32_t count = slot + 1 + slot / 2;
    mca_pml_epml_connection_t *grown = realloc(ep->connections, count * sizeof(*grown));

    if (NULL == grown) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memset(grown + ep->connection_count, 0, (count - ep->connection_count) * sizeof(*grown));
    ep->connections = grown;
    ep->connection_count = count;
    return OMPI_SUCCESS;
}

/** First use of a peer by this endpoint. */
static __attribute__((noinline)) int connect_first(mca_pml_epml_ep_t *ep,
                                                   mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection;
    int rc;

    if (NULL == ep->net || 0 == peer->address_length) {
        return OMPI_ERR_UNREACH;
    }
    if (peer->slot >= ep->connection_count) {
        rc = connections_grow(ep, peer->slot);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    connection = &ep->connections[peer->slot];
    if (NULL != connection->endpoint) {
        ep->net->ep_disconnect(ep->net, connection->endpoint);
        connection->endpoint = NULL;
    }
    rc = ep->net->ep_connect(ep->net, peer->address, peer->address_length, &connection->endpoint);
    if (OMPI_SUCCESS == rc) {
        connection->peer_id = peer->id;
    }
    return rc;
}

int mca_pml_epml_peer_connect(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *peer,
                              struct mca_btl_base_endpoint_t **connection_p)
{
    if (OPAL_UNLIKELY(peer->slot >= ep->connection_count
                      || peer->id != ep->connections[peer->slot].peer_id)) {
        int rc = connect_first(ep, peer);

        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    *connection_p = ep->connections[peer->slot].endpoint;
    return OMPI_SUCCESS;
}
