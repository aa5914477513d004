/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests: drawing and returning, completion, and the numbers by which peers name them.
 *
 * Tests: p2p_requests, p2p_persistent, fuzz/epml, coll_nomem, ulfm, ulfm_revoke
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "pml_epml_buffer.h"
#include "pml_epml_client_request.h"
#include "pml_epml_lock.h"
#include "pml_epml_request.h"
#include "pml_epml_request_inline.h"
#include "pml_epml_types.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"

static void request_construct(mca_pml_epml_request_t *request)
{
    memset((char *) request + sizeof(request->req_ompi), 0,
           sizeof(*request) - sizeof(request->req_ompi));
    request->req_ompi.req_type = EPML_REQUEST_TYPE;
    request->req_ompi.req_start = mca_pml_epml_request_start;
    request->req_ompi.req_free = mca_pml_epml_request_free;
    request->req_ompi.req_cancel = mca_pml_epml_request_cancel;
    request->number = EPML_NUMBER_NONE;
    OBJ_CONSTRUCT(&request->convertor, opal_convertor_t);
}

static void request_destruct(mca_pml_epml_request_t *request)
{
    OBJ_DESTRUCT(&request->convertor);
}

OBJ_CLASS_INSTANCE(mca_pml_epml_request_t, ompi_request_t, request_construct, request_destruct);

mca_pml_epml_request_t *mca_pml_epml_request_new(void)
{
    return OBJ_NEW(mca_pml_epml_request_t);
}

int mca_pml_epml_request_convertor(mca_pml_epml_request_t *request)
{
    size_t position = 0;

    return request->convertor_set ? opal_convertor_set_position(&request->convertor, &position)
                                  : mca_pml_epml_request_prepare(request, 0);
}

int mca_pml_epml_request_prepare(mca_pml_epml_request_t *request, uint32_t flags)
{
    const int rc = (request->ops->sends ? opal_convertor_copy_and_prepare_for_send
                                        : opal_convertor_copy_and_prepare_for_recv)(
        ompi_mpi_local_convertor, &request->datatype->super, request->count, request->buffer,
        (int32_t) flags, &request->convertor);

    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        (void) opal_convertor_cleanup(&request->convertor);
        return rc;
    }
    request->convertor_set = true;
    request->extras = true;
    return OMPI_SUCCESS;
}

void mca_pml_epml_requests_trim(mca_pml_epml_ep_t *ep)
{
    while (NULL != ep->requests.unused) {
        mca_pml_epml_request_t *request = ep->requests.unused;

        ep->requests.unused = request->next;
        OBJ_RELEASE(request);
    }
    mca_pml_epml_client_requests_trim(ep);
}

bool mca_pml_epml_request_put_type(mca_pml_epml_request_t *request)
{
    ompi_datatype_t *datatype = request->datatype;

    if (NULL == datatype || ompi_datatype_is_predefined(datatype)
        || 0 != opal_obj_update((opal_object_t *) datatype, -1)) {
        return true;
    }
    request->last_of_type = true;
    request->next = request->ep->requests.deferred;
    request->ep->requests.deferred = request;
    return false;
}

/** The datatype goes, and calls what the user has set for that; and its last user.  The endpoint
 * may be gone. */
static void end_type(mca_pml_epml_request_t *request)
{
    ompi_datatype_t *datatype = request->datatype;

    datatype->super.super.obj_reference_count = 1; /* the one that put_type has given up */
    OBJ_RELEASE(datatype);
    OMPI_REQUEST_FINI(&request->req_ompi);
    OBJ_RELEASE(request);
}

/** The engine is through, and so is the user: recycle.  Not under the lock. */
static void request_recycle(mca_pml_epml_request_t *request)
{
    mca_pml_epml_ep_t *ep = request->ep;
    ompi_communicator_t *comm;

    mca_pml_epml_lock(ep);
    comm = mca_pml_epml_request_finish(request);
    mca_pml_epml_unlock(ep);
    if (NULL != comm) {
        mca_pml_epml_check_outside();
        OBJ_RELEASE(comm);
    }
}

void mca_pml_epml_run_deferred(mca_pml_epml_request_t *deferred)
{
    while (NULL != deferred) {
        mca_pml_epml_request_t *request = deferred;

        mca_pml_epml_check_outside();
        deferred = request->next;
        if (request->last_of_type) {
            end_type(request);
        } else if (request->free_called) {
            request_recycle(request);
        } else {
            /* Release: the swap in there alone does not promise it on every machine. */
            atomic_thread_fence(memory_order_release);
            (void) ompi_request_complete(&request->req_ompi, true);
        }
    }
}

void mca_pml_epml_request_complete_slow(mca_pml_epml_request_t *request)
{
    if (NULL != request->ops->done) {
        request->ops->done(request);
        return;
    }
    request->next = request->ep->requests.deferred;
    request->ep->requests.deferred = request;
}

