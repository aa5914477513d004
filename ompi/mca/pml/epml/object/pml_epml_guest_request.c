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
 * Requests of guests behind the door: to libmpi those of collectives, to our waiting functions
 * (pml_epml_wait.c) those of an endpoint that is to be turned.  They are ended by any thread.
 *
 * Called by the door and by libmpi.
 *
 * Tests: door
 */

#include "ompi_config.h"

#include "pml_epml_guest_request.h"
#include "pml_epml_lock.h"

#include "ompi/constants.h"

OBJ_CLASS_INSTANCE(mca_pml_epml_guest_request_t, ompi_request_t, NULL, NULL);

static void give_up(mca_pml_epml_guest_request_t *request)
{
    ompi_communicator_t *comm = request->req_ompi.req_mpi_object.comm;

    mca_pml_epml_check_outside();
    if (NULL != request->ops->free) {
        request->ops->free(request->context);
    }
    OMPI_REQUEST_FINI(&request->req_ompi);
    OBJ_RELEASE(request);
    OBJ_RELEASE(comm);
}

int mca_pml_epml_guest_request_free(ompi_request_t **ompi_request)
{
    mca_pml_epml_guest_request_t *request = (mca_pml_epml_guest_request_t *) *ompi_request;

    *ompi_request = MPI_REQUEST_NULL;
    /* Acquire: orders what ended it before its end; partner: the release in
     * mca_pml_epml_guest_request_done. */
    if (EPML_GUEST_ACTIVE
        == atomic_exchange_explicit(&request->state, EPML_GUEST_FREED, memory_order_acq_rel)) {
        return OMPI_SUCCESS;
    }
    /* Who ends it is at its last store, of which libmpi may not have heard. */
    while (REQUEST_COMPLETED
           != __atomic_load_n((void *const *) &request->req_ompi.req_complete, __ATOMIC_ACQUIRE)) {
        epml_lock_relax();
    }
    give_up(request);
    return OMPI_SUCCESS;
}

void mca_pml_epml_guest_request_done(ompi_request_t *ompi_request, int error)
{
    mca_pml_epml_guest_request_t *request = (mca_pml_epml_guest_request_t *) ompi_request;

    ompi_request->req_status.MPI_ERROR = error;
    /* Release: partner is the exchange in mca_pml_epml_guest_request_free; acquire: likewise. */
    if (EPML_GUEST_FREED
        == atomic_exchange_explicit(&request->state, EPML_GUEST_DONE, memory_order_acq_rel)) {
        give_up(request);
        return;
    }
    /* Release: the swap in there alone does not promise it on every machine. */
    atomic_thread_fence(memory_order_release);
    (void) ompi_request_complete(ompi_request, true);
}

/** MPI_Start and MPI_Startall, of persistent ones that are inactive. */
static int start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        mca_pml_epml_guest_request_t *request = (mca_pml_epml_guest_request_t *) requests[i];
        int rc;

        atomic_store_explicit(&request->state, EPML_GUEST_ACTIVE, memory_order_relaxed);
        requests[i]->req_state = OMPI_REQUEST_ACTIVE;
        requests[i]->req_complete = REQUEST_PENDING;
        requests[i]->req_status.MPI_ERROR = MPI_SUCCESS;
        rc = request->ops->start(request->context);
        if (OMPI_SUCCESS != rc) {
            atomic_store_explicit(&request->state, EPML_GUEST_DONE, memory_order_relaxed);
            requests[i]->req_complete = REQUEST_COMPLETED;
            requests[i]->req_state = OMPI_REQUEST_INACTIVE;
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

int mca_pml_epml_guest_request_new(mca_pml_epml_comm_t *comm,
                                   const mpix_endpoints_request_ops_t *ops, void *context,
                                   bool persistent, ompi_request_t **request_p)
{
    mca_pml_epml_guest_request_t *request = OBJ_NEW(mca_pml_epml_guest_request_t);

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    OMPI_REQUEST_INIT(&request->req_ompi, persistent);
    request->req_ompi.req_type = OMPI_REQUEST_COLL;
    request->req_ompi.req_mpi_object.comm = comm->comm;
    request->req_ompi.req_status = ompi_status_empty;
    request->req_ompi.req_free = mca_pml_epml_guest_request_free;
    request->req_ompi.req_start = start;
    request->req_ompi.req_cancel = NULL;
    request->ep = comm->ep;
    request->ops = ops;
    request->context = context;
    atomic_init(&request->state, persistent ? EPML_GUEST_DONE : EPML_GUEST_ACTIVE);
    if (persistent) {
        request->req_ompi.req_complete = REQUEST_COMPLETED;
        request->req_ompi.req_state = OMPI_REQUEST_INACTIVE;
    } else {
        request->req_ompi.req_state = OMPI_REQUEST_ACTIVE;
    }
    OBJ_RETAIN(comm->comm);
    *request_p = &request->req_ompi;
    return OMPI_SUCCESS;
}
