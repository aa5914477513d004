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
 * Endpoints: their life, the registry of all of them, and progress of those that nobody drives.
 */

#include "ompi_config.h"

#include "pml_epml_flow.h"
#include "pml_epml_request.h"

#include "ompi/constants.h"
#include "ompi/mca/topo/base/base.h"
#include "ompi/runtime/params.h"
#include "opal/mca/threads/mutex.h"
#include "opal/runtime/opal_progress.h"

/** All endpoints of the process, the dying ones included.  The lock is taken to create, to destroy
 * and, without waiting, to progress them all. */
static struct {
    opal_mutex_t lock;
    mca_pml_epml_ep_t *first;
    mca_pml_epml_ep_t *dying; /**< no communicator left, backlog not yet empty */
    int count;
    int node_count; /**< endpoints of this node at the last creation */
    bool progress_registered;
} registry = {.lock = OPAL_MUTEX_STATIC_INIT};

bool mca_pml_epml_may_bias = false;

/** Acquisitions that win the bias where the user promises that one thread uses the endpoint: two,
 * so that the creating thread, which takes it once, does not get it. */
#define EPML_LOCK_BIAS_FUNNELED 2

/** Scans that pass over an endpoint which a thread of its own was driving at the last look. */
#define EPML_SCAN_REST 32

void mca_pml_epml_ep_note_node(int endpoints_on_node)
{
    opal_mutex_lock(&registry.lock);
    registry.node_count = endpoints_on_node;
    mca_pml_epml_crowd_update(registry.count, registry.node_count);
    opal_mutex_unlock(&registry.lock);
}

mpix_endpoints_error_t mca_pml_epml_ep_check(int count)
{
    const int most = mca_pml_epml_component.max_endpoints;
    int in_use;

#if OPAL_ENABLE_FT_MPI
    /* With its fault tolerance on, Open MPI's waiting functions look into every PML request as if
     * it were of the base's own type, which ours are not. */
    if (ompi_ftmpi_enabled) {
        EPML_SHOW_HELP("fault tolerance", true);
        return MPIX_ENDPOINTS_ERR_FAULT_TOLERANCE;
    }
#endif
    opal_mutex_lock(&registry.lock);
    in_use = registry.count;
    opal_mutex_unlock(&registry.lock);
    if (0 < count && count > most - in_use) {
        EPML_SHOW_HELP("limit", true, count, in_use, most);
        return MPIX_ENDPOINTS_ERR_LIMIT;
    }
    return MPIX_ENDPOINTS_OK;
}

static void registry_add(mca_pml_epml_ep_t *ep)
{
    bool first;

    opal_mutex_lock(&registry.lock);
    ep->prev = NULL;
    ep->next = registry.first;
    if (NULL != ep->next) {
        ep->next->prev = ep;
    }
    registry.first = ep;
    ++registry.count;
    mca_pml_epml_crowd_update(registry.count, registry.node_count);
    first = !registry.progress_registered;
    registry.progress_registered = true;
    opal_mutex_unlock(&registry.lock);
    if (first) {
        (void) opal_progress_register(mca_pml_epml_progress);
        mca_pml_epml_wait_install();
        mca_pml_epml_part_install();
        /* Open MPI opens its topology framework at the first call that needs it, without a lock:
         * the threads of a process make that call at the same time once they have ranks. */
        (void) mca_topo_base_lazy_init();
    }
}

/** Take an endpoint out of the registry's list.  Under the registry's lock. */
static void registry_remove(mca_pml_epml_ep_t *ep)
{
    if (NULL == ep->prev) {
        registry.first = ep->next;
    } else {
        ep->prev->next = ep->next;
    }
    if (NULL != ep->next) {
        ep->next->prev = ep->prev;
    }
    --registry.count;
    if (0 == registry.count) {
        registry.node_count = 0;
    }
    mca_pml_epml_crowd_update(registry.count, registry.node_count);
}

static void put_links(mca_pml_epml_ep_t *ep)
{
    for (int link = 0; link < EPML_LINKS; ++link) {
        mca_btl_ep_module_t *module = ep->link[link];

        if (NULL == module) {
            continue;
        }
        if (EPML_LINK_NET == link && ep->broken[link]) {
            (void) module->super.btl_finalize(&module->super);
        } else {
            mca_pml_epml_link_put((mca_pml_epml_link_t) link, module);
        }
    }
}

