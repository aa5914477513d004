/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lists of peers that the endpoints of the process have in common which are in the same
 * communicator.
 *
 * Each endpoint's thread makes its own handle of a new communicator, and would keep its own list of
 * the members: n lists of n.  Here the first to come leaves its list under the communicator's
 * context id, and the others take that one in place of their own.  Slow path: once per handle.
 *
 * Tests: create_many, comm_tree
 */

#include "ompi_config.h"

#include "pml_epml_peer.h"
#include "pml_epml_types.h"

#include "ompi/group/group.h"
#include "opal/class/opal_hash_table.h"
#include "opal/mca/threads/mutex.h"

/** No references: a list leaves when its last one is gone. */
static struct {
    opal_mutex_t lock;
    bool open;
    opal_hash_table_t by_key;
} shared = {.lock = OPAL_MUTEX_STATIC_INIT};

/** Under the lock.  @return NULL: there is none, or it is just going */
static mca_pml_epml_peers_t *take_list(uint64_t key)
{
    mca_pml_epml_peers_t *peers;
    uint32_t references;
    void *found = NULL;

    if (!shared.open
        || OPAL_SUCCESS != opal_hash_table_get_value_uint64(&shared.by_key, key, &found)) {
        return NULL;
    }
    peers = found;
    references = atomic_load_explicit(&peers->references, memory_order_relaxed);
    /* Relaxed: what is in the list was written before it was entered, under the lock. */
    do {
        if (0 == references) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak_explicit(&peers->references, &references, references + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return peers;
}

/** Under the lock.  Without memory each keeps a list of its own. */
static void enter_list(mca_pml_epml_peers_t *peers, uint64_t key)
{
    if (!shared.open) {
        OBJ_CONSTRUCT(&shared.by_key, opal_hash_table_t);
        if (OPAL_SUCCESS != opal_hash_table_init(&shared.by_key, 64)) {
            OBJ_DESTRUCT(&shared.by_key);
            return;
        }
        shared.open = true;
    }
    if (OPAL_SUCCESS == opal_hash_table_set_value_uint64(&shared.by_key, key, peers)) {
        peers->shared_key = key;
    }
}

/** Context ids have 62 bits and are never 0 (mca_pml_epml_context_ids). */
static uint64_t key_of(uint64_t context, bool second)
{
    return context << 1 | (second ? 1 : 0);
}

/** @return the list to use, in place of peers, whose reference it takes over */
static mca_pml_epml_peers_t *intern_peers(mca_pml_epml_peers_t *peers, uint64_t key)
{
    const size_t size = (size_t) peers->count * sizeof(peers->member[0]);
    mca_pml_epml_peers_t *known;

    opal_mutex_lock(&shared.lock);
    known = take_list(key);
    if (NULL == known && 0 == peers->shared_key) {
        enter_list(peers, key);
    }
    opal_mutex_unlock(&shared.lock);
    if (NULL == known) {
        return peers;
    }
    /* The same endpoint has one peer here, but for want of memory: compare, then, not believe. */
    if (known->count == peers->count && 0 == memcmp(known->member, peers->member, size)) {
        mca_pml_epml_peers_release(peers);
        return known;
    }
    mca_pml_epml_peers_release(known);
    return peers;
}

void mca_pml_epml_shared_peers_find(uint64_t context, mca_pml_epml_peers_t **local,
                                    mca_pml_epml_peers_t **remote)
{
    bool swapped = false;

    if (NULL != remote && 0 < (*local)->count && 0 < (*remote)->count) {
        /* The one side's local list is the other side's remote list: order them the same way. */
        swapped = (*local)->member[0]->uid > (*remote)->member[0]->uid;
    }
    *local = intern_peers(*local, key_of(context, swapped));
    if (NULL != remote) {
        *remote = intern_peers(*remote, key_of(context, !swapped));
    }
}

/** Are these the members of the group, in its order? */
static bool is_of_group(const mca_pml_epml_peers_t *peers, ompi_group_t *group)
{
    if (peers->count != group->grp_proc_count) {
        return false;
    }
    for (int i = 0; i < peers->count; ++i) {
        if (peers->member[i]->proc != ompi_group_peer_lookup(group, i)) {
            return false;
        }
    }
    return true;
}

mca_pml_epml_peers_t *mca_pml_epml_shared_peers_finded(uint64_t context, ompi_group_t *group)
{
    mca_pml_epml_peers_t *known;

    opal_mutex_lock(&shared.lock);
    known = take_list(key_of(context, false));
    opal_mutex_unlock(&shared.lock);
    if (NULL != known && !is_of_group(known, group)) {
        mca_pml_epml_peers_release(known);
        known = NULL;
    }
    return known;
}

void mca_pml_epml_peers_forget(mca_pml_epml_peers_t *peers)
{
    void *entered = NULL;

    opal_mutex_lock(&shared.lock);
    if (shared.open) {
        (void) opal_hash_table_get_value_uint64(&shared.by_key, peers->shared_key, &entered);
        if (entered == peers) { /* not a younger one, entered while this one was going */
            (void) opal_hash_table_remove_value_uint64(&shared.by_key, peers->shared_key);
        }
    }
    opal_mutex_unlock(&shared.lock);
}

void mca_pml_epml_shared_peers_finalize(void)
{
    if (shared.open) {
        OBJ_DESTRUCT(&shared.by_key);
        shared.open = false;
    }
}
