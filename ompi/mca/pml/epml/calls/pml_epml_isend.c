/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI's sends on an endpoint communicator.
 *
 * Fast path (mca_pml_epml_call_send and _isend): contiguous data that fit in an eager message go
 * from the user's buffer to the transport without a request.  Budget: the endpoint's lock and what
 * the transport needs; no allocation.  Everything else is a request: pml_epml_send.c.
 *
 * Tests: p2p_basic, p2p_bsend, p2p_errors, p2p_order
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_calls.h"

#include "ompi/constants.h"

/** Header and data that are best sent at once and without a request. */
static inline size_t immediate_limit(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    const size_t header = sizeof(mca_pml_epml_hdr_match_t);
    size_t limit;

    if (NULL != peer->shm) {
        return ep->transports.immediate_limit;
    }
    limit = ep->transports.module[peer->transport]->super.btl_eager_limit;
    return EPML_TRANSPORT_NODE == peer->transport && header + EPML_NODE_COPIED < limit
               ? header + EPML_NODE_COPIED
               : limit;
}

/* ---- fast path ------------------------------------------------------------------------------- */

/** Try to be done without a request.
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE: take the slow path; or another error */
static inline int send_immediate(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                                 int tag, mca_pml_base_send_mode_t mode,
                                 const mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_ep_t *ep = comm->ep;
    mca_pml_epml_peer_t *peer = comm->peers->member[dst];
    mca_pml_epml_hdr_match_t hdr;
    unsigned char *base;
    size_t size;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (OPAL_UNLIKELY(MCA_PML_BASE_SEND_SYNCHRONOUS == mode || MCA_PML_BASE_SEND_BUFFERED == mode
                      || !mca_pml_epml_is_contiguous(buf, count, datatype, &base, &size)
                      || sizeof(hdr) + size > immediate_limit(ep, peer))) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_pml_epml_match_header(&hdr, comm, tag);
    mca_pml_epml_lock(ep);
    if (OPAL_LIKELY(NULL == ep->wire.pending.first || !mca_pml_epml_pending_has(ep, peer)
                    || (comm->may_overtake && 0 <= tag /* not the library's own */))
        && OPAL_LIKELY(!mca_pml_epml_flow_is_held(ep, peer))) {
        rc = mca_pml_epml_transmit(ep, peer, &hdr, sizeof(hdr), base, size);
    }
    mca_pml_epml_unlock(ep);
    return OPAL_UNLIKELY(OMPI_ERR_NOT_AVAILABLE == rc) ? OMPI_ERR_OUT_OF_RESOURCE : rc;
}

/** A request, started.  @return the request, or NULL with *rc_p set */
static mca_pml_epml_request_t *send_request(const void *buf, size_t count,
                                            ompi_datatype_t *datatype, int dst, int tag,
                                            mca_pml_base_send_mode_t mode,
                                            mca_pml_epml_comm_t *comm, bool blocking, int *rc_p)
{
    mca_pml_epml_ep_t *ep = comm->ep;
    mca_pml_epml_request_t *request;

    mca_pml_epml_lock(ep);
    request = mca_pml_epml_request_get(ep, comm, &mca_pml_epml_send_ops);
    if (OPAL_UNLIKELY(NULL == request)) {
        *rc_p = OMPI_ERR_OUT_OF_RESOURCE;
        goto unlock;
    }
    mca_pml_epml_request_set_data(request, buf, count, datatype);
    request->rank = dst;
    request->tag = tag;
    request->mode = mode;
    request->blocking = blocking;
    if (!blocking) {
        mca_pml_epml_request_count(request);
    }
    request->req_ompi.req_state = OMPI_REQUEST_ACTIVE;
    request->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
    request->req_ompi.req_status._cancelled = 0;
    *rc_p = mca_pml_epml_send_start(request);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != *rc_p)) {
        /* Not even room to wait in: the request ends with the error. */
        mca_pml_epml_send_fail(request, *rc_p);
        *rc_p = OMPI_SUCCESS;
    }
unlock:
    mca_pml_epml_unlock(ep);
    return request;
}

