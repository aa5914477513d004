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

#include "pml_epml_flow.h"
#include "pml_epml_request.h"

#include "ompi/constants.h"
#include "ompi/group/group.h"
#include "opal/mca/threads/mutex.h"

/** The peers of the process.  Slots number them, so that each endpoint can keep its connections in
 * a table; freed slots are used again.  The same endpoint may be met on several occasions: by its
 * uid it is found again, so that there is one peer and one connection to it. */
static struct {
    opal_mutex_t lock;
    uint32_t *free;
    uint32_t free_count, free_capacity;
    uint32_t next;
    uint64_t next_id;
    bool open;
    opal_hash_table_t by_uid; /**< no references: a peer leaves it when the last one is gone */
} known = {.lock = OPAL_MUTEX_STATIC_INIT};

/** Under the lock. */
static void slot_get(mca_pml_epml_peer_t *peer)
{
    peer->slot = 0 < known.free_count ? known.free[--known.free_count] : known.next++;
    peer->id = ++known.next_id;
}

/** Under the lock. */
static void slot_put(uint32_t slot)
{
    if (known.free_count == known.free_capacity) {
        uint32_t capacity = 0 == known.free_capacity ? 64 : 2 * known.free_capacity;
        uint32_t *grown = realloc(known.free, capacity * sizeof(*grown));

        if (NULL != grown) {
            known.free = grown;
            known.free_capacity = capacity;
        }
    }
    if (known.free_count < known.free_capacity) {
        known.free[known.free_count++] = slot;
    }
}

void mca_pml_epml_peers_finalize(void)
{
    free(known.free);
    known.free = NULL;
    known.free_count = 0;
    known.free_capacity = 0;
    if (known.open) {
        OBJ_DESTRUCT(&known.by_uid);
        known.open = false;
    }
}

