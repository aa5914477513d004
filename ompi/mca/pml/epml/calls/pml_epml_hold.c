/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of libmpi's that hold their communicator.
 *
 * MPI_Comm_free lets pending operations complete.  Requests of ours hold a reference on their
 * communicator for that (mca_pml_epml_request_count).  The requests of coll/libnbc and of
 * MPI_Comm_idup consist of rounds of messages and hold none: between two rounds the last reference
 * may go, and the next round then uses freed memory.  Here they get one.  It is released when the
 * request is freed, which MPI_Wait and its relatives do, or, of a persistent one, MPI_Request_free;
 * so an inactive persistent request holds its communicator, too.
 *
 * The hook is req_free, the one function of a request that only the thread calls which frees it.
 * It is set before the user has the request; progress in other threads does not read it.
 *
 * Called by pml_epml_libnbc.c, and by the extension for MPI_Comm_idup.
 *
 * Tests: comm_pending
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_hold.h"

#include "ompi/communicator/comm_request.h"
#include "ompi/constants.h"

/** The functions by which libmpi frees requests of each kind. */
static _Atomic(ompi_request_free_fn_t) free_coll, free_comm;

/**
 * The function by which libmpi frees requests of a kind, from a new one: the request at hand may
 * have been used before, with a hook that libmpi has not taken off (ompi_coll_base_retain_op).
 *
 * @return NULL: without memory
 */
static ompi_request_free_fn_t libmpi_free(ompi_request_t *request)
{
    _Atomic(ompi_request_free_fn_t) *known = OMPI_REQUEST_COLL == request->req_type ? &free_coll
                                                                                    : &free_comm;
    /* Relaxed: a constant, the same from each thread. */
    ompi_request_free_fn_t function = atomic_load_explicit(known, memory_order_relaxed);

    if (OPAL_UNLIKELY(NULL == function)) {
        ompi_request_t *fresh
            = (ompi_request_t *) opal_obj_new(((opal_object_t *) request)->obj_class);

        if (NULL == fresh) {
            return NULL;
        }
        function = fresh->req_free;
        OBJ_RELEASE(fresh);
        atomic_store_explicit(known, function, memory_order_relaxed);
    }
    return function;
}

/** Relaxed: threads hand requests to each other by libmpi's free list, which orders them.  Atomic
 * because ThreadSanitizer does not see that list at work. */
static inline void set_free(ompi_request_t *request, ompi_request_free_fn_t function)
{
    __atomic_store_n(&request->req_free, function, __ATOMIC_RELAXED);
}

static int free_held(ompi_request_t **request_p)
{
    ompi_request_t *request = *request_p;
    const ompi_request_free_fn_t function = libmpi_free(request);
    ompi_communicator_t *comm = request->req_mpi_object.comm;
    int rc;

    /* Before: afterwards another thread may have it, on an ordinary communicator. */
    set_free(request, function);
    rc = function(request_p);
    if (OMPI_SUCCESS != rc) {
        set_free(request, free_held); /* an active one, which libmpi does not free */
        return rc;
    }
    mca_pml_epml_check_outside();
    OBJ_RELEASE(comm);
    return OMPI_SUCCESS;
}

void mca_pml_epml_hold(ompi_request_t *request, ompi_communicator_t *comm)
{
    if ((OMPI_REQUEST_COLL != request->req_type && OMPI_REQUEST_COMM != request->req_type)
        || NULL == libmpi_free(request)) {
        return;
    }
    if (OMPI_COMM_IS_INTER(comm)) {
        mca_pml_epml_hold_local(comm);
    }
    OBJ_RETAIN(comm);
    set_free(request, free_held);
}

/* ---- of intercommunicators ------------------------------------------------------------------- */

/* ompi_comm_free leaves an intrinsic c_local_comm alone; libmpi looks at that flag nowhere else. */

void mca_pml_epml_hold_local(ompi_communicator_t *comm)
{
    ompi_communicator_t *local = comm->c_local_comm;

    if (NULL != local && mca_pml_epml_is_endpoint_comm(local)) {
        /* Relaxed: read by the thread that frees comm, which its user orders after this. */
        (void) __atomic_fetch_or(&local->c_flags, OMPI_COMM_INTRINSIC, __ATOMIC_RELAXED);
    }
}

void mca_pml_epml_hold_local_end(ompi_communicator_t *comm)
{
    ompi_communicator_t *local = comm->c_local_comm;

    if (NULL != local && OMPI_COMM_IS_INTER(comm) && mca_pml_epml_is_endpoint_comm(local)
        && OMPI_COMM_IS_INTRINSIC(local)) {
        (void) __atomic_fetch_and(&local->c_flags, ~(uint32_t) OMPI_COMM_INTRINSIC,
                                  __ATOMIC_RELAXED);
#if !defined(OMPI_COMM_EXTRA_RETAIN)
        /* From 6.0 on the intercommunicator has a reference of its own, which ompi_comm_free would
         * have released. */
        OBJ_RELEASE(local);
#endif
        (void) ompi_comm_free(&comm->c_local_comm);
    }
}
