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
 * pml_dump: what is posted and what waits on an endpoint, for people and debuggers.
 */

#include "ompi_config.h"

#include "pml_epml_flow.h"
#include "pml_epml_request.h"

#include "ompi/constants.h"
#include "opal/util/output.h"

static void dump_posted(const epml_match_queue_t *queue, uint64_t context)
{
    for (const epml_match_posted_t *posted = queue->posted_first; NULL != posted;
         posted = posted->next) {
        const mca_pml_epml_request_t *request
            = (const mca_pml_epml_request_t *) ((const char *) posted
                                                - offsetof(mca_pml_epml_request_t, posted));

        if (context == queue->context) {
            opal_output(0, "  posted:     source %d tag %d buffer %p size %zu order %llu",
                        queue->source, queue->tag, request->buffer, request->size,
                        (unsigned long long) posted->sequence);
        }
    }
}

int mca_pml_epml_ep_dump(ompi_communicator_t *comm, int verbose)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_ep_t *ep = epml_comm->ep;

    (void) verbose;
    mca_pml_epml_lock(ep);
    opal_output(0,
                "endpoint %s: rank %d of communicator %s, context %llx; %llu requests on their "
                "way, %llu unexpected messages, %llu messages dropped",
                OMPI_NAME_PRINT(&ep->self->proc->super.proc_name), epml_comm->rank, comm->c_name,
                (unsigned long long) epml_comm->context,
                (unsigned long long) epml_comm->active,
                (unsigned long long) ep->match.unexpected_count, (unsigned long long) ep->dropped);
    for (uint64_t i = 0; i <= ep->match.bucket_mask; ++i) {
        for (const epml_match_queue_t *queue = ep->match.buckets[i]; NULL != queue;
             queue = queue->chain) {
            dump_posted(queue, epml_comm->context);
        }
    }
    for (const epml_match_unexpected_t *message = ep->match.arrival_first; NULL != message;
         message = message->newer) {
        const epml_match_queue_t *queue = epml_match_queue_of(message);

        if (epml_comm->context == queue->context) {
            opal_output(0, "  unexpected: source %d tag %d size %llu", queue->source, queue->tag,
                        (unsigned long long) mca_pml_epml_unexpected_length(
                            (const mca_pml_epml_unexpected_t *) message));
        }
    }
    mca_pml_epml_unlock(ep);
    return OMPI_SUCCESS;
}