void mca_pml_epml_bsend_free(mca_pml_epml_comm_t *comm, void *room)
{
    if (!mca_pml_epml_buffer_free(comm->ep, room)) {
        mca_pml_epml_compat_bsend_free(comm->comm, room);
    }
}

/** Out of line: of a buffered send alone. */
static __attribute__((noinline)) void request_leave_buffer(mca_pml_epml_request_t *request)
{
    mca_pml_epml_bsend_free(request->comm, request->bsend_buffer);
    request->bsend_buffer = NULL;
}

void mca_pml_epml_request_done(mca_pml_epml_request_t *request)
{
    if (OPAL_UNLIKELY(NULL != request->bsend_buffer)) {
        request_leave_buffer(request);
    }
    mca_pml_epml_request_complete(request);
}

bool mca_pml_epml_request_put_extras(mca_pml_epml_request_t *request)
{
    if (NULL != request->ops->put) {
        request->ops->put(request);
        return false;
    }
    mca_pml_epml_request_id_drop(request);
    if (request->convertor_set) {
        (void) opal_convertor_cleanup(&request->convertor);
        request->convertor_set = false;
    }
    return mca_pml_epml_request_put_type(request);
}

int mca_pml_epml_mpi_error(int rc)
{
    switch (rc) {
    case OMPI_ERR_UNREACH:
        return MPI_ERR_PROC_FAILED;
    case OMPI_ERR_OUT_OF_RESOURCE: /* libmpi would make MPI_ERR_INTERN of it */
        return MPI_ERR_NO_MEM;
    case OMPI_ERR_NOT_AVAILABLE: /* a transport without memory for the connection; it said so */
        return MPI_ERR_NO_MEM;
    default:
        return ompi_errcode_get_mpi_code(rc);
    }
}

void mca_pml_epml_request_fail(mca_pml_epml_request_t *request, int rc)
{
    const int error = mca_pml_epml_mpi_error(rc);

    request->req_ompi.req_status.MPI_ERROR = MPI_ERR_PROC_FAILED == error
                                                 ? mca_pml_epml_loss_error(request->comm)
                                                 : error;
    mca_pml_epml_request_done(request);
}

void mca_pml_epml_request_activate(mca_pml_epml_request_t *request)
{
    ompi_request_t *ompi_request = &request->req_ompi;

    atomic_store_explicit(&request->done, false, memory_order_relaxed);
    ompi_request->req_state = OMPI_REQUEST_ACTIVE;
    ompi_request->req_complete = REQUEST_PENDING;
    ompi_request->req_status._cancelled = 0;
    ompi_request->req_status.MPI_ERROR = MPI_SUCCESS;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/** Numbers of an endpoint start with a generation of their own, so that a late answer to an earlier
 * user of the same network address finds nothing. */
static _Atomic uint32_t next_generation = 1;

#define EPML_NUMBER_GENERATION_MASK (UINT32_MAX >> EPML_NUMBER_INDEX_BITS)

int mca_pml_epml_request_id_assign(mca_pml_epml_request_t *request)
{
    epml_request_ids_t *numbers = &request->ep->numbers;
    epml_request_id_slot_t *slot;
    uint32_t index;

    if (EPML_NUMBER_NONE != request->number) {
        return OMPI_SUCCESS;
    }
    /* Relaxed: only a number that differs is wanted. */
    if (EPML_NUMBER_NONE == numbers->first_free
        && !epml_request_ids_extend(numbers, atomic_fetch_add_explicit(&next_generation, 1,
                                                                       memory_order_relaxed))) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    index = numbers->first_free;
    slot = epml_request_ids_slot(numbers, index);
    numbers->first_free = slot->next_free;
    slot->request = request;
    request->extras = true;
    ++slot->generation;
    request->number = (slot->generation & EPML_NUMBER_GENERATION_MASK) << EPML_NUMBER_INDEX_BITS
                      | index;
    return OMPI_SUCCESS;
}

void mca_pml_epml_request_id_drop(mca_pml_epml_request_t *request)
{
    epml_request_ids_t *numbers = &request->ep->numbers;
    uint32_t index = request->number & EPML_NUMBER_INDEX_MASK;
    epml_request_id_slot_t *slot;

    if (EPML_NUMBER_NONE == request->number) {
        return;
    }
    slot = epml_request_ids_slot(numbers, index);
    slot->request = NULL;
    slot->next_free = numbers->first_free;
    numbers->first_free = index;
    request->number = EPML_NUMBER_NONE;
}

mca_pml_epml_request_t *mca_pml_epml_request_id_find(mca_pml_epml_ep_t *ep, uint32_t number)
{
    uint32_t index = number & EPML_NUMBER_INDEX_MASK;
    mca_pml_epml_request_t *request = index < ep->numbers.count
                                          ? epml_request_ids_slot(&ep->numbers, index)->request
                                          : NULL;

    return NULL != request && number == request->number ? request : NULL;
}

bool mca_pml_epml_num_endpoints_may_be(const mca_pml_epml_ep_t *ep, uint32_t number)
{
    return (number & EPML_NUMBER_INDEX_MASK) < ep->numbers.count;
}
