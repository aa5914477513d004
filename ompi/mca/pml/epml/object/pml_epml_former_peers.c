/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Local peers that share no communicator with this process any more, and may still ask it for an
 * answer: they cancel what they have offered in a collective that has failed here
 * (pml_epml_rndv_cancel.c).
 *
 * Tests: coll_nomem (own: survivor)
 */

#include "ompi_config.h"

#include "pml_epml_peer.h"
#include "pml_epml_types.h"

#include "opal/mca/threads/mutex.h"

/** Lists that are kept; the oldest goes. */
#define EPML_KEPT 16

/** Local peers of communicators that are gone.  Beyond the network a request names its sender's
 * address. */
static struct {
    opal_mutex_t lock;
    mca_pml_epml_peers_t *list[EPML_KEPT];
    uint32_t next;
} kept = {.lock = OPAL_MUTEX_STATIC_INIT};

/** The local peers among them, in a list of its own: others' would keep receive queues here.
 * @return one reference; NULL: none, or no memory */
static mca_pml_epml_peers_t *kept_local(const mca_pml_epml_peers_t *peers)
{
    mca_pml_epml_peers_t *list = mca_pml_epml_peers_create(peers->count);

    for (int i = 0, at = 0; NULL != list && i < peers->count; ++i) {
        if (NULL == peers->member[i]->shm && EPML_TRANSPORT_NODE == peers->member[i]->transport) {
            list->member[at++] = peers->member[i];
            mca_pml_epml_peer_retain(peers->member[i]);
        }
    }
    if (NULL != list && NULL == list->member[0]) {
        mca_pml_epml_peers_release(list);
        list = NULL;
    }
    return list;
}

/** Is there such a list already?  Under kept.lock. */
static bool is_kept(const mca_pml_epml_peers_t *list)
{
    for (int i = 0; i < EPML_KEPT; ++i) {
        if (NULL != kept.list[i] && list->count == kept.list[i]->count
            && 0
                   == memcmp(list->member, kept.list[i]->member,
                             (size_t) list->count * sizeof(list->member[0]))) {
            return true;
        }
    }
    return false;
}

void mca_pml_epml_former_peers_add(const mca_pml_epml_peers_t *peers)
{
    mca_pml_epml_peers_t *list = 0 < peers->count ? kept_local(peers) : NULL;

    if (NULL == list) {
        return;
    }
    opal_mutex_lock(&kept.lock);
    if (!is_kept(list)) {
        mca_pml_epml_peers_t **place = &kept.list[kept.next++ % EPML_KEPT], *oldest = *place;

        *place = list;
        list = oldest;
    }
    opal_mutex_unlock(&kept.lock);
    if (NULL != list) {
        mca_pml_epml_peers_release(list);
    }
}

void mca_pml_epml_former_peers_finalize(void)
{
    for (int i = 0; i < EPML_KEPT; ++i) {
        if (NULL != kept.list[i]) {
            mca_pml_epml_peers_release(kept.list[i]);
            kept.list[i] = NULL;
        }
    }
}
