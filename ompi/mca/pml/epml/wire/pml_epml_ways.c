/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The ways of one endpoint: its inbox, and, when it is to reach beyond its process, modules of the
 * node's shared memory and of the network.
 *
 * Called by the endpoint's life and by creations.
 *
 * Tests: ways, create
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_transport.h"
#include "pml_epml_ways.h"

#include "ompi/constants.h"

/** How much of a message goes to a neighbour without a request: what the transport takes at once,
 * less than it would rather have lent, which it finds out. */
static void set_limit(mca_pml_epml_ep_t *ep)
{
    const mca_btl_ep_module_t *shm = ep->ways.shm;
    const size_t header = sizeof(mca_pml_epml_hdr_match_t);

    ep->ways.immediate_limit = shm->super.btl_eager_limit;
    if (NULL != shm->ep_lend && ep->ways.immediate_limit - header >= shm->ep_lend_min) {
        ep->ways.immediate_limit = header + shm->ep_lend_min - 1;
    }
}

/** Have one way.  Under the lock if others can see the endpoint, but not while one is made.
 * @return OMPI_SUCCESS or an error */
static int need_way(mca_pml_epml_ep_t *ep, mca_pml_epml_way_t way, bool published)
{
    mca_btl_ep_module_t *module;
    int rc;

    if (published) {
        mca_pml_epml_lock(ep);
    }
    module = ep->ways.module[way];
    if (published) {
        mca_pml_epml_unlock(ep);
    }
    if (NULL != module) {
        return OMPI_SUCCESS;
    }
    rc = mca_pml_epml_way_get(way, ep, &module); /* may take milliseconds */
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_pml_epml_lost_start();
    if (published) {
        mca_pml_epml_lock(ep);
    }
    if (NULL == ep->ways.module[way]) {
        ep->ways.module[way] = module;
        if (EPML_WAY_NET == way) {
            /* It may have been another endpoint's: what it has sent for that is not this one's. */
            ep->wire.net_before = mca_pml_epml_way_count(module);
        }
        module = NULL;
        mca_pml_epml_ep_set_busy(ep, true);
    }
    if (published) {
        mca_pml_epml_unlock(ep);
    }
    if (NULL != module) {
        mca_pml_epml_way_put(way, module); /* another thread of the endpoint was faster */
    }
    return OMPI_SUCCESS;
}

static int need_ways(mca_pml_epml_ep_t *ep, unsigned int ways, bool published)
{
    if (0 != (ways & EPML_WITH_NODE) && OMPI_SUCCESS != need_way(ep, EPML_WAY_NODE, published)) {
        ways |= EPML_WITH_NET;
    }
    return 0 != (ways & EPML_WITH_NET) ? need_way(ep, EPML_WAY_NET, published) : OMPI_SUCCESS;
}

int mca_pml_epml_ep_need(mca_pml_epml_ep_t *ep, unsigned int ways)
{
    return need_ways(ep, ways, true);
}

void mca_pml_epml_ep_drop_node(mca_pml_epml_ep_t *ep)
{
    mca_btl_ep_module_t *module;

    mca_pml_epml_lock(ep);
    module = ep->ways.module[EPML_WAY_NODE];
    ep->ways.module[EPML_WAY_NODE] = NULL;
    mca_pml_epml_unlock(ep);
    if (NULL != module) {
        mca_pml_epml_way_put(EPML_WAY_NODE, module);
    }
}

int mca_pml_epml_ways_open(mca_pml_epml_ep_t *ep, unsigned int ways)
{
    int rc = mca_pml_epml_shm_create(ep, &ep->ways.shm);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    set_limit(ep);
    /* Not under the lock, which would count for the bias; no other thread has the endpoint yet. */
    rc = need_ways(ep, ways, false);
    if (OMPI_SUCCESS != rc) {
        mca_pml_epml_ways_close(ep);
    }
    return rc;
}

void mca_pml_epml_ways_close(mca_pml_epml_ep_t *ep)
{
    for (int way = 0; way < EPML_WAYS; ++way) {
        mca_btl_ep_module_t *module = ep->ways.module[way];

        if (NULL == module) {
            continue;
        }
        if (EPML_WAY_NET == way && ep->wire.broken[way]) {
            (void) module->super.btl_finalize(&module->super);
        } else {
            mca_pml_epml_way_put((mca_pml_epml_way_t) way, module);
        }
    }
    (void) ep->ways.shm->super.btl_finalize(&ep->ways.shm->super);
}