/** Have one link.  Under the lock if others can see the endpoint, but not while one is made.
 * @return OMPI_SUCCESS or an error */
static int need_link(mca_pml_epml_ep_t *ep, mca_pml_epml_link_t link, bool published)
{
    mca_btl_ep_module_t *module;
    int rc;

    if (published) {
        mca_pml_epml_lock(ep);
    }
    module = ep->link[link];
    if (published) {
        mca_pml_epml_unlock(ep);
    }
    if (NULL != module) {
        return OMPI_SUCCESS;
    }
    rc = mca_pml_epml_link_get(link, ep, &module); /* may take milliseconds */
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (published) {
        mca_pml_epml_lock(ep);
    }
    if (NULL == ep->link[link]) {
        ep->link[link] = module;
        module = NULL;
        /* Relaxed: a hint to those who progress it. */
        atomic_store_explicit(&ep->busy, true, memory_order_relaxed);
    }
    if (published) {
        mca_pml_epml_unlock(ep);
    }
    if (NULL != module) {
        mca_pml_epml_link_put(link, module); /* another thread of the endpoint was faster */
    }
    return OMPI_SUCCESS;
}

static int need_links(mca_pml_epml_ep_t *ep, unsigned int links, bool published)
{
    if (0 != (links & EPML_WITH_NODE)
        && OMPI_SUCCESS != need_link(ep, EPML_LINK_NODE, published)) {
        links |= EPML_WITH_NET;
    }
    return 0 != (links & EPML_WITH_NET) ? need_link(ep, EPML_LINK_NET, published) : OMPI_SUCCESS;
}

int mca_pml_epml_ep_need(mca_pml_epml_ep_t *ep, unsigned int links)
{
    return need_links(ep, links, true);
}

void mca_pml_epml_ep_drop_node(mca_pml_epml_ep_t *ep)
{
    mca_btl_ep_module_t *module;

    mca_pml_epml_lock(ep);
    module = ep->link[EPML_LINK_NODE];
    ep->link[EPML_LINK_NODE] = NULL;
    mca_pml_epml_unlock(ep);
    if (NULL != module) {
        mca_pml_epml_link_put(EPML_LINK_NODE, module);
    }
}

int mca_pml_epml_ep_create(mca_pml_epml_level_t level, unsigned int links,
                           mca_pml_epml_ep_t **ep_p)
{
    mca_pml_epml_ep_t *ep = aligned_alloc(EPML_CACHE_LINE, sizeof(*ep));
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (NULL == ep) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    memset((void *) ep, 0, sizeof(*ep));
    atomic_init(&ep->references, 1);
    ep->uid = mca_pml_epml_context_ids(1); /* as unique as those are */
    epml_lock_init(&ep->lock, EPML_LEVEL_FUNNELED >= level ? EPML_LOCK_BIAS_FUNNELED
                                                           : EPML_LOCK_BIAS_AFTER);
    ep->net_interval = 1;
    ep->net_countdown = 1;
    ep->unexpected_limit = mca_pml_epml_component.unexpected_limit;
    mca_pml_epml_number_init(&ep->numbers);

    if (0 != epml_match_init(&ep->match)) {
        goto err_free;
    }
    OBJ_CONSTRUCT(&ep->comms, opal_hash_table_t);
    if (OPAL_SUCCESS != opal_hash_table_init(&ep->comms, 8)) {
        goto err_fini_match;
    }
    rc = mca_pml_epml_shm_create(ep, &ep->shm);
    if (OMPI_SUCCESS != rc) {
        goto err_fini_match;
    }
    /* Not under the lock, which would count for the bias; nobody else has the endpoint yet. */
    rc = need_links(ep, links, false);
    if (OMPI_SUCCESS != rc) {
        goto err_put_links;
    }
    registry_add(ep);
    *ep_p = ep;
    return OMPI_SUCCESS;

err_put_links:
    put_links(ep);
    (void) ep->shm->super.btl_finalize(&ep->shm->super);
err_fini_match:
    OBJ_DESTRUCT(&ep->comms);
    epml_match_fini(&ep->match);
err_free:
    free(ep);
    return rc;
}

void mca_pml_epml_ep_introduce(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *self)
{
    mca_pml_epml_peer_t *before = ep->self;

    mca_pml_epml_peer_retain(self);
    ep->self = self;
    if (NULL != before) {
        mca_pml_epml_peer_release(before); /* a creation that had to start again */
    }
}

