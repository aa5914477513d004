/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The transports of one endpoint: its receive queue, and, when it is to reach beyond its process, modules of the
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
#include "pml_epml_ep_transports.h"

#include "ompi/constants.h"

/** How much of a message goes to a local peer without a request: what the transport takes at once,
 * less than it would rather send with zero copy, as it finds out. */
static void set_limit(mca_pml_epml_ep_t *ep)
{
    const mca_btl_ep_module_t *shm = ep->transports.shm;
    const size_t header = sizeof(mca_pml_epml_hdr_match_t);

    ep->transports.immediate_limit = shm->super.btl_eager_limit;
    if (NULL != shm->ep_send_zcopy
        && ep->transports.immediate_limit - header >= shm->ep_zcopy_min) {
        ep->transports.immediate_limit = header + shm->ep_zcopy_min - 1;
    }
}

/** Have one transport.  Under the lock if others can see the endpoint, but not while one is made.
 * @return OMPI_SUCCESS or an error */
static int need_transport(mca_pml_epml_ep_t *ep, mca_pml_epml_transport_t transport, bool published)
{
    mca_btl_ep_module_t *module;
    int rc;

    if (published) {
        mca_pml_epml_lock(ep);
    }
    module = ep->transports.module[transport];
    if (published) {
        mca_pml_epml_unlock(ep);
    }
    if (NULL != module) {
        return OMPI_SUCCESS;
    }
    rc = mca_pml_epml_transport_get(transport, ep, &module); /* may take milliseconds */
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_pml_epml_lost_start();
    if (published) {
        mca_pml_epml_lock(ep);
    }
    if (NULL == ep->transports.module[transport]) {
        ep->transports.module[transport] = module;
        if (EPML_TRANSPORT_NET == transport) {
            /* It may have been another endpoint's: what it has sent for that is not this one's. */
            ep->wire.net_before = mca_pml_epml_transport_count(module);
        }
        module = NULL;
        mca_pml_epml_ep_set_busy(ep, true);
    }
    if (published) {
        mca_pml_epml_unlock(ep);
    }
    if (NULL != module) {
        mca_pml_epml_transport_put(transport,
                                   module); /* another thread of the endpoint was faster */
    }
    return OMPI_SUCCESS;
}

static int need_transports(mca_pml_epml_ep_t *ep, unsigned int transports, bool published)
{
    if (0 != (transports & EPML_WITH_NODE)
        && OMPI_SUCCESS != need_transport(ep, EPML_TRANSPORT_NODE, published)) {
        transports |= EPML_WITH_NET;
    }
    return 0 != (transports & EPML_WITH_NET) ? need_transport(ep, EPML_TRANSPORT_NET, published)
                                             : OMPI_SUCCESS;
}

int mca_pml_epml_ep_need(mca_pml_epml_ep_t *ep, unsigned int transports)
{
    return need_transports(ep, transports, true);
}

void mca_pml_epml_ep_drop_node(mca_pml_epml_ep_t *ep)
{
    mca_btl_ep_module_t *module;

    mca_pml_epml_lock(ep);
    module = ep->transports.module[EPML_TRANSPORT_NODE];
    ep->transports.module[EPML_TRANSPORT_NODE] = NULL;
    mca_pml_epml_unlock(ep);
    if (NULL != module) {
        mca_pml_epml_transport_put(EPML_TRANSPORT_NODE, module);
    }
}

int mca_pml_epml_ep_transports_open(mca_pml_epml_ep_t *ep, unsigned int transports)
{
    int rc = mca_pml_epml_shm_create(ep, &ep->transports.shm);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    set_limit(ep);
    /* Not under the lock, which would count for the bias; no other thread has the endpoint yet. */
    rc = need_transports(ep, transports, false);
    if (OMPI_SUCCESS != rc) {
        mca_pml_epml_ep_transports_close(ep);
    }
    return rc;
}

void mca_pml_epml_ep_transports_close(mca_pml_epml_ep_t *ep)
{
    for (int transport = 0; transport < EPML_TRANSPORTS; ++transport) {
        mca_btl_ep_module_t *module = ep->transports.module[transport];

        if (NULL == module) {
            continue;
        }
        if (EPML_TRANSPORT_NET == transport && ep->wire.broken[transport]) {
            (void) module->super.btl_finalize(&module->super);
        } else {
            mca_pml_epml_transport_put((mca_pml_epml_transport_t) transport, module);
        }
    }
    (void) ep->transports.shm->super.btl_finalize(&ep->transports.shm->super);
}
