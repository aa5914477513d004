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
 * Endpoints: their life.  One turn of their progress: pml_epml_turn.c; the list of all of them, and
 * progress of those that nobody drives: pml_epml_registry.c.
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
#include "pml_epml_turn.h"
#include "pml_epml_variables.h"

#include "ompi/constants.h"

/** Acquisitions that win the bias where the user promises that one thread uses the endpoint: two,
 * so that the creating thread, which takes it once, does not get it. */
#define EPML_LOCK_BIAS_FUNNELED 2

static void put_ways(mca_pml_epml_ep_t *ep)
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
            mca_pml_epml_counts_begin(ep, module);
        }
        module = NULL;
        /* Relaxed: a hint to those who progress it. */
        atomic_store_explicit(&ep->signs.busy, true, memory_order_relaxed);
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
    if (0 != (ways & EPML_WITH_NODE)
        && OMPI_SUCCESS != need_way(ep, EPML_WAY_NODE, published)) {
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

int mca_pml_epml_ep_create(mca_pml_epml_level_t level, unsigned int ways,
                           mca_pml_epml_ep_t **ep_p)
{
    mca_pml_epml_ep_t *ep = aligned_alloc(EPML_CACHE_LINE, sizeof(*ep));
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (NULL == ep) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memset((void *) ep, 0, sizeof(*ep));
    atomic_init(&ep->life.references, 1);
    ep->life.uid = mca_pml_epml_context_ids(1); /* as unique as those are */
    epml_lock_init(&ep->lock, EPML_LEVEL_FUNNELED >= level ? EPML_LOCK_BIAS_FUNNELED
                                                           : EPML_LOCK_BIAS_AFTER);
    ep->engine.turn = mca_pml_epml_ep_progress_locked;
    ep->engine.net_interval = 1;
    ep->engine.net_countdown = 1;
    ep->flow.limit = mca_pml_epml_component.unexpected_limit;
    ep->requests.slice = EPML_SLICE_NONE;
    epml_numbers_init(&ep->numbers);

    if (0 != epml_match_init(&ep->match)) {
        goto err_free;
    }
    OBJ_CONSTRUCT(&ep->comms.table, opal_hash_table_t);
    if (OPAL_SUCCESS != opal_hash_table_init(&ep->comms.table, 8)) {
        goto err_fini_match;
    }
    rc = mca_pml_epml_shm_create(ep, &ep->ways.shm);
    if (OMPI_SUCCESS != rc) {
        goto err_fini_match;
    }
    mca_pml_epml_send_set_limit(ep);
    /* Not under the lock, which would count for the bias; nobody else has the endpoint yet. */
    rc = need_ways(ep, ways, false);
    if (OMPI_SUCCESS != rc) {
        goto err_put_ways;
    }
    mca_pml_epml_registry_add(ep);
    *ep_p = ep;
    return OMPI_SUCCESS;

err_put_ways:
    put_ways(ep);
    (void) ep->ways.shm->super.btl_finalize(&ep->ways.shm->super);
err_fini_match:
    OBJ_DESTRUCT(&ep->comms.table);
    epml_match_fini(&ep->match);
err_free:
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

void mca_pml_epml_ep_destroy(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_counts_account(ep);
    mca_pml_epml_backlog_clear(ep);
    mca_pml_epml_flow_clear(ep);
    for (uint32_t i = 0; i < ep->wire.connection_size; ++i) {
        mca_pml_epml_connection_t *connection = &ep->wire.connections[i];

        if (NULL != connection->endpoint) {
            connection->module->ep_disconnect(connection->module, connection->endpoint);
        }
    }
    free(ep->wire.connections);
    put_ways(ep);
    (void) ep->ways.shm->super.btl_finalize(&ep->ways.shm->super);
    while (NULL != ep->match.arrival_first) {
        epml_match_unexpected_t *message = ep->match.arrival_first;

        epml_match_remove(&ep->match, message);
        free(message);
    }
    epml_match_fini(&ep->match);
    epml_numbers_fini(&ep->numbers);
    while (NULL != ep->requests.unused) {
        mca_pml_epml_request_t *request = ep->requests.unused;

        ep->requests.unused = request->next;
        OBJ_RELEASE(request);
    }
    if (NULL != ep->life.self) {
        mca_pml_epml_peer_release(ep->life.self);
    }
    OBJ_DESTRUCT(&ep->comms.table);
    free(ep);
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
    mca_pml_epml_share_finalize();
    mca_pml_epml_peers_finalize();
    mca_pml_epml_procs_finalize();
}
