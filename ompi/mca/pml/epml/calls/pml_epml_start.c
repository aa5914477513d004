/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What libmpi does with a request: start, cancel, free it.
 *
 * Tests: p2p_persistent, p2p_requests
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_calls.h"

#include "ompi/constants.h"

/** Receives that have not been matched can be cancelled; sends cannot, which MPI allows.  Those of
 * a collective are cancelled: it has failed, and its partner may never receive them. */
int mca_pml_epml_request_cancel(ompi_request_t *ompi_request, int flag)
{
    mca_pml_epml_request_t *request = (mca_pml_epml_request_t *) ompi_request;
    mca_pml_epml_ep_t *ep = request->ep;

    (void) flag;
    mca_pml_epml_lock(ep);
    if (NULL != request->posted.queue) {
        epml_match_unpost(&ep->match, &request->posted);
        request->req_ompi.req_status._cancelled = true;
        request->req_ompi.req_status.MPI_SOURCE = MPI_ANY_SOURCE;
        request->req_ompi.req_status.MPI_TAG = MPI_ANY_TAG;
        request->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
        request->req_ompi.req_status._ucount = 0;
        mca_pml_epml_request_done(request);
    } else if (MPI_ANY_TAG > request->tag
               && !atomic_load_explicit(&request->done, memory_order_relaxed)) {
        if (NULL != request->ops->take_back) {
            request->ops->take_back(request);
        }
    } else if (MPI_ANY_TAG > request->tag) {
        /* A collective that has taken note of an error cancels the request and waits for it, where
         * others would free it; but waiting leaves requests that have an error. */
        request->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
    }
    mca_pml_epml_unlock(ep);
    return OMPI_SUCCESS;
}

/**
 * A collective that fails frees its requests, complete or not, and then its buffers, or the user
 * does.  What is under way must be over before that.  It will be: the communicator has lost a
 * member, so all that belongs to its collectives ends, here and at the others' ends.  (Without a
 * loss it need not, after a truncated message for instance; then it is left to itself.)
 */
static __attribute__((noinline)) void see_end(mca_pml_epml_request_t *request)
{
    if (mca_pml_epml_lost_member(request->comm)) {
        (void) mca_pml_epml_request_cancel(&request->req_ompi, true);
        mca_pml_epml_wait_done(request);
    }
}

int mca_pml_epml_request_free(ompi_request_t **ompi_request)
{
    mca_pml_epml_request_t *request = (mca_pml_epml_request_t *) *ompi_request;
    mca_pml_epml_ep_t *ep = request->ep;
    ompi_communicator_t *comm = NULL;

    *ompi_request = MPI_REQUEST_NULL;
    /* Relaxed: a hint; what is done is looked at under the lock. */
    if (OPAL_UNLIKELY(!atomic_load_explicit(&request->done, memory_order_relaxed))
        && MPI_ANY_TAG > request->tag) {
        see_end(request);
    }
    mca_pml_epml_lock(ep);
    if (atomic_load_explicit(&request->done, memory_order_relaxed)) {
        comm = mca_pml_epml_request_finish(request);
    } else {
        request->free_called = true;
    }
    mca_pml_epml_unlock(ep);
    if (OPAL_UNLIKELY(NULL != comm)) {
        mca_pml_epml_check_outside();
        OBJ_RELEASE(comm);
    }
    return OMPI_SUCCESS;
}

int mca_pml_epml_request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        int rc = mca_pml_epml_call_start(requests[i]);

        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

int mca_pml_epml_call_start(ompi_request_t *ompi_request)
{
    mca_pml_epml_request_t *request = (mca_pml_epml_request_t *) ompi_request;

    return OMPI_REQUEST_ACTIVE == ompi_request->req_state ? MPI_ERR_REQUEST
                                                          : request->ops->start(request);
}
