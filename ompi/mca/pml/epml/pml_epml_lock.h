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
 * Nothing of the user's runs under the lock: completion callbacks, and the end of datatypes whose
 * last user a request was, are put on the endpoint's deferred list and run when the lock has been
 * given back; communicators are released by the callers.
 */

#ifndef MCA_PML_EPML_LOCK_H
#define MCA_PML_EPML_LOCK_H

#include "ompi_config.h"

#include <stdio.h>
#include <stdlib.h>

#include "pml_epml_biased_lock.h"
#include "pml_epml_types.h"

BEGIN_C_DECLS

/** May locks be biased on this machine?  Constant once the PML is selected. */
extern bool mca_pml_epml_may_bias;

/** A thread of the endpoint's own looks at what has come.  Only that counts: who sends and posts
 * does not, and must not keep others from turning the endpoint.  Under the lock, or by a thread
 * that the others do not mind: a lost count does no harm. */
static inline void mca_pml_epml_beat(mca_pml_epml_ep_t *ep)
{
    /* Relaxed: a sign of life, nothing hangs on its order. */
    atomic_store_explicit(&ep->heartbeat,
                          atomic_load_explicit(&ep->heartbeat, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* In builds for tests (CPPFLAGS=-DEPML_CHECK_LOCKS=1, test/lib/Ept/Tsan.pm) each thread counts the
 * endpoints' locks that it holds: one at most, and none where the user's code may be called.  So a
 * callback that calls MPI under a lock ends the program, instead of hanging it now and then.  So
 * does a large allocation under a lock: who waits for it would wait for that, too. */
#ifndef EPML_CHECK_LOCKS
#    define EPML_CHECK_LOCKS 0
#endif

#if EPML_CHECK_LOCKS
extern __attribute__((tls_model("initial-exec"))) _Thread_local int mca_pml_epml_locks_held;

/** Watch allocations from now on: pml_epml_check.c. */
void mca_pml_epml_check_start(void);
#endif

/** The lock of an endpoint has been taken (1), or is about to be given back (-1). */
static inline void mca_pml_epml_note_lock(int change)
{
    (void) change;
#if EPML_CHECK_LOCKS
    mca_pml_epml_locks_held += change;
    if (1 < mca_pml_epml_locks_held || 0 > mca_pml_epml_locks_held) {
        fprintf(stderr, "pml/epml: %d locks of endpoints held\n", mca_pml_epml_locks_held);
        abort();
    }
#endif
}

/** What comes may be the user's, or wait, or take another endpoint's lock. */
static inline void mca_pml_epml_check_outside(void)
{
#if EPML_CHECK_LOCKS
    if (0 != mca_pml_epml_locks_held) {
        fprintf(stderr, "pml/epml: an endpoint's lock is held where the user may be called\n");
        abort();
    }
#endif
}

static inline void mca_pml_epml_lock(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_check_outside();
    epml_lock_enter(&ep->lock);
    mca_pml_epml_note_lock(1);
}

/** As a visitor: only if nobody is in. */
static inline bool mca_pml_epml_try_visit(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_check_outside();
    if (!epml_lock_try_visit(&ep->lock)) {
        return false;
    }
    mca_pml_epml_note_lock(1);
    return true;
}

/** Run what was deferred; not under the lock. */
void mca_pml_epml_run_deferred(struct mca_pml_epml_request_t *deferred);

/** Give the lock back, then run what was deferred. */
static inline void mca_pml_epml_unlock(mca_pml_epml_ep_t *ep)
{
    struct mca_pml_epml_request_t *deferred = ep->deferred;

    ep->deferred = NULL;
    mca_pml_epml_note_lock(-1);
    epml_lock_leave(&ep->lock, mca_pml_epml_may_bias);
    if (OPAL_UNLIKELY(NULL != deferred)) {
        mca_pml_epml_run_deferred(deferred);
    }
}

/** How much of size bytes may be copied in this turn?  They count as copied.  Under the lock.
 * @return 0: the rest is for a later turn */
static inline size_t mca_pml_epml_slice(mca_pml_epml_ep_t *ep, size_t size)
{
    if (OPAL_LIKELY(EPML_SLICE_NONE == ep->slice)) {
        return size;
    }
    size = size < ep->slice ? size : ep->slice;
    ep->slice -= size;
    return size;
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

    if (!atomic_load_explicit(&ep->busy, memory_order_relaxed) && !ep->shm->ep_pending(ep->shm)) {
        mca_pml_epml_beat(ep);
        return 0;
    }
    mca_pml_epml_check_outside();
    if (!epml_lock_try(&ep->lock)) {
        return 0;
    }
    mca_pml_epml_note_lock(1);
    mca_pml_epml_beat(ep);
    events = mca_pml_epml_ep_progress_locked(ep);
    mca_pml_epml_unlock(ep);
    return events;
}

/** Tries for a lock that is held for a moment only, with a yield every 64, before a call that tests
 * gives up: the holder may have lost its core. */
#define EPML_TEST_TRIES 1024

/** One turn as mca_pml_epml_ep_poll, for calls that test: a helper that is in is waited for, a
 * little, or a test would find nothing because it was tried while somebody looked. */
int mca_pml_epml_ep_poll_patiently(mca_pml_epml_ep_t *ep);

/** Turns of a call that tests, as long as they bring something, but not what was asked for: in four
 * calls all of what an inbox or a pipe can hold, and each link, is looked at (32 messages a turn;
 * the network every 16th turn). */
#define EPML_TEST_TURNS 4

/** State of a thread that waits. */
typedef struct mca_pml_epml_waiter_t {
    uint32_t idle; /**< turns without an event */
    uint32_t busy; /**< turns with events, which were not what it waits for */
    bool counted;  /**< among the threads that have been waiting for a while */
} mca_pml_epml_waiter_t;

/** Turns with events after which a thread that waits looks after the rest of the process all the
 * same: others may wait for what moves on there, and this one for them. */
#define EPML_BUSY_LONG 16

/** Turn all of Open MPI, which reads from files and sockets. */
void mca_pml_epml_process_progress(void);

/** Let everything else in the process move on.
 *
 * @param[in] ep  what the caller waits for itself: when it has something, nobody else is helped any
 *                more; NULL: more than one, or nothing of ours */
void mca_pml_epml_help(const mca_pml_epml_ep_t *ep);

/** Nothing happened: spin, look after the rest of the process now and then, yield if need be.
 *
 * @param[in] ep  as for mca_pml_epml_help */
void mca_pml_epml_idle(mca_pml_epml_waiter_t *waiter, const mca_pml_epml_ep_t *ep);

/** After a turn of a thread that goes on waiting.  @param[in] ep  as for mca_pml_epml_help */
static inline void mca_pml_epml_turned(mca_pml_epml_waiter_t *waiter, const mca_pml_epml_ep_t *ep,
                                       int events)
{
    if (0 == events) {
        mca_pml_epml_idle(waiter, ep);
    } else if (OPAL_UNLIKELY(0 == ++waiter->busy % EPML_BUSY_LONG)) {
        mca_pml_epml_help(ep);
    }
}

/** To be called at the end of every wait in which mca_pml_epml_idle may have been called. */
void mca_pml_epml_wait_over(mca_pml_epml_waiter_t *waiter);

/** A thread of ours has tested or probed, or got what it waits for without looking: now and then
 * the rest of the process gets its chance.
 *
 * @param[in] found  something; then the caller keeps its core
 * @return whether it was that time */
bool mca_pml_epml_tested(bool found);

/** Are there more threads that want to run than cores?  A guess; any thread. */
bool mca_pml_epml_is_crowded(void);

/** Endpoints have come or gone: how many there are. */
void mca_pml_epml_crowd_update(int in_process, int on_node);

/** What is known of cores and endpoints, and what follows, in words. */
void mca_pml_epml_crowd_describe(char *text, size_t size);

END_C_DECLS

#endif /* MCA_PML_EPML_LOCK_H */
