/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of the engine's clients: to libmpi those of collectives, to our waiting functions
 * (pml_epml_wait.c) those of an endpoint that is to be progressed.  They are ended by any thread.
 *
 * When a component has returned such a request, libmpi's call attaches to it what the operation
 * must keep (a datatype, an operation), with a function that releases it and that libmpi's requests
 * call as they complete (ompi_coll_base_retain_op and its like).  By then another thread may have
 * ended the request.  So the ending thread touches nothing but status and flag, and what is
 * attached is released with the request: libmpi frees it in a call that comes after the one that
 * has made it.
 *
 * One of an operation on a window is a request of that to libmpi, which calls its error handler and
 * hangs nothing on it.
 *
 * On a persistent one libmpi hangs nothing, as it is complete until it is started: the client has to
 * keep what it needs.
 *
 * Called by the layer service and by libmpi.
 *
 * Tests: client
 */

#include "ompi_config.h"

#include "pml_epml_client_request.h"
#include "pml_epml_lock.h"

#include "ompi/constants.h"

OBJ_CLASS_INSTANCE(mca_pml_epml_client_request_t, ompi_coll_base_nbc_request_t, NULL, NULL);

/** In place of REQUEST_PENDING: the user has freed it before it has ended. */
static char freed;
#define FREED ((void *) &freed)

/** libmpi's flag, which is no atomic type, but written as one. */
static inline void **flag_of(mca_pml_epml_client_request_t *request)
{
    return (void **) &request->req_nbc.super.req_complete;
}

/** Let go of what libmpi has hung on it; and of copies that its calls from Fortran have made. */
static void let_go(mca_pml_epml_client_request_t *request)
{
    ompi_coll_base_nbc_request_t *nbc = &request->req_nbc;
    const ompi_request_complete_fn_t hung = nbc->super.req_complete_cb;

    if (OPAL_UNLIKELY(NULL != hung)) {
        if (NULL != request->types[0] && NULL != nbc->data.refcounted.vecs.stypes) {
            nbc->data.refcounted.vecs.stypes = request->types[0];
        }
        if (NULL != request->types[1] && NULL != nbc->data.refcounted.vecs.rtypes) {
            nbc->data.refcounted.vecs.rtypes = request->types[1];
        }
        nbc->super.req_complete_cb = NULL;
        (void) hung(&nbc->super);
    }
    /* Pointers, or, from Open MPI 6 on, numbers of their size. */
    for (int i = 0; i < OMPI_REQ_NB_RELEASE_ARRAYS && 0 != nbc->data.release_arrays[i]; ++i) {
        free((void *) (intptr_t) nbc->data.release_arrays[i]);
    }
}

static void give_up(mca_pml_epml_client_request_t *request)
{
    ompi_communicator_t *comm = request->comm;

    mca_pml_epml_check_outside();
    let_go(request);
    if (NULL != request->ops->free) {
        request->ops->free(request->context);
    }
    OMPI_REQUEST_FINI(&request->req_nbc.super);
    mca_pml_epml_lock(request->ep);
    request->next = request->ep->clients_unused;
    request->ep->clients_unused = request;
    mca_pml_epml_unlock(request->ep);
    OBJ_RELEASE(comm); /* the endpoint may go with it, and the request then */
}

void mca_pml_epml_client_requests_trim(mca_pml_epml_ep_t *ep)
{
    while (NULL != ep->clients_unused) {
        mca_pml_epml_client_request_t *request = ep->clients_unused;

        ep->clients_unused = request->next;
        OBJ_RELEASE(request);
    }
}

/** One that nothing hangs on.  @return NULL without memory */
static mca_pml_epml_client_request_t *client_request_get(mca_pml_epml_ep_t *ep)
{
    mca_pml_epml_client_request_t *request;

    mca_pml_epml_lock(ep);
    request = ep->clients_unused;
    if (OPAL_LIKELY(NULL != request)) {
        ep->clients_unused = request->next;
    }
    mca_pml_epml_unlock(ep);
    if (OPAL_UNLIKELY(NULL == request)) {
        return OBJ_NEW(mca_pml_epml_client_request_t);
    }
    request->req_nbc.data.refcounted.objs.objs[0] = NULL;
    request->req_nbc.data.refcounted.objs.objs[1] = NULL;
    request->req_nbc.data.release_arrays[0] = 0;
    return request;
}

