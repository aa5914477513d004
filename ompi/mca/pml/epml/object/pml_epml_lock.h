/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The endpoint's lock.
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

#include "../base/base.h"
#include "pml_epml_request.h"
#include "pml_epml_types.h"

BEGIN_C_DECLS

/** Acquisitions that win the bias where the user promises that one thread uses the endpoint: two,
 * so that the creating thread, which takes it once, does not get it. */
#define EPML_LOCK_BIAS_FUNNELED 2

/** How many acquisitions in a row win the bias of an endpoint's lock at this level. */
static inline uint32_t mca_pml_epml_lock_streak(mca_pml_epml_level_t level)
{
    return EPML_LEVEL_FUNNELED >= level ? EPML_LOCK_BIAS_FUNNELED : EPML_LOCK_BIAS_AFTER;
}

/** May locks be biased on this machine?  Constant from the first endpoint on. */
extern bool mca_pml_epml_may_bias;

/** A thread of the endpoint's own polls for messages.  Only that counts: a thread that sends and
 * posts does not, and must not keep others from progressing the endpoint.  Under the lock, or by a
 * thread that the others do not mind: a lost count does no harm. */
static inline void mca_pml_epml_beat(mca_pml_epml_ep_t *ep)
{
    /* Relaxed: a sign of life, nothing hangs on its order. */
    atomic_store_explicit(&ep->signs.heartbeat,
                          atomic_load_explicit(&ep->signs.heartbeat, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/** Shall the endpoint be progressed even if its receive queue is empty?  Under the lock. */
static inline void mca_pml_epml_ep_set_busy(mca_pml_epml_ep_t *ep, bool busy)
{
    /* Relaxed: a hint to the threads that progress the endpoint. */
    atomic_store_explicit(&ep->signs.busy, busy, memory_order_relaxed);
}

/* In builds for tests (CPPFLAGS=-DEPML_CHECK_LOCKS=1, test/lib/Ept/Tsan.pm) each thread counts the
 * endpoints' locks that it holds: one at most, and none where the user's code may be called.  So a
 * callback that calls MPI under a lock ends the program, instead of hanging it now and then.  So
 * does a large allocation under a lock: a thread that waits for the lock would wait for that,
 * too. */
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

/** As a visitor: only if no thread is in. */
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
    struct mca_pml_epml_request_t *deferred = ep->requests.deferred;

    ep->requests.deferred = NULL;
    mca_pml_epml_note_lock(-1);
    epml_lock_leave(&ep->lock, mca_pml_epml_may_bias);
    if (OPAL_UNLIKELY(NULL != deferred)) {
        mca_pml_epml_run_deferred(deferred);
    }
}

/** A progress call begins in which no more bytes than this may be copied, or has ended
 * (EPML_SLICE_NONE).  Under the lock. */
static inline void mca_pml_epml_slice_set(mca_pml_epml_ep_t *ep, size_t size)
{
    ep->requests.slice = size;
}

/** How much of size bytes may be copied in this progress call?  They count as copied.  Under the
 * lock.
 * @return 0: the rest is for a later call */
static inline size_t mca_pml_epml_slice(mca_pml_epml_ep_t *ep, size_t size)
{
    if (OPAL_LIKELY(EPML_SLICE_NONE == ep->requests.slice)) {
        return size;
    }
    size = size < ep->requests.slice ? size : ep->requests.slice;
    ep->requests.slice -= size;
    return size;
}

END_C_DECLS

#endif /* MCA_PML_EPML_LOCK_H */