/** Turns in which a full attached buffer may still get room: the receivers have the messages in it
 * already, but their answers have not been looked at. */
#define EPML_BSEND_CALLS 10000

/** Room in the endpoint's own buffer, or without one in the process's.  @return NULL if there is
 * none at present */
static void *bsend_try(mca_pml_epml_comm_t *comm, size_t size)
{
    void *room;

    if (OPAL_LIKELY(!mca_pml_epml_buffer_is_there(comm->ep))
        || mca_pml_epml_compat_bsend_of_comm(comm->comm)) {
        return mca_pml_epml_compat_bsend_alloc(comm->comm, size);
    }
    mca_pml_epml_lock(comm->ep);
    room = mca_pml_epml_buffer_alloc(comm->ep, size);
    mca_pml_epml_unlock(comm->ep);
    return room;
}

/** Room in the attached buffer.  @return NULL if there is none, or no buffer */
static void *bsend_alloc(mca_pml_epml_comm_t *comm, size_t size)
{
    mca_pml_epml_waiter_t waiter = {0};
    void *room;

    while (NULL == (room = bsend_try(comm, size)) && waiter.idle < EPML_BSEND_CALLS
           && (mca_pml_epml_buffer_is_there(comm->ep) || mca_pml_epml_compat_bsend_attached())) {
        mca_pml_epml_progressed(&waiter, comm->ep, mca_pml_epml_ep_poll(comm->ep));
    }
    mca_pml_epml_wait_over(&waiter);
    return room;
}

/** A buffered send is done when the data are in the user's attached buffer; from there they go on
 * as a request that is not waited for.
 * @param[in] convertor  of the data, at the first byte */
static int send_converted(opal_convertor_t *convertor, size_t size, int dst, int tag,
                          mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_request_t *request;
    ompi_request_t *ompi_request;
    struct iovec iov;
    uint32_t iov_count = 1;
    /* Where there are no data, no room is needed, and no buffer need be attached. */
    void *copy = 0 < size ? bsend_alloc(comm, size) : NULL;
    int rc = OMPI_SUCCESS;

    if (NULL == copy && 0 < size) {
        return MPI_ERR_BUFFER;
    }
    if (0 < size) {
        iov.iov_base = copy;
        iov.iov_len = size;
        rc = opal_convertor_pack(convertor, &iov, &iov_count, &size);
        rc = 0 > rc ? rc : OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS != rc) {
        goto err_free_copy;
    }
    request = send_request(copy, size, MPI_PACKED, dst, tag, MCA_PML_BASE_SEND_BUFFERED, comm,
                           false, &rc);
    if (NULL == request) {
        goto err_free_copy;
    }
    ompi_request = &request->req_ompi;
    (void) mca_pml_epml_request_free(&ompi_request);
    return rc;

err_free_copy:
    if (NULL != copy) {
        mca_pml_epml_lock(comm->ep);
        mca_pml_epml_bsend_free(comm, copy);
        mca_pml_epml_unlock(comm->ep);
    }
    return rc;
}

static int send_buffered(const void *buf, size_t count, ompi_datatype_t *datatype, int dst, int tag,
                         mca_pml_epml_comm_t *comm)
{
    opal_convertor_t convertor;
    int rc;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    rc = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &datatype->super, count,
                                                  buf, 0, &convertor);
    if (OPAL_SUCCESS == rc) {
        rc = send_converted(&convertor, count * datatype->super.size, dst, tag, comm);
    }
    OBJ_DESTRUCT(&convertor);
    return rc;
}

static __attribute__((noinline)) int send_slow(const void *buf, size_t count,
                                               ompi_datatype_t *datatype, int dst, int tag,
                                               mca_pml_base_send_mode_t mode,
                                               mca_pml_epml_comm_t *comm)
{
    mca_pml_epml_request_t *request;
    int rc;

    if (MCA_PML_BASE_SEND_BUFFERED == mode) {
        return send_buffered(buf, count, datatype, dst, tag, comm);
    }
    request = send_request(buf, count, datatype, dst, tag, mode, comm, true, &rc);
    if (NULL == request) {
        return rc;
    }
    mca_pml_epml_wait_done(request);
    rc = request->req_ompi.req_status.MPI_ERROR;
    mca_pml_epml_lock(comm->ep);
    mca_pml_epml_request_put(request);
    mca_pml_epml_unlock(comm->ep);
    return rc;
}

