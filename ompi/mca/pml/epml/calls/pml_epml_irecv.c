/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI's receives on an endpoint communicator.  Budget of a short one: the endpoint's lock, a
 * request off its free list, and a place in the matching table; no allocation.
 *
 * Tests: p2p_basic, p2p_errors, p2p_requests
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../proto/proto.h"
#include "../object/object.h"
#include "pml_epml_calls.h"

#include "ompi/constants.h"

/** A receive request with its data described.  Under the lock.  @return NULL without memory */
static inline mca_pml_epml_request_t *recv_request(void *buf, size_t count,
                                                   ompi_datatype_t *datatype, int src, int tag,
                                                   mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_request_t *request = mca_pml_epml_request_get(comm->ep, comm,
                                                               &mca_pml_epml_recv_ops);

    if (OPAL_UNLIKELY(NULL == request)) {
        return NULL;
    }
    mca_pml_epml_request_set_data(request, buf, count, datatype);
    request->rank = src;
    request->tag = tag;
    request->req_ompi.req_state = OMPI_REQUEST_ACTIVE;
    /* Adjacent, for one store.  After an error in a list libmpi frees all requests in it that
     * have one, without asking whether they are complete: none of an earlier life may be left. */
    request->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
    request->req_ompi.req_status._cancelled = 0;
    return request;
}

/** End of a blocking receive. */
static int recv_finish(mca_pml_epml_request_t *request, ompi_status_public_t *status)
{
    mca_pml_epml_ep_t *ep = request->ep;
    int rc;

    mca_pml_epml_wait_done(request);
    rc = request->req_ompi.req_status.MPI_ERROR;
    if (MPI_STATUS_IGNORE != status) {
        OMPI_COPY_STATUS(status, request->req_ompi.req_status, false);
    }
    mca_pml_epml_lock(ep);
    mca_pml_epml_request_put(request);
    mca_pml_epml_unlock(ep);
    return rc;
}

int mca_pml_epml_call_recv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                           ompi_communicator_t *comm, ompi_status_public_t *status)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_ep_t *ep = epml_comm->ep;
    mca_pml_epml_request_t *request;
    int rc;

    mca_pml_epml_lock(ep);
    request = recv_request(buf, count, datatype, src, tag, epml_comm);
    if (OPAL_UNLIKELY(NULL == request)) {
        mca_pml_epml_unlock(ep);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->blocking = true;
    rc = mca_pml_epml_recv_start(request, ep, epml_comm, src, tag);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        if (MPI_STATUS_IGNORE != status) {
            status->MPI_SOURCE = src;
            status->MPI_TAG = tag;
            status->_ucount = 0;
        }
        mca_pml_epml_request_put(request);
        mca_pml_epml_unlock(ep);
        (void) mca_pml_epml_ep_poll(ep); /* it may be tried again, and must come on then */
        return rc;
    }
    mca_pml_epml_unlock(ep);
    return recv_finish(request, status);
}

int mca_pml_epml_call_irecv(void *buf, size_t count, ompi_datatype_t *datatype, int src, int tag,
                            ompi_communicator_t *comm, ompi_request_t **ompi_request)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_ep_t *ep = epml_comm->ep;
    mca_pml_epml_request_t *request;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    mca_pml_epml_lock(ep);
    request = recv_request(buf, count, datatype, src, tag, epml_comm);
    if (OPAL_LIKELY(NULL != request)) {
        mca_pml_epml_request_count(request);
        *ompi_request = &request->req_ompi;
        rc = mca_pml_epml_recv_start(request, ep, epml_comm, src, tag);
        if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
            mca_pml_epml_recv_refuse(request, rc);
            rc = OMPI_SUCCESS;
        }
    }
    mca_pml_epml_unlock(ep);
    return rc;
}

int mca_pml_epml_call_irecv_init(void *buf, size_t count, ompi_datatype_t *datatype, int src,
                                 int tag, ompi_communicator_t *comm, ompi_request_t **ompi_request)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_request_t *request;

    mca_pml_epml_lock(epml_comm->ep);
    request = recv_request(buf, count, datatype, src, tag, epml_comm);
    if (NULL != request) {
        OMPI_REQUEST_INIT(&request->req_ompi, true);
        atomic_store_explicit(&request->done, true, memory_order_relaxed);
        mca_pml_epml_request_count(request);
        *ompi_request = &request->req_ompi;
    }
    mca_pml_epml_unlock(epml_comm->ep);
    return NULL == request ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}