/** Under the lock. */
static int enter(mca_pml_epml_peer_t *peer)
{
    if (!known.open) {
        OBJ_CONSTRUCT(&known.by_uid, opal_hash_table_t);
        if (OPAL_SUCCESS != opal_hash_table_init(&known.by_uid, 64)) {
            OBJ_DESTRUCT(&known.by_uid);
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        known.open = true;
    }
    return opal_hash_table_set_value_uint64(&known.by_uid, mca_pml_epml_scatter(peer->uid),
                                            peer);
}

/** Under the lock.  @return a reference, or NULL */
static mca_pml_epml_peer_t *find(uint64_t uid)
{
    mca_pml_epml_peer_t *peer = NULL;
    void *found = NULL;

    if (known.open) {
        (void) opal_hash_table_get_value_uint64(&known.by_uid, mca_pml_epml_scatter(uid),
                                                &found);
        peer = found;
    }
    if (NULL != peer) {
        uint32_t references = atomic_load_explicit(&peer->references, memory_order_relaxed);

        /* Not one whose last reference is gone and who is waiting for the lock to leave.  Relaxed:
         * what the peer is was written before it was entered, under the lock. */
        do {
            if (0 == references) {
                peer = NULL;
                break;
            }
        } while (!atomic_compare_exchange_weak_explicit(&peer->references, &references,
                                                        references + 1, memory_order_relaxed,
                                                        memory_order_relaxed));
    }
    return peer;
}

mca_pml_epml_peer_t *mca_pml_epml_peer_find(uint64_t uid)
{
    mca_pml_epml_peer_t *peer;

    opal_mutex_lock(&known.lock);
    peer = find(uid);
    opal_mutex_unlock(&known.lock);
    return peer;
}

mca_pml_epml_peer_t *mca_pml_epml_peer_create(ompi_proc_t *proc, uint64_t uid)
{
    mca_pml_epml_peer_t *peer = calloc(1, sizeof(*peer));

    if (NULL == peer) {
        return NULL;
    }
    atomic_init(&peer->references, 1);
    peer->proc = proc;
    peer->uid = uid;
    opal_mutex_lock(&known.lock);
    slot_get(peer);
    opal_mutex_unlock(&known.lock);
    return peer;
}

mca_pml_epml_peer_t *mca_pml_epml_peer_publish(mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_peer_t *published;

    /* Several threads may meet an endpoint at the same time; two peers of one would be in each
     * other's way (its connections, and whether it is full). */
    opal_mutex_lock(&known.lock);
    published = find(peer->uid);
    if (NULL == published && OMPI_SUCCESS == enter(peer)) {
        published = peer;
    }
    opal_mutex_unlock(&known.lock);
    if (published != peer) {
        mca_pml_epml_peer_release(peer);
    }
    return published;
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
    opal_mutex_lock(&known.lock);
    if (known.open) {
        void *entered = NULL;
        const uint64_t key = mca_pml_epml_scatter(peer->uid);

        (void) opal_hash_table_get_value_uint64(&known.by_uid, key, &entered);
        if (entered == peer) { /* not a younger one of the same endpoint */
            (void) opal_hash_table_remove_value_uint64(&known.by_uid, key);
        }
    }
    slot_put(peer->slot);
    opal_mutex_unlock(&known.lock);
    if (NULL != peer->shm) {
        peer->shm_disconnect(NULL, peer->shm);
    }
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
    atomic_init(&peers->procs, NULL);
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
    mca_pml_epml_procs_t *procs;

    /* Release and acquire: as for a peer. */
    if (1 != atomic_fetch_sub_explicit(&peers->references, 1, memory_order_acq_rel)) {
        return;
    }
    if (0 != peers->shared_key) {
        mca_pml_epml_peers_unshare(peers);
    }
    for (int i = 0; i < peers->count; ++i) {
        if (NULL != peers->peer[i]) {
            mca_pml_epml_peer_release(peers->peer[i]);
        }
    }
    /* Relaxed: ordered by the references. */
    procs = atomic_load_explicit(&peers->procs, memory_order_relaxed);
    if (NULL != procs) {
        mca_pml_epml_procs_release(procs);
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

int mca_pml_epml_peers_for_group(ompi_group_t *group, mca_pml_epml_peers_t *first,
                                 mca_pml_epml_peers_t *second, mca_pml_epml_peers_t **peers_p)
{
    const int count = group->grp_proc_count;
    mca_pml_epml_peers_t *peers = mca_pml_epml_peers_create(count);
    opal_hash_table_t table;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (NULL == peers) {
        return OMPI_ERR_OUT_OF_RESOURCE;
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
            rc = MPI_ERR_GROUP;
            goto err_release;
        }
        peers->peer[i] = (mca_pml_epml_peer_t *) peer;
        mca_pml_epml_peer_retain(peers->peer[i]);
    }
    OBJ_DESTRUCT(&table);
    *peers_p = peers;
    return OMPI_SUCCESS;

err_release:
    OBJ_DESTRUCT(&table);
    mca_pml_epml_peers_release(peers);
    return rc;
}

/** The entry of a slot, or the free one where it belongs.  The table is never full. */
static inline mca_pml_epml_connection_t *connection_of(const mca_pml_epml_ep_t *ep, uint32_t slot)
{
    const uint32_t mask = ep->connection_size - 1;
    /* Slots are given out one after the other, and who talks to every 2^k-th peer shall not meet
     * the same place each time: multiply, by 2^32 over the golden ratio, and take high bits. */
    uint32_t at = (slot * UINT32_C(2654435769)) >> 8;

    while (ep->connections[at & mask].used && slot != ep->connections[at & mask].slot) {
        ++at;
    }
    return &ep->connections[at & mask];
}

mca_pml_epml_connection_t *mca_pml_epml_connection_entry(const mca_pml_epml_ep_t *ep,
                                                         const mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection;

    if (NULL == ep->connections) {
        return NULL;
    }
    connection = connection_of(ep, peer->slot);
    return connection->used ? connection : NULL;
}

mca_pml_epml_connection_t *mca_pml_epml_connection_find(const mca_pml_epml_ep_t *ep,
                                                        const mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_connection_t *connection;

    if (OPAL_UNLIKELY(NULL == ep->connections)) {
        return NULL;
    }
    connection = connection_of(ep, peer->slot);
    return OPAL_LIKELY(peer->id == connection->peer_id) ? connection : NULL;
}

#define EPML_CONNECTIONS_MIN 8

/** Make sure that the endpoint's table has room for one more, with a quarter of it free. */
static int connections_grow(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_connection_t *old = ep->connections;
    const uint32_t old_size = ep->connection_size;
    const uint32_t size = 0 < old_size ? 2 * old_size : EPML_CONNECTIONS_MIN;
    mca_pml_epml_connection_t *grown;

    if (ep->connections_used + 1 + old_size / 4 <= old_size) {
        return OMPI_SUCCESS;
    }
    grown = calloc(size, sizeof(*grown));
    if (NULL == grown) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ep->connections = grown;
    ep->connection_size = size;
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
        ++ep->connections_used;
    }
    if (NULL != connection->endpoint) { /* of one who had the slot before */
        connection->module->ep_disconnect(connection->module, connection->endpoint);
        connection->endpoint = NULL;
    }
    connection->peer_id = 0;
    mca_pml_epml_flow_forget(ep, connection);
    connection->lost_id = 0;
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
    } else {
        ep->broken[peer->link] = true; /* as in mca_pml_epml_lost_sender */
    }
    ep->lost_seen = EPML_LOST_LOOK;
}

/** First use of a peer by this endpoint. */
static __attribute__((noinline)) int connect_first(mca_pml_epml_ep_t *ep,
                                                   mca_pml_epml_peer_t *peer,
                                                   mca_pml_epml_connection_t **connection_p)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_ep_module_t *module = ep->link[peer->link];
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
    ep->connecting = peer;
    rc = module->ep_connect(module, peer->address, peer->address_length, &connection->endpoint);
    ep->connecting = NULL;
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
