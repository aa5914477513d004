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
 * Work of guests behind the door.
 *
 * Each endpoint has a list of it, with a lock of its own.  Who turns the endpoint takes the oldest
 * out, has it go on a step, with no lock held, and puts it back at the end, unless it is done.  So
 * one thread is at it at a time, the steps of one are ordered by the list's lock, and a step may do
 * what any thread may: send, receive, begin other work.
 *
 * Work holds its communicator, so the endpoint stays; whoever looks for work counts works, which
 * does not change while somebody is at it.
 *
 * Called by pml_epml_turn.h, pml_epml_registry.c and the door.
 *
 * Tests: unit/test_epml_work, door
 */

#include "ompi_config.h"

#include "pml_epml_work.h"

/** This thread is in a step: what it calls turns endpoints, but steps no further. */
static _Thread_local bool stepping;

static void put(mca_pml_epml_ep_t *ep, mpix_endpoints_work_t *work)
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

static mpix_endpoints_work_t *take(mca_pml_epml_ep_t *ep)
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

void mca_pml_epml_work_begin(mca_pml_epml_comm_t *comm, mpix_endpoints_work_t *work)
{
    OBJ_RETAIN(comm->comm);
    work->comm = comm->comm;
    atomic_fetch_add_explicit(&comm->ep->works, 1, memory_order_relaxed);
    put(comm->ep, work);
}

/** It is done, and its memory may be gone.  @param[in] comm  that it held */
static void done(mca_pml_epml_ep_t *ep, ompi_communicator_t *comm)
{
    atomic_fetch_sub_explicit(&ep->works, 1, memory_order_relaxed);
    OBJ_RELEASE(comm); /* the endpoint may go with it, but for who turns it */
}

int mca_pml_epml_work_turn(mca_pml_epml_ep_t *ep, uint32_t most)
{
    /* Each once: one that is put back comes again in the next turn. */
    const uint32_t works = atomic_load_explicit(&ep->works, memory_order_relaxed);
    mpix_endpoints_work_t *work;
    int events = 0;

    if (stepping) {
        return 0;
    }
    mca_pml_epml_check_outside();
    for (most = most < works ? most : works; 0 < most && NULL != (work = take(ep)); --most) {
        ompi_communicator_t *comm = work->comm;
        mpix_endpoints_step_t step;

        stepping = true;
        step = work->step(work);
        stepping = false;
        events += MPIX_ENDPOINTS_STEP_NOTHING != step;
        if (MPIX_ENDPOINTS_STEP_DONE == step) {
            done(ep, comm);
        } else {
            put(ep, work);
        }
    }
    return events;
}