static int client_request_free(ompi_request_t **ompi_request)
{
    mca_pml_epml_client_request_t *request = (mca_pml_epml_client_request_t *) *ompi_request;
    void *state = REQUEST_PENDING;

    *ompi_request = MPI_REQUEST_NULL;
    /* Acquire: what ended it before its end; release: what is attached to it before the ending
     * thread gives it up.  Partner of both: the exchange in mca_pml_epml_client_request_done. */
    if (REQUEST_COMPLETED == __atomic_load_n(flag_of(request), __ATOMIC_ACQUIRE)
        || !__atomic_compare_exchange_n(flag_of(request), &state, FREED, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
        give_up(request);
    }
    return OMPI_SUCCESS;
}

void mca_pml_epml_client_request_done(ompi_request_t *ompi_request, int error)
{
    mca_pml_epml_client_request_t *request = (mca_pml_epml_client_request_t *) ompi_request;
    void *before;

    ompi_request->req_status.MPI_ERROR = error;
    /* Release: the status and what the client has done before the end; partners:
     * mca_pml_epml_is_complete and client_request_free.  Acquire: what hangs on one that has been
     * freed; partner: the exchange in client_request_free. */
    before = __atomic_exchange_n(flag_of(request), REQUEST_COMPLETED, __ATOMIC_ACQ_REL);
    if (OPAL_UNLIKELY(REQUEST_PENDING != before)) {
        if (FREED == before) {
            give_up(request);
        } else { /* a component that waits by itself, as none of Open MPI's does */
            wait_sync_update((ompi_wait_sync_t *) before, 1, error);
        }
    }
}

void mca_pml_epml_client_request_types(ompi_request_t *ompi_request, ompi_datatype_t *const *send,
                                       ompi_datatype_t *const *receive)
{
    mca_pml_epml_client_request_t *request = (mca_pml_epml_client_request_t *) ompi_request;

    request->types[0] = send;
    request->types[1] = receive;
}

int mca_pml_epml_client_request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; ++i) {
        mca_pml_epml_client_request_t *request = (mca_pml_epml_client_request_t *) requests[i];
        int rc;

        requests[i]->req_state = OMPI_REQUEST_ACTIVE;
        requests[i]->req_status.MPI_ERROR = MPI_SUCCESS;
        /* Relaxed: start has given it to the thread that ends it. */
        __atomic_store_n(flag_of(request), REQUEST_PENDING, __ATOMIC_RELAXED);
        rc = request->ops->start(request->context);
        if (MPIX_ENDPOINTS_REQUEST_COMPLETE == rc) {
            /* Relaxed: no other thread knows it yet. */
            __atomic_store_n(flag_of(request), REQUEST_COMPLETED, __ATOMIC_RELAXED);
        } else if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
            __atomic_store_n(flag_of(request), REQUEST_COMPLETED, __ATOMIC_RELAXED);
            requests[i]->req_state = OMPI_REQUEST_INACTIVE;
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

int mca_pml_epml_client_request_new(mca_pml_epml_comm_t *comm,
                                    const mpix_endpoints_request_ops_t *ops, void *context,
                                    bool persistent, ompi_request_t **request_p)
{
    mca_pml_epml_client_request_t *request = client_request_get(comm->ep);

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    OMPI_REQUEST_INIT(&request->req_nbc.super, persistent); /* inactive, so far */
    request->req_nbc.super.req_type = OMPI_REQUEST_COLL;
    request->req_nbc.super.req_mpi_object.comm = comm->comm;
    request->req_nbc.super.req_status = ompi_status_empty;
    request->req_nbc.super.req_free = client_request_free;
    request->req_nbc.super.req_start = mca_pml_epml_client_request_start;
    request->req_nbc.super.req_cancel = NULL;
    request->comm = comm->comm;
    request->ep = comm->ep;
    request->ops = ops;
    request->context = context;
    request->types[0] = request->types[1] = NULL;
    if (!persistent) {
        request->req_nbc.super.req_state = OMPI_REQUEST_ACTIVE;
    }
    OBJ_RETAIN(comm->comm);
    *request_p = &request->req_nbc.super;
    return OMPI_SUCCESS;
}

int mca_pml_epml_client_request_new_win(mca_pml_epml_comm_t *comm, struct ompi_win_t *win,
                                        const mpix_endpoints_request_ops_t *ops, void *context,
                                        ompi_request_t **request_p)
{
    const int rc = mca_pml_epml_client_request_new(comm, ops, context, false, request_p);

    if (OMPI_SUCCESS == rc) { /* libmpi calls the window's error handler */
        (*request_p)->req_type = OMPI_REQUEST_WIN;
        (*request_p)->req_mpi_object.win = win;
    }
    return rc;
}
