/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Open requests of an endpoint: counted for a dump, waited for by MPI_Comm_disconnect; and what is
 * in its attached buffer, waited for by MPI_Buffer_detach.
 *
 * There is no list of all requests.  One that is started and not complete is in one of three
 * places: among the posted receives, among those with a number, which the peer knows,
 * or in a pending queue.
 *
 * Tests: disconnect, p2p_dump, p2p_bsend (static)
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_open.h"

/** What is counted. */
typedef struct filter_t {
    const mca_pml_epml_comm_t *comm; /**< NULL: any */
    bool blocking;
} filter_t;

static bool is_open(const mca_pml_epml_request_t *request, const filter_t *filter)
{
    /* Relaxed: written under the lock.  One that is done may have kept its number, and a
     * partitioned receive that is inactive waits for its sender among the posted ones. */
    return NULL != request && (request->blocking || !filter->blocking)
           && (NULL == filter->comm || filter->comm == request->comm)
           && !atomic_load_explicit(&request->done, memory_order_relaxed);
}

static uint64_t open_posted(const epml_match_queue_t *queue, const filter_t *filter)
{
    uint64_t count = 0;

    for (const epml_match_posted_t *posted = queue->posted_first; NULL != posted;
         posted = posted->next) {
        count += is_open((const mca_pml_epml_request_t *) ((const char *) posted
                                                           - offsetof(mca_pml_epml_request_t,
                                                                      posted)),
                         filter);
    }
    return count;
}

/** Those of a pending queue that have no number yet. */
static uint64_t open_delayed(const epml_pending_thing_t *queue, const filter_t *filter)
{
    uint64_t count = 0;

    for (const epml_pending_thing_t *thing = queue; NULL != thing; thing = thing->next) {
        const mca_pml_epml_request_t *request = mca_pml_epml_pending_of(thing)->request;

        count += NULL != request && EPML_NUMBER_NONE == request->number && is_open(request, filter);
    }
    return count;
}

uint64_t mca_pml_epml_open_requests(const mca_pml_epml_ep_t *ep, const mca_pml_epml_comm_t *comm,
                                    bool blocking)
{
    const filter_t filter = {comm, blocking};
    uint64_t count = 0;

    for (uint64_t i = 0; i < ep->match.buckets; ++i) {
        for (const epml_match_queue_t *queue = *epml_match_bucket(&ep->match, i); NULL != queue;
             queue = queue->chain) {
            count += open_posted(queue, &filter);
        }
    }
    for (uint32_t i = 0; i < ep->numbers.count; ++i) {
        count += is_open(epml_request_ids_slot(&ep->numbers, i)->request, &filter);
    }
    for (const epml_pending_thing_t *queue = ep->wire.pending.first; NULL != queue;
         queue = queue->next_queue) {
        count += open_delayed(queue, &filter);
    }
    return count;
}

static bool is_drained(const mca_pml_epml_comm_t *comm)
{
    bool drained;

    mca_pml_epml_lock(comm->ep);
    /* Mostly nothing holds it.  Else it may be a request that is complete or inactive, which the
     * user has not freed. */
    drained = 0 == comm->active || 0 == mca_pml_epml_open_requests(comm->ep, comm, false);
    mca_pml_epml_unlock(comm->ep);
    return drained;
}

void mca_pml_epml_comm_drain(ompi_communicator_t *ompi_comm)
{
    const mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);
    mca_pml_epml_waiter_t waiter = {0};

    while (!is_drained(comm)) {
        const int events = mca_pml_epml_ep_poll(comm->ep);

        /* The peer may be an endpoint of this thread. */
        mca_pml_epml_process_progress();
        mca_pml_epml_progressed(&waiter, comm->ep, events);
    }
    mca_pml_epml_wait_over(&waiter);
}

int mca_pml_epml_attach_buffer(ompi_communicator_t *ompi_comm, void *address, size_t size)
{
    mca_pml_epml_ep_t *ep = mca_pml_epml_comm(ompi_comm)->ep;
    int rc;

    mca_pml_epml_lock(ep);
    rc = mca_pml_epml_buffer_attach(ep, address, size);
    mca_pml_epml_unlock(ep);
    return rc;
}

void mca_pml_epml_detach_buffer(ompi_communicator_t *ompi_comm, void **address, size_t *size)
{
    mca_pml_epml_ep_t *ep = mca_pml_epml_comm(ompi_comm)->ep;
    mca_pml_epml_waiter_t waiter = {0};
    bool is_over;

    do {
        mca_pml_epml_lock(ep);
        is_over = mca_pml_epml_buffer_detach(ep, address, size);
        mca_pml_epml_unlock(ep);
        if (!is_over) {
            const int events = mca_pml_epml_ep_poll(ep);

            mca_pml_epml_process_progress(); /* the receiver may be an endpoint of this thread */
            mca_pml_epml_progressed(&waiter, ep, events);
        }
    } while (!is_over);
    mca_pml_epml_wait_over(&waiter);
}
