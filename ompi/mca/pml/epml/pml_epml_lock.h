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
 * The endpoint's lock, and turning its progress.
 *
 * Nothing of the user's runs under the lock: completion callbacks and the release of communicators
 * are put on the endpoint's deferred list and run when the lock has been given back.
 */

#ifndef MCA_PML_EPML_LOCK_H
#define MCA_PML_EPML_LOCK_H

#include "ompi_config.h"

#include "pml_epml_biased_lock.h"
#include "pml_epml_types.h"

BEGIN_C_DECLS

/** May locks be biased on this machine?  Constant once the PML is selected. */
extern bool mca_pml_epml_may_bias;

/** A thread of the endpoint's own shows that it is there.  Under the lock, or by a thread that the
 * others do not mind: a lost count does no harm. */
static inline void mca_pml_epml_beat(mca_pml_epml_ep_t *ep)
{
    /* Relaxed: a sign of life, nothing hangs on its order. */
    atomic_store_explicit(&ep->heartbeat,
                          atomic_load_explicit(&ep->heartbeat, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static inline void mca_pml_epml_lock(mca_pml_epml_ep_t *ep)
{
    epml_lock_enter(&ep->lock);
    mca_pml_epml_beat(ep);
}

/** Run what was deferred; not under the lock. */
void mca_pml_epml_run_deferred(struct mca_pml_epml_request_t *deferred);

/** Give the lock back without running what was deferred.  @return what was deferred, or NULL */
static inline struct mca_pml_epml_request_t *mca_pml_epml_unlock_keep(mca_pml_epml_ep_t *ep)
{
    struct mca_pml_epml_request_t *deferred = ep->deferred;

    ep->deferred = NULL;
    epml_lock_leave(&ep->lock, mca_pml_epml_may_bias);
    return deferred;
}

static inline void mca_pml_epml_unlock(mca_pml_epml_ep_t *ep)
{
    struct mca_pml_epml_request_t *deferred = mca_pml_epml_unlock_keep(ep);

    if (OPAL_UNLIKELY(NULL != deferred)) {
        mca_pml_epml_run_deferred(deferred);
    }
}

/** Progress an endpoint's transports and backlogs.  Under its lock.  @return number of events */
int mca_pml_epml_ep_progress_locked(mca_pml_epml_ep_t *ep);

/**
 * One turn of an endpoint by a thread of its own: progress it if there may be something to do.
 *
 * @return number of events; 0 also if somebody else is at it
 */
static inline int mca_pml_epml_ep_poll(mca_pml_epml_ep_t *ep)
{
    int events;

    mca_pml_epml_beat(ep);
    if (!atomic_load_explicit(&ep->busy, memory_order_relaxed) && !ep->shm->ep_pending(ep->shm)) {
        return 0;
    }
    if (!epml_lock_try(&ep->lock)) {
        return 0;
    }
    events = mca_pml_epml_ep_progress_locked(ep);
    mca_pml_epml_unlock(ep);
    return events;
}

/** State of a thread that waits. */
typedef struct mca_pml_epml_waiter_t {
    uint32_t idle; /**< turns without an event */
    bool counted;  /**< among the threads that have been waiting for a while */
} mca_pml_epml_waiter_t;

/** Nothing happened: spin, look after the rest of the process now and then, yield if need be. */
void mca_pml_epml_idle(mca_pml_epml_waiter_t *waiter);

/** To be called at the end of every wait in which mca_pml_epml_idle may have been called. */
void mca_pml_epml_wait_over(mca_pml_epml_waiter_t *waiter);

/** A test or probe of a thread of ours has found nothing. */
void mca_pml_epml_tested(void);

/** Are there more threads that want to run than cores?  A guess; any thread. */
bool mca_pml_epml_is_crowded(void);

/** Endpoints have come or gone: how many there are. */
void mca_pml_epml_crowd_update(int in_process, int on_node);

END_C_DECLS

#endif /* MCA_PML_EPML_LOCK_H */
