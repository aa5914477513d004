/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Progress of an endpoint, and waiting: pml_epml_progress.c, pml_epml_waiting.c.
 */

#ifndef MCA_PML_EPML_PROGRESS_H
#define MCA_PML_EPML_PROGRESS_H

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_work.h"

BEGIN_C_DECLS

/** Progress an endpoint's transports and pending queues.  Under its lock.  @return number of
 * events */
int mca_pml_epml_ep_progress_locked(mca_pml_epml_ep_t *ep);

/** The part of a progress call for which there is the lock.  Likewise. */
static inline int mca_pml_epml_ep_poll_messages(mca_pml_epml_ep_t *ep)
{
    int events;

    if (!atomic_load_explicit(&ep->signs.busy, memory_order_relaxed)
        && !ep->transports.shm->ep_pending(ep->transports.shm)) {
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

/**
 * One progress call for an endpoint by a thread of its own: if there may be something to do.
 *
 * @return number of events; 0 also if another thread is at it
 */
static inline int mca_pml_epml_ep_poll(mca_pml_epml_ep_t *ep)
{
    const int events = mca_pml_epml_ep_poll_messages(ep);

    return OPAL_LIKELY(!mca_pml_epml_work_has(ep))
               ? events
               : events + mca_pml_epml_work_turn(ep, UINT32_MAX);
}

/** Tries for a lock that is held for a moment only, with a yield every 64, before a call that tests
 * gives up: the holder may have lost its core. */
#define EPML_TEST_TRIES 1024

/** As mca_pml_epml_ep_poll, for calls that test: a helper that is in is waited for, a
 * little, or a test would find nothing because it was tried while the helper was in. */
int mca_pml_epml_ep_poll_patiently(mca_pml_epml_ep_t *ep);

/** Turns of a call that tests, as long as they bring something, but not what was asked for: in four
 * calls all of what a receive queue or a pipe can hold, and each transport, is polled (32 messages
 * a call; the network at every 16th call). */
#define EPML_TEST_CALLS 4

/** State of a thread that waits.  To clients it is mpix_endpoints_wait_t: words, the first of which
 * says whether there is something to end. */
typedef struct mca_pml_epml_waiter_t {
    uint32_t counted; /**< 0 or 1: among the threads that have been waiting for a while */
    uint32_t idle;    /**< progress calls without an event */
    uint32_t busy;    /**< progress calls with events, which were not what it waits for */
    uint32_t since;   /**< when it was counted, in seconds of CLOCK_MONOTONIC */
} mca_pml_epml_waiter_t;

/** Turns with events after which a thread that waits looks after the rest of the process all the
 * same: others may wait for what moves on there, and this one for them. */
#define EPML_BUSY_LONG 16

/** Turn all of Open MPI, which reads from files and sockets. */
void mca_pml_epml_process_progress(void);

/** Let everything else in the process move on.
 *
 * @param[in] ep  what the caller waits for itself: when it has something, no other endpoint is
 * helped
 *                any more; NULL: more than one, or nothing of ours */
void mca_pml_epml_help(const mca_pml_epml_ep_t *ep);

/** Nothing happened: spin, look after the rest of the process now and then, yield if need be.
 *
 * @param[in] ep  as for mca_pml_epml_help */
void mca_pml_epml_idle(mca_pml_epml_waiter_t *waiter, const mca_pml_epml_ep_t *ep);

/** After a progress call of a thread that goes on waiting.  @param[in] ep  as for
 * mca_pml_epml_help */
static inline void mca_pml_epml_progressed(mca_pml_epml_waiter_t *waiter,
                                           const mca_pml_epml_ep_t *ep, int events)
{
    if (0 == events) {
        mca_pml_epml_idle(waiter, ep);
    } else if (OPAL_UNLIKELY(0 == ++waiter->busy % EPML_BUSY_LONG)) {
        mca_pml_epml_help(ep);
    }
}

/** Wait until another thread of the process has made something so.  All of the process moves on
 * meanwhile. */
void mca_pml_epml_wait_until(bool (*until)(const void *context), const void *context);

/** Let threads that wait call dump when pml_epml_dump_after or pml_epml_dump_signal want it.  When
 * the PML is selected. */
void mca_pml_epml_progress_watch(void (*dump)(void));

/** Likewise no more. */
void mca_pml_epml_progress_unwatch(void);

/** To be called at the end of every wait in which mca_pml_epml_idle may have been called. */
void mca_pml_epml_wait_over(mca_pml_epml_waiter_t *waiter);

/** A thread of ours has tested or probed, or got what it waits for without looking: now and then
 * the rest of the process gets its chance.
 *
 * @param[in] found  something; then the caller keeps its core
 * @return whether it was that time */
bool mca_pml_epml_tested(bool found);

/** Wait until the engine is through with a request, and progress its endpoint. */
void mca_pml_epml_wait_done(mca_pml_epml_request_t *request);

END_C_DECLS

#endif /* MCA_PML_EPML_PROGRESS_H */
