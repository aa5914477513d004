/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Peers, lists of peers, and the procs of these.
 *
 * Tests: comm_bridge, comm_tree
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "pml_epml_peer.h"
#include "pml_epml_proc.h"
#include "pml_epml_types.h"

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
static int peer_publish(mca_pml_epml_peer_t *peer)
{
    if (!known.open) {
        OBJ_CONSTRUCT(&known.by_uid, opal_hash_table_t);
        if (OPAL_SUCCESS != opal_hash_table_init(&known.by_uid, 64)) {
            OBJ_DESTRUCT(&known.by_uid);
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        known.open = true;
    }
    return opal_hash_table_set_value_uint64(&known.by_uid, mca_pml_epml_hash(peer->uid), peer);
}

/** Under the lock.  @return a reference, or NULL */
static mca_pml_epml_peer_t *find_uid(uint64_t uid)
{
    mca_pml_epml_peer_t *peer = NULL;
    void *found = NULL;

    if (known.open) {
        (void) opal_hash_table_get_value_uint64(&known.by_uid, mca_pml_epml_hash(uid), &found);
        peer = found;
    }
    if (NULL != peer) {
        uint32_t references = atomic_load_explicit(&peer->references, memory_order_relaxed);

        /* Not one whose last reference is gone and whose thread waits for the lock to leave. 
         * Relaxed: what the peer is was written before it was entered, under the lock. */
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
    peer = find_uid(uid);
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
    peer->is_near = mca_pml_epml_proc_is_near(proc);
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
    published = find_uid(peer->uid);
    if (NULL == published && OMPI_SUCCESS == peer_publish(peer)) {
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
        const uint64_t key = mca_pml_epml_hash(peer->uid);

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
    mca_pml_epml_peers_t *peers = calloc(1, sizeof(*peers)
                                                + (size_t) count * sizeof(peers->member[0]));

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
        mca_pml_epml_peers_forget(peers);
    }
    for (int i = 0; i < peers->count; ++i) {
        if (NULL != peers->member[i]) {
            mca_pml_epml_peer_release(peers->member[i]);
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
        rc = opal_hash_table_set_value_uint64(table, (uint64_t) (uintptr_t) side->member[i]->proc,
                                              side->member[i]);
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
        peers->member[i] = (mca_pml_epml_peer_t *) peer;
        mca_pml_epml_peer_retain(peers->member[i]);
    }
    OBJ_DESTRUCT(&table);
    *peers_p = peers;
    return OMPI_SUCCESS;

err_release:
    OBJ_DESTRUCT(&table);
    mca_pml_epml_peers_release(peers);
    return rc;
}

/* ---- their procs ----------------------------------------------------------------------------- */

void mca_pml_epml_procs_release(mca_pml_epml_procs_t *procs)
{
    /* Release and acquire: all uses are ordered before the end. */
    if (1 != atomic_fetch_sub_explicit(&procs->references, 1, memory_order_acq_rel)) {
        return;
    }
    for (int i = 0; i < procs->count; ++i) {
        OBJ_RELEASE(procs->proc[i]);
    }
    free(procs);
}

static mca_pml_epml_procs_t *procs_create(const mca_pml_epml_peers_t *peers)
{
    mca_pml_epml_procs_t *procs = malloc(sizeof(*procs)
                                         + (size_t) peers->count * sizeof(procs->proc[0]));

    if (NULL == procs) {
        return NULL;
    }
    atomic_init(&procs->references, 1);
    procs->count = peers->count;
    for (int i = 0; i < peers->count; ++i) {
        procs->proc[i] = peers->member[i]->proc;
        OBJ_RETAIN(procs->proc[i]);
    }
    return procs;
}

mca_pml_epml_procs_t *mca_pml_epml_procs_of(mca_pml_epml_peers_t *peers)
{
    /* Acquire pairs with the release below, of another thread: the array before its address. */
    mca_pml_epml_procs_t *known = atomic_load_explicit(&peers->procs, memory_order_acquire);

    if (NULL == known) {
        mca_pml_epml_procs_t *made = procs_create(peers);

        if (NULL == made) {
            return NULL;
        }
        if (atomic_compare_exchange_strong_explicit(&peers->procs, &known, made,
                                                    memory_order_acq_rel, memory_order_acquire)) {
            known = made;
        } else {
            mca_pml_epml_procs_release(made);
        }
    }
    /* Relaxed: the list's own reference keeps it alive. */
    atomic_fetch_add_explicit(&known->references, 1, memory_order_relaxed);
    return known;
}