/** Free everything; nobody can reach the endpoint any more. */
static void destroy(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_backlog_clear(ep);
    mca_pml_epml_flow_clear(ep);
    for (uint32_t i = 0; i < ep->connection_size; ++i) {
        mca_pml_epml_connection_t *connection = &ep->connections[i];

        if (NULL != connection->endpoint) {
            connection->module->ep_disconnect(connection->module, connection->endpoint);
        }
    }
    free(ep->connections);
    put_links(ep);
    (void) ep->shm->super.btl_finalize(&ep->shm->super);
    while (NULL != ep->match.arrival_first) {
        epml_match_unexpected_t *message = ep->match.arrival_first;

        epml_match_remove(&ep->match, message);
        free(message);
    }
    epml_match_fini(&ep->match);
    mca_pml_epml_number_fini(&ep->numbers);
    while (NULL != ep->free_requests) {
        mca_pml_epml_request_t *request = ep->free_requests;

        ep->free_requests = request->next;
        OBJ_RELEASE(request);
    }
    if (NULL != ep->self) {
        mca_pml_epml_peer_release(ep->self);
    }
    OBJ_DESTRUCT(&ep->comms);
    free(ep);
}

void mca_pml_epml_ep_retain(mca_pml_epml_ep_t *ep)
{
    /* Relaxed: the caller has a reference already, which keeps the endpoint alive. */
    atomic_fetch_add_explicit(&ep->references, 1, memory_order_relaxed);
}

void mca_pml_epml_ep_release(mca_pml_epml_ep_t *ep)
{
    bool dying;

    /* Release and acquire: what others did with the endpoint is ordered before its end. */
    if (1 != atomic_fetch_sub_explicit(&ep->references, 1, memory_order_acq_rel)) {
        return;
    }
    opal_mutex_lock(&registry.lock);
    registry_remove(ep);
    dying = NULL != ep->backlogs.first;
    if (dying) {
        ep->next = registry.dying;
        registry.dying = ep;
    }
    opal_mutex_unlock(&registry.lock);
    if (!dying) {
        destroy(ep);
    }
}

bool mca_pml_epml_ep_for_all(void (*function)(mca_pml_epml_ep_t *ep))
{
    if (0 != opal_mutex_trylock(&registry.lock)) {
        return false;
    }
    for (mca_pml_epml_ep_t *ep = registry.first; NULL != ep; ep = ep->next) {
        function(ep);
    }
    for (mca_pml_epml_ep_t *ep = registry.dying; NULL != ep; ep = ep->next) {
        function(ep);
    }
    opal_mutex_unlock(&registry.lock);
    return true;
}

void mca_pml_epml_ep_finalize(void)
{
    mca_pml_epml_ep_t *ep;

    if (registry.progress_registered) {
        mca_pml_epml_wait_remove();
        mca_pml_epml_part_remove();
        (void) opal_progress_unregister(mca_pml_epml_progress);
        registry.progress_registered = false;
    }
    while (NULL != (ep = registry.dying)) {
        registry.dying = ep->next;
        destroy(ep);
    }
    while (NULL != (ep = registry.first)) {
        registry_remove(ep);
        destroy(ep);
    }
    mca_pml_epml_lost_stop();
    mca_pml_epml_transports_close();
    mca_pml_epml_share_finalize();
    mca_pml_epml_peers_finalize();
    mca_pml_epml_procs_finalize();
    mca_pml_epml_comm_finalize();
}

/** The module of a link has given up, which it has said. */
static void link_failed(mca_pml_epml_ep_t *ep, mca_pml_epml_link_t link)
{
    if (!ep->broken[link]) {
        ep->broken[link] = true;
        ep->lost_seen = EPML_LOST_LOOK;
    }
}

/** After each turn of an endpoint that reaches beyond its process: is everybody still there?
 * @param[in] heard  another process has sent something */