int mca_pml_epml_call_send(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                           int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    int rc = send_immediate(buf, count, datatype, dst, tag, mode, mca_pml_epml_comm(comm));

    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        return OMPI_SUCCESS;
    }
    if (OMPI_ERR_OUT_OF_RESOURCE != rc && OMPI_ERR_UNREACH != rc /* by whose fault? */) {
        return mca_pml_epml_mpi_error(rc);
    }
    return send_slow(buf, count, datatype, dst, tag, mode, mca_pml_epml_comm(comm));
}

int mca_pml_epml_call_isend(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                            int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                            ompi_request_t **ompi_request)
{
    mca_pml_epml_request_t *request;
    int rc = send_immediate(buf, count, datatype, dst, tag, mode, mca_pml_epml_comm(comm));

    /* A send that is done needs no request of its own: nothing in its status is defined but that it
     * was not cancelled, which the shared empty request says too. */
    *ompi_request = EPML_REQUEST_EMPTY_SEND;
    if (OPAL_LIKELY(OMPI_SUCCESS == rc)) {
        return OMPI_SUCCESS;
    }
    if (MCA_PML_BASE_SEND_BUFFERED == mode) {
        return send_buffered(buf, count, datatype, dst, tag, mca_pml_epml_comm(comm));
    }
    /* Also after an error, which is the request's then.  A collective's schedule waits for what it
     * has begun in a round only if all of the round could be begun; else it would end, and free its
     * buffers, while a message is being fetched into one of them. */
    request = send_request(buf, count, datatype, dst, tag, mode, mca_pml_epml_comm(comm), false,
                           &rc);
    if (NULL != request) {
        *ompi_request = &request->req_ompi;
    }
    return rc;
}

/* ---- persistent buffered sends --------------------------------------------------------------- */

/** Each start is a buffered send of its own, done when it returns; the request is never on its
 * way. */
static int start_buffered(mca_pml_epml_request_t *request)
{
    ompi_request_t *ompi_request = &request->req_ompi;
    int rc = mca_pml_epml_request_convertor(request);

    if (OMPI_SUCCESS == rc) {
        rc = send_converted(&request->convertor, request->size, request->rank, request->tag,
                            request->comm);
    }
    if (OMPI_SUCCESS == rc) {
        ompi_request->req_state = OMPI_REQUEST_ACTIVE;
        ompi_request->req_status._cancelled = 0;
        ompi_request->req_status.MPI_ERROR = MPI_SUCCESS;
        (void) ompi_request_complete(ompi_request, false);
    }
    return rc;
}

static const mca_pml_epml_request_ops_t buffered_ops = {.name = "buffered send",
                                                        .sends = true,
                                                        .start = start_buffered};

int mca_pml_epml_call_isend_init(const void *buf, size_t count, ompi_datatype_t *datatype, int dst,
                                 int tag, mca_pml_base_send_mode_t mode, ompi_communicator_t *comm,
                                 ompi_request_t **ompi_request)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_request_t *request;

    mca_pml_epml_lock(epml_comm->ep);
    request = mca_pml_epml_request_get(epml_comm->ep, epml_comm,
                                       MCA_PML_BASE_SEND_BUFFERED == mode ? &buffered_ops
                                                                          : &mca_pml_epml_send_ops);
    if (NULL != request) {
        OMPI_REQUEST_INIT(&request->req_ompi, true);
        mca_pml_epml_request_set_data(request, buf, count, datatype);
        request->rank = dst;
        request->tag = tag;
        request->mode = mode;
        atomic_store_explicit(&request->done, true, memory_order_relaxed);
        mca_pml_epml_request_count(request);
        *ompi_request = &request->req_ompi;
    }
    mca_pml_epml_unlock(epml_comm->ep);
    return NULL == request ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}
