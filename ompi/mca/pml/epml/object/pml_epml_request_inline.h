/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The life of a request on the fast path: drawing, describing the data, holding the communicator,
 * returning.  All under the endpoint's lock.
 *
 * Tests: p2p_requests, p2p_types, large
 */

#ifndef MCA_PML_EPML_REQUEST_INLINE_H
#define MCA_PML_EPML_REQUEST_INLINE_H

#include "ompi_config.h"

#include "pml_epml_request.h"
#include "pml_epml_types.h"

BEGIN_C_DECLS

/** A new request; the free list of the endpoint is empty.  @return NULL without memory */
mca_pml_epml_request_t *mca_pml_epml_request_new(void);

/** A cleared request of ep.  @return NULL without memory */
static inline mca_pml_epml_request_t *mca_pml_epml_request_get(
    mca_pml_epml_ep_t *ep, mca_pml_epml_comm_t *comm, const mca_pml_epml_request_ops_t *ops)
{
    mca_pml_epml_request_t *request = ep->requests.unused;

    if (OPAL_LIKELY(NULL != request)) {
        ep->requests.unused = request->next;
    } else {
        request = mca_pml_epml_request_new();
        if (NULL == request) {
            return NULL;
        }
    }
    OMPI_REQUEST_INIT(&request->req_ompi, false);
    request->req_ompi.req_mpi_object.comm = comm->comm;
    /* Not the last user's: Open MPI frees all requests of a list that seem to have failed, also
     * pending and inactive ones, when one of the list has. */
    request->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
    request->ep = ep;
    request->comm = comm;
    request->ops = ops;
    atomic_store_explicit(&request->done, false, memory_order_relaxed);
    request->counted = false;
    request->free_called = false;
    request->blocking = false;
    request->convertor_set = false;
    request->has_remote_handle = false;
    request->in_pending_queue = false;
    request->get_starting = false;
    request->extras = false;
    request->last_of_type = false;
    request->posted.queue = NULL;
    return request;
}

/** Back to the free list: the user and the engine are through. */
static inline void mca_pml_epml_request_put(mca_pml_epml_request_t *request)
{
    mca_pml_epml_ep_t *ep = request->ep;

    if (OPAL_UNLIKELY(request->extras) && !mca_pml_epml_request_put_extras(request)) {
        return;
    }
    OMPI_REQUEST_FINI(&request->req_ompi);
    request->next = ep->requests.unused;
    ep->requests.unused = request;
}

/** Give the transport's registration of the data back, if there is one. */
static inline void mca_pml_epml_request_forget_handle(mca_pml_epml_request_t *request)
{
    mca_btl_ep_module_t *module = request->handle_module;

    if (OPAL_UNLIKELY(NULL != request->local_handle)) {
        (void) module->super.btl_deregister_mem(&module->super, request->local_handle);
        request->local_handle = NULL;
    }
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
        request->extras = true;
    }
    request->contiguous = mca_pml_epml_is_contiguous(buffer, count, datatype, &request->base,
                                                     &request->size);
}

static inline void mca_pml_epml_active_comms_add(mca_pml_epml_ep_t *ep, int count)
{
    /* Relaxed load and store: written under the lock only. */
    atomic_store_explicit(&ep->comms.active,
                          atomic_load_explicit(&ep->comms.active, memory_order_relaxed)
                              + (uint32_t) count,
                          memory_order_relaxed);
}

/** Something is on its way that needs the communicator. */
static inline void mca_pml_epml_comm_hold(mca_pml_epml_comm_t *comm)
{
    if (0 == comm->active++) {
        mca_pml_epml_active_comms_add(comm->ep, 1);
        OBJ_RETAIN(comm->comm);
    }
}

/** The request is on its way without its caller: hold the communicator until it is done with. */
static inline void mca_pml_epml_request_count(mca_pml_epml_request_t *request)
{
    request->counted = true;
    mca_pml_epml_comm_hold(request->comm);
}

/** The request does not hold the communicator any longer.
 * @return the communicator, if it must be released when the lock has been given back */
static inline ompi_communicator_t *mca_pml_epml_request_uncount(mca_pml_epml_request_t *request)
{
    if (!request->counted) {
        return NULL;
    }
    request->counted = false;
    if (OPAL_LIKELY(0 != --request->comm->active)) {
        return NULL;
    }
    mca_pml_epml_active_comms_add(request->ep, -1);
    return request->comm->comm;
}

/** The user is through with a request that the engine is through with.
 * @return its communicator, if it must be released when the lock has been given back, or NULL */
static inline ompi_communicator_t *mca_pml_epml_request_finish(mca_pml_epml_request_t *request)
{
    ompi_communicator_t *comm = mca_pml_epml_request_uncount(request);

    mca_pml_epml_request_put(request);
    return comm;
}

/**
 * The engine is through with the request: tell the user.
 *
 * Open MPI swaps the completion flag, because the thread that waits may be putting the address of
 * its synchronization object there at the same moment.  Only Open MPI's own waiting functions do
 * so, and none of them is ever called with a request of ours that is not complete
 * (pml_epml_wait.c), so a store does; that saves a tenth of a receiver's time at 8 bytes.  Should
 * an object be there all the same, or a callback be set, Open MPI's function serves.
 */
static inline void mca_pml_epml_request_complete(mca_pml_epml_request_t *request)
{
    void **flag = (void **) &request->req_ompi.req_complete;

    if (request->blocking) {
        /* Release pairs with the acquire in mca_pml_epml_wait_done: the data and the status are
         * ordered before the flag. */
        atomic_store_explicit(&request->done, true, memory_order_release);
        return;
    }
    /* Relaxed: read under the lock only. */
    atomic_store_explicit(&request->done, true, memory_order_relaxed);
    if (OPAL_UNLIKELY(request->free_called || NULL != request->req_ompi.req_complete_cb
                      || REQUEST_PENDING != __atomic_load_n(flag, __ATOMIC_RELAXED))) {
        mca_pml_epml_request_complete_slow(request);
        return;
    }
    /* Release: orders the data and the status before the flag; partners:
     * mca_pml_epml_is_complete, and the barriers behind Open MPI's looks at it. */
    __atomic_store_n(flag, REQUEST_COMPLETED, __ATOMIC_RELEASE);
}

END_C_DECLS

#endif /* MCA_PML_EPML_REQUEST_INLINE_H */