static inline void look_around(mca_pml_epml_ep_t *ep, bool heard)
{
    if (heard) {
        ep->quiet = 0;
    } else if (OPAL_UNLIKELY(0 == ++ep->quiet % EPML_QUIET_LONG)) {
        mca_pml_epml_lost_ask(ep);
    }
    if (OPAL_UNLIKELY(mca_pml_epml_lost_has_news(ep))) {
        mca_pml_epml_lost_look(ep);
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

int mca_pml_epml_ep_progress_locked(mca_pml_epml_ep_t *ep)
{
    mca_btl_ep_module_t *node = ep->link[EPML_LINK_NODE], *net = ep->link[EPML_LINK_NET];
    int events = ep->shm->ep_progress(ep->shm);
    bool heard = false;

    if (NULL != node) {
        int rc = node->ep_progress(node);

        events += 0 < rc ? rc : 0;
        heard = 0 < rc;
        if (OPAL_UNLIKELY(0 > rc)) {
            link_failed(ep, EPML_LINK_NODE);
        }
    }
    /* The network costs a system call or more per look.  While the inbox brings messages and the
     * network none, it is looked at less often, down to every 16th turn; otherwise at
     * every turn. */
    if (NULL != net && 0 == --ep->net_countdown) {
        int rc = net->ep_progress(net);

        if (0 < rc) {
            events += rc;
            ep->net_interval = 1;
            heard = true;
        } else if (0 < events) {
            ep->net_interval = ep->net_interval < 16 ? ep->net_interval * 2 : 16;
        } else {
            ep->net_interval = 1;
        }
        ep->net_countdown = ep->net_interval;
        if (OPAL_UNLIKELY(0 > rc)) {
            link_failed(ep, EPML_LINK_NET);
        }
    }
    if (NULL != node || NULL != net) {
        look_around(ep, heard);
    }
    if (OPAL_UNLIKELY(NULL != ep->backlogs.first)) {
        events += mca_pml_epml_backlog_progress(ep);
    }
    return events;
}

/** May this thread progress the endpoint, and is there reason to?  Under the registry's lock. */
static bool wants_progress(mca_pml_epml_ep_t *ep)
{
    uint32_t heartbeat;

    heartbeat = atomic_load_explicit(&ep->heartbeat, memory_order_relaxed);
    if (heartbeat != ep->seen_heartbeat) {
        ep->seen_heartbeat = heartbeat;
        ep->scan_rest = EPML_SCAN_REST;
        return false;
    }
    if (0 < ep->scan_rest) {
        --ep->scan_rest;
        return false;
    }
    /* Relaxed: hints. */
    if (!atomic_load_explicit(&ep->busy, memory_order_relaxed)
        && !ep->shm->ep_pending(ep->shm)) {
        return false;
    }
    return mca_pml_epml_component.progress_others
           || 0 < atomic_load_explicit(&ep->active_comms, memory_order_relaxed)
           || atomic_load_explicit(&ep->busy, memory_order_relaxed);
}

/** Push the backlogs of endpoints that have no communicator any more.  Under the registry's lock.
 * @return the ones that are through, to be destroyed without the lock */
static mca_pml_epml_ep_t *progress_dying(void)
{
    mca_pml_epml_ep_t **link = &registry.dying;
    mca_pml_epml_ep_t *through = NULL;

    while (NULL != *link) {
        mca_pml_epml_ep_t *ep = *link;

        (void) mca_pml_epml_ep_progress_locked(ep);
        if (NULL == ep->backlogs.first) {
            *link = ep->next;
            ep->next = through;
            through = ep;
        } else {
            link = &ep->next;
        }
    }
    return through;
}

int mca_pml_epml_progress(void)
{
    mca_pml_epml_request_t *deferred = NULL;
    mca_pml_epml_ep_t *through = NULL;
    int events = 0;

    if (0 != opal_mutex_trylock(&registry.lock)) {
        return 0;
    }
    for (mca_pml_epml_ep_t *ep = registry.first; NULL != ep; ep = ep->next) {
        if (!wants_progress(ep) || !epml_lock_try_visit(&ep->lock)) {
            continue;
        }
        events += mca_pml_epml_ep_progress_locked(ep);
        deferred = mca_pml_epml_deferred_join(mca_pml_epml_unlock_keep(ep), deferred);
    }
    if (OPAL_UNLIKELY(NULL != registry.dying)) {
        through = progress_dying();
    }
    opal_mutex_unlock(&registry.lock);

    while (NULL != through) {
        mca_pml_epml_ep_t *ep = through;

        through = ep->next;
        destroy(ep);
    }
    if (NULL != deferred) {
        mca_pml_epml_run_deferred(deferred);
    }
    return events + mca_pml_epml_net_progress_kept();
}
