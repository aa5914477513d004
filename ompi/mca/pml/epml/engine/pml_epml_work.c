/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Work of the engine's clients.
 *
 * Each endpoint has a place for one, which is mostly all there is, and a list for more, with a lock
 * of its own.  A thread that progresses the endpoint takes work out, executes a step of it, with no lock
 * held, and puts it back, into the list at the end, unless it is done.  So one thread is at it at a
 * time, the steps of one are ordered by the place, or by the list's lock, and a step may do what
 * any thread may: send, receive, begin other work.
 *
 * Work holds its communicator, or a request does for it, so the endpoint stays.  A thread that
 * looks for work reads the place and counts works; both show that there is some while a thread
 * executes it.
 *
 * Work may be begun under the endpoint's lock, by a message that arrives; work.lock is taken within
 * it.  A thread that progresses the endpoint looks for work after it has given the endpoint's lock back,
 * so it takes the first step of what has been begun in its progress call.
 *
 * Called by pml_epml_progress.h, pml_epml_registry.c and the engine's interface.
 *
 * Tests: unit/test_epml_work, unit/test_epml_am, client
 */

#include "ompi_config.h"

#include "pml_epml_work.h"

/** This thread is in a step: what it calls progresses endpoints, but executes no step. */
static _Thread_local bool stepping;

/** In the place: a thread executes what was there. */
static mpix_endpoints_work_t taken;

static void work_put(mca_pml_epml_ep_t *ep, mpix_endpoints_work_t *work)
{
    opal_mutex_lock(&ep->work.lock);
    work->next = NULL;
    if (NULL == ep->work.first) {
        ep->work.first = work;
    } else {
        ep->work.last->next = work;
    }
    ep->work.last = work;
    opal_mutex_unlock(&ep->work.lock);
}

static mpix_endpoints_work_t *work_take(mca_pml_epml_ep_t *ep)
{
    mpix_endpoints_work_t *work;

    opal_mutex_lock(&ep->work.lock);
    work = ep->work.first;
    if (NULL != work) {
        ep->work.first = work->next;
    }
    opal_mutex_unlock(&ep->work.lock);
    return work;
}

/** @param[in] comm  a reference, which becomes the work's; or NULL */
static inline void work_add(mca_pml_epml_ep_t *ep, ompi_communicator_t *comm,
                            mpix_endpoints_work_t *work)
{
    mpix_endpoints_work_t *none = NULL;

    work->comm = comm;
    /* Release: the work before its place; partner: the acquire in step_place. */
    if (OPAL_UNLIKELY(!atomic_compare_exchange_strong_explicit(&ep->work_place, &none, work,
                                                               memory_order_release,
                                                               memory_order_relaxed))) {
        atomic_fetch_add_explicit(&ep->works, 1, memory_order_relaxed);
        work_put(ep, work);
    }
}

void mca_pml_epml_work_begin(mca_pml_epml_ep_t *ep, ompi_communicator_t *comm,
                             mpix_endpoints_work_t *work)
{
    if (NULL != comm) {
        OBJ_RETAIN(comm);
    }
    work_add(ep, comm, work);
}

static mpix_endpoints_step_t nothing_to_do(mpix_endpoints_work_t *work)
{
    (void) work;
    return MPIX_ENDPOINTS_STEP_DONE;
}

void mca_pml_epml_work_release(mca_pml_epml_comm_t *comm)
{
    comm->release.step = nothing_to_do;
    work_add(comm->ep, comm->comm, &comm->release); /* which is done with the reference, too */
}

/** One step.  Its memory may be gone afterwards. */
static inline mpix_endpoints_step_t step_of(mpix_endpoints_work_t *work)
{
    mpix_endpoints_step_t step;

    stepping = true;
    step = work->step(work);
    stepping = false;
    return step;
}

/** It is done.  @param[in] comm  that it held, or NULL */
static void work_done(ompi_communicator_t *comm)
{
    if (NULL != comm) {
        OBJ_RELEASE(comm); /* the endpoint may go with it, except for the thread that progresses
                              it */
    }
}

/** A step of the one in the place.  @return whether it brought something */
static int step_place(mca_pml_epml_ep_t *ep)
{
    /* Relaxed: a hint. */
    mpix_endpoints_work_t *work = atomic_load_explicit(&ep->work_place, memory_order_relaxed);
    ompi_communicator_t *comm;
    mpix_endpoints_step_t step;

    /* Acquire: the work, and what its last step did; partners: the releases here and in
     * mca_pml_epml_work_begin. */
    if (NULL == work || &taken == work
        || !atomic_compare_exchange_strong_explicit(&ep->work_place, &work, &taken,
                                                    memory_order_acquire, memory_order_relaxed)) {
        return 0;
    }
    comm = work->comm;
    step = step_of(work);
    if (MPIX_ENDPOINTS_STEP_DONE == step) {
        /* Relaxed: nothing comes with an empty place. */
        atomic_store_explicit(&ep->work_place, NULL, memory_order_relaxed);
        work_done(comm);
    } else {
        /* Release: what the step did; partner: the acquire above. */
        atomic_store_explicit(&ep->work_place, work, memory_order_release);
    }
    return MPIX_ENDPOINTS_STEP_IDLE != step;
}

/** Steps of those in the list.  @return number of those that brought something */
static __attribute__((noinline)) int step_list(mca_pml_epml_ep_t *ep, uint32_t most)
{
    /* Each once: one that is put back comes again in the next call. */
    const uint32_t works = atomic_load_explicit(&ep->works, memory_order_relaxed);
    mpix_endpoints_work_t *work;
    int events = 0;

    for (most = most < works ? most : works; 0 < most && NULL != (work = work_take(ep)); --most) {
        ompi_communicator_t *comm = work->comm;
        const mpix_endpoints_step_t step = step_of(work);

        events += MPIX_ENDPOINTS_STEP_IDLE != step;
        if (MPIX_ENDPOINTS_STEP_DONE == step) {
            atomic_fetch_sub_explicit(&ep->works, 1, memory_order_relaxed);
            work_done(comm);
        } else {
            work_put(ep, work);
        }
    }
    return events;
}

int mca_pml_epml_work_turn(mca_pml_epml_ep_t *ep, uint32_t most)
{
    int events;

    if (stepping) {
        return 0;
    }
    mca_pml_epml_check_outside();
    events = step_place(ep);
    if (OPAL_UNLIKELY(0 != atomic_load_explicit(&ep->works, memory_order_relaxed))) {
        events += step_list(ep, most);
    }
    return events;
}
