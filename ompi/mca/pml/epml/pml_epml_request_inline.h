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
 * The life of a request on the fast path: drawing, describing the data, holding the communicator,
 * returning.  All under the endpoint's lock.
 */

#ifndef MCA_PML_EPML_REQUEST_INLINE_H
#define MCA_PML_EPML_REQUEST_INLINE_H

#include "ompi_config.h"

#include "pml_epml_request.h"

BEGIN_C_DECLS

/** A new request; the free list of the endpoint is empty.  @return NULL without memory */
mca_pml_epml_request_t *mca_pml_epml_request_new(void);

/** A cleared request of ep.  @return NULL without memory */
static inline mca_pml_epml_request_t *mca_pml_epml_request_get(mca_pml_epml_ep_t *ep,
                                                               mca_pml_epml_comm_t *comm,
                                                               mca_pml_epml_request_kind_t kind)
{
    mca_pml_epml_request_t *request = ep->free_requests;

    if (OPAL_LIKELY(NULL != request)) {
        ep->free_requests = request->next;
    } else {
        request = mca_pml_epml_request_new();
        if (NULL == request) {
            return NULL;
        }
    }
    OMPI_REQUEST_INIT(&request->req_ompi, false);
    request->req_ompi.req_mpi_object.comm = comm->comm;
    request->ep = ep;
    request->comm = comm;
    request->kind = kind;
    atomic_store_explicit(&request->done, false, memory_order_relaxed);
    request->counted = false;
    request->free_called = false;
    request->blocking = false;
    request->convertor_set = false;
    request->has_remote_handle = false;
    request->in_backlog = false;
    request->get_starting = false;
    request->posted.queue = NULL;
    return request;
}

/** Back to the free list: the user and the engine are through. */
static inline void mca_pml_epml_request_put(mca_pml_epml_request_t *request)
{
    mca_pml_epml_ep_t *ep = request->ep;

    if (OPAL_UNLIKELY(EPML_NUMBER_NONE != request->number)) {
        mca_pml_epml_number_drop(request);
    }
    if (OPAL_UNLIKELY(request->convertor_set)) {
        (void) opal_convertor_cleanup(&request->convertor);
        request->convertor_set = false;
    }
    if (NULL != request->datatype && !ompi_datatype_is_predefined(request->datatype)) {
        OBJ_RELEASE(request->datatype);
    }
    OMPI_REQUEST_FINI(&request->req_ompi);
    request->next = ep->free_requests;
    ep->free_requests = request;
}

/** Describe the user's data. */
static inline void mca_pml_epml_request_set_data(mca_pml_epml_request_t *request,
                                                 const void *buffer, size_t count,
                                                 ompi_datatype_t *datatype)
{
    request->buffer = (void *) buffer;
    request->count = count;
    request->datatype = datatype;
    if (!ompi_datatype_is_predefined(datatype)) {
        OBJ_RETAIN(datatype);
    }
    request->contiguous = mca_pml_epml_is_contiguous(buffer, count, datatype, &request->base,
                                                     &request->size);
}

/** The request is on its way without its caller: hold the communicator until it is done with. */
static inline void mca_pml_epml_request_count(mca_pml_epml_request_t *request)
{
    request->counted = true;
    /* Relaxed load and store: written under the lock only. */
    atomic_store_explicit(&request->ep->active_requests,
                          atomic_load_explicit(&request->ep->active_requests, memory_order_relaxed)
                              + 1,
                          memory_order_relaxed);
    if (0 == request->comm->active++) {
        OBJ_RETAIN(request->comm->comm);
    }
}

/** The request does not hold the communicator any longer.
 * @return the communicator, if it must be released when the lock has been given back */
static inline ompi_communicator_t *mca_pml_epml_request_uncount(mca_pml_epml_request_t *request)
{
    if (!request->counted) {
        return NULL;
    }
    request->counted = false;
    atomic_store_explicit(&request->ep->active_requests,
                          atomic_load_explicit(&request->ep->active_requests, memory_order_relaxed)
                              - 1,
                          memory_order_relaxed);
    return 0 == --request->comm->active ? request->comm->comm : NULL;
}

/** The user is through with a request that the engine is through with.
 * @return its communicator, if it must be released when the lock has been given back, or NULL */
static inline ompi_communicator_t *mca_pml_epml_request_finish(mca_pml_epml_request_t *request)
{
    ompi_communicator_t *comm = mca_pml_epml_request_uncount(request);

    mca_pml_epml_request_put(request);
    return comm;
}

END_C_DECLS

#endif /* MCA_PML_EPML_REQUEST_INLINE_H */
