/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Endpoints: their life, up to their destruction (pml_epml_ep_destroy.c).  One turn of their
 * progress: pml_epml_progress.c; the list of all of them, and progress of those that no thread drives:
 * pml_epml_registry.c.
 *
 * Tests: create, create_loop, left
 */

#include "ompi_config.h"

#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_ep.h"
#include "pml_epml_registry.h"
#include "pml_epml_progress.h"

#include "ompi/constants.h"

int mca_pml_epml_ep_create(mca_pml_epml_level_t level, unsigned int transports,
                           mca_pml_epml_ep_t **ep_p)
{
    mca_pml_epml_ep_t *ep = aligned_alloc(EPML_CACHE_LINE, sizeof(*ep));
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (NULL == ep) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memset((void *) ep, 0, sizeof(*ep));
    atomic_init(&ep->life.references, 1);
    ep->life.uid = mca_pml_epml_context_wide_ids(1); /* other jobs know it, too */
    epml_lock_init(&ep->lock, mca_pml_epml_lock_streak(level));
    ep->engine.progress = mca_pml_epml_ep_progress_locked;
    ep->engine.net_interval = 1;
    ep->engine.net_countdown = 1;
    mca_pml_epml_slice_set(ep, EPML_SLICE_NONE);
    mca_pml_epml_flow_init(ep);
    epml_request_ids_init(&ep->numbers);
    OBJ_CONSTRUCT(&ep->work.lock, opal_mutex_t);

    if (0 != epml_match_init(&ep->match)) {
        goto err_free;
    }
    if (OMPI_SUCCESS != mca_pml_epml_comms_init(ep)) {
        goto err_fini_match;
    }
    rc = mca_pml_epml_ep_transports_open(ep, transports);
    if (OMPI_SUCCESS != rc) {
        goto err_fini_match;
    }
    mca_pml_epml_registry_add(ep);
    *ep_p = ep;
    return OMPI_SUCCESS;

err_fini_match:
    mca_pml_epml_comms_fini(ep);
    epml_match_fini(&ep->match);
err_free:
    OBJ_DESTRUCT(&ep->work.lock);
    free(ep);
    return rc;
}

void mca_pml_epml_ep_introduce(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *self)
{
    mca_pml_epml_peer_t *before = ep->life.self;

    mca_pml_epml_peer_retain(self);
    ep->life.self = self;
    if (NULL != before) {
        mca_pml_epml_peer_release(before); /* a creation that had to start again */
    }
}

void mca_pml_epml_ep_retain(mca_pml_epml_ep_t *ep)
{
    /* Relaxed: the caller has a reference already, which keeps the endpoint alive. */
    atomic_fetch_add_explicit(&ep->life.references, 1, memory_order_relaxed);
}

void mca_pml_epml_ep_release(mca_pml_epml_ep_t *ep)
{
    /* Release and acquire: what others did with the endpoint is ordered before its end. */
    if (1 == atomic_fetch_sub_explicit(&ep->life.references, 1, memory_order_acq_rel)
        && mca_pml_epml_registry_remove(ep)) {
        mca_pml_epml_ep_destroy(ep);
    }
}

void mca_pml_epml_ep_finalize(void)
{
    mca_pml_epml_registry_finalize();
    mca_pml_epml_lost_stop();
    mca_pml_epml_transports_close();
    mca_pml_epml_shared_peers_finalize();
    mca_pml_epml_clients_finalize();
    mca_pml_epml_former_peers_finalize();
    mca_pml_epml_peers_finalize();
    mca_pml_epml_procs_finalize();
    mca_pml_epml_jobs_finalize();
}
