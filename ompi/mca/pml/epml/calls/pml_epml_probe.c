/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Probing: looking for a message, and taking it out of matching (the matched probes).
 *
 * Tests: p2p_match, p2p_mprobe
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_calls.h"

#include "ompi/constants.h"

/** Look once.  Under the lock.  @return the message, still in the table, or NULL */
static mca_pml_epml_unexpected_t *probe_find(mca_pml_epml_comm_t *comm, int src, int tag,
                                             ompi_status_public_t *status)
{
    epml_match_queue_t *queue;
    mca_pml_epml_unexpected_t *message = (mca_pml_epml_unexpected_t *)
        epml_match_first(&comm->ep->match, comm->context, src, tag, &queue);

    if (NULL == message) {
        return NULL;
    }
    if (MPI_STATUS_IGNORE != status) {
        const epml_match_queue_t *exact = epml_match_queue_of(&message->match);

        status->MPI_SOURCE = exact->source;
        status->MPI_TAG = exact->tag;
        status->_cancelled = 0;
        status->_ucount = mca_pml_epml_unexpected_length(message);
    }
    return message;
}

/** There is no message: can there be one?  Under the lock. */
static inline int in_vain(const mca_pml_epml_comm_t *comm, int src, int tag)
{
    mca_pml_epml_lost_note_probe(comm, src, tag);
    if (OPAL_UNLIKELY(comm->message_lost)) {
        return MPI_ERR_NO_MEM; /* it might be the one that was lost */
    }
    return OPAL_UNLIKELY(comm->loss.member) && 0 <= mca_pml_epml_lost_blocks(comm, src, tag)
               ? mca_pml_epml_loss_error(comm)
               : OMPI_SUCCESS;
}

/** Wrap a message that is to be taken out of the table. */
static int probe_wrap(mca_pml_epml_unexpected_t *unexpected, ompi_communicator_t *comm,
                      ompi_message_t **message_p)
{
    ompi_message_t *message = ompi_message_alloc();

    if (NULL == message) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    message->comm = comm;
    message->req_ptr = unexpected;
    message->peer = epml_match_queue_of(&unexpected->match)->source;
    message->count = mca_pml_epml_unexpected_length(unexpected);
    *message_p = message;
    return OMPI_SUCCESS;
}

/** Out of the table: it must know its key itself from now on. */
static void take_out(mca_pml_epml_ep_t *ep, mca_pml_epml_unexpected_t *unexpected)
{
    const epml_match_queue_t *exact = epml_match_queue_of(&unexpected->match);
    const int32_t source = exact->source, tag = exact->tag;

    epml_match_remove(&ep->match, &unexpected->match);
    unexpected->taken.source = source;
    unexpected->taken.tag = tag;
}

int mca_pml_epml_call_iprobe(int src, int tag, ompi_communicator_t *comm, int *matched,
                             ompi_status_public_t *status)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    int events, rc, calls = 0;

    do {
        events = mca_pml_epml_ep_poll_patiently(epml_comm->ep);
        mca_pml_epml_lock(epml_comm->ep);
        *matched = NULL != probe_find(epml_comm, src, tag, status);
        rc = *matched ? OMPI_SUCCESS : in_vain(epml_comm, src, tag);
        mca_pml_epml_unlock(epml_comm->ep);
    } while (0 < events && !*matched && OMPI_SUCCESS == rc && ++calls < EPML_TEST_CALLS);
    (void) mca_pml_epml_tested(*matched);
    return rc;
}

/** What is probed for is not there: progress the endpoint until it may be. */
static void turn_for_probe(mca_pml_epml_waiter_t *waiter, mca_pml_epml_ep_t *ep)
{
    int events;

    do {
        events = mca_pml_epml_ep_poll(ep);
        mca_pml_epml_progressed(waiter, ep, events);
    } while (0 == events && 0 != waiter->idle % 64); /* another thread may have taken it in */
}

int mca_pml_epml_call_probe(int src, int tag, ompi_communicator_t *comm,
                            ompi_status_public_t *status)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_waiter_t waiter = {0};

    for (;;) {
        bool found;
        int rc;

        mca_pml_epml_lock(epml_comm->ep);
        found = NULL != probe_find(epml_comm, src, tag, status);
        rc = found ? OMPI_SUCCESS : in_vain(epml_comm, src, tag);
        mca_pml_epml_unlock(epml_comm->ep);
        if (found || OMPI_SUCCESS != rc) {
            if (!found) {
                (void) mca_pml_epml_ep_poll(epml_comm->ep);
            }
            mca_pml_epml_wait_over(&waiter);
            return rc;
        }
        turn_for_probe(&waiter, epml_comm->ep);
    }
}

/** Take a message out of the table, if there is one.  @return an error, whether there is one or
 * not */
static int try_take(int src, int tag, ompi_communicator_t *comm, ompi_message_t **message,
                    ompi_status_public_t *status, bool *found)
{
    mca_pml_epml_comm_t *epml_comm = mca_pml_epml_comm(comm);
    mca_pml_epml_unexpected_t *unexpected;
    int rc = OMPI_SUCCESS;

    mca_pml_epml_lock(epml_comm->ep);
    unexpected = probe_find(epml_comm, src, tag, status);
    if (NULL != unexpected) {
        rc = probe_wrap(unexpected, comm, message);
        if (OMPI_SUCCESS == rc) {
            take_out(epml_comm->ep, unexpected);
            mca_pml_epml_unexpected_take_out(epml_comm->ep);
            /* The message keeps the communicator until it is received. */
            mca_pml_epml_comm_hold(epml_comm);
        }
    } else {
        rc = in_vain(epml_comm, src, tag);
    }
    mca_pml_epml_unlock(epml_comm->ep);
    *found = OMPI_SUCCESS == rc && NULL != unexpected;
    return rc;
}

int mca_pml_epml_call_improbe(int src, int tag, ompi_communicator_t *comm, int *matched,
                              ompi_message_t **message, ompi_status_public_t *status)
{
    int events, rc, calls = 0;
    bool found;

    do {
        events = mca_pml_epml_ep_poll_patiently(mca_pml_epml_comm(comm)->ep);
        rc = try_take(src, tag, comm, message, status, &found);
    } while (0 < events && !found && OMPI_SUCCESS == rc && ++calls < EPML_TEST_CALLS);
    (void) mca_pml_epml_tested(found);
    *matched = found;
    return rc;
}

int mca_pml_epml_call_mprobe(int src, int tag, ompi_communicator_t *comm, ompi_message_t **message,
                             ompi_status_public_t *status)
{
    mca_pml_epml_ep_t *ep = mca_pml_epml_comm(comm)->ep;
    mca_pml_epml_waiter_t waiter = {0};

    for (;;) {
        bool found;
        const int rc = try_take(src, tag, comm, message, status, &found);

        if (found || OMPI_SUCCESS != rc) {
            if (!found) {
                (void) mca_pml_epml_ep_poll(ep);
            }
            mca_pml_epml_wait_over(&waiter);
            return rc;
        }
        turn_for_probe(&waiter, ep);
    }
}

int mca_pml_epml_call_imrecv_in(void *buf, size_t count, ompi_datatype_t *datatype, bool is_device,
                                ompi_message_t **message, ompi_request_t **ompi_request)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm((*message)->comm);
    mca_pml_epml_unexpected_t *unexpected = (*message)->req_ptr;
    mca_pml_epml_request_t *request;
    mca_pml_epml_view_t view;

    mca_pml_epml_lock(comm->ep);
    request = mca_pml_epml_request_get(comm->ep, comm, &mca_pml_epml_recv_ops);
    if (NULL == request) {
        mca_pml_epml_unlock(comm->ep);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_pml_epml_request_set_data(request, buf, count, datatype);
    if (is_device && OMPI_SUCCESS != mca_pml_epml_request_by_accelerator(request)) {
        mca_pml_epml_request_put(request);
        mca_pml_epml_unlock(comm->ep);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->rank = unexpected->taken.source;
    request->tag = unexpected->taken.tag;
    request->req_ompi.req_state = OMPI_REQUEST_ACTIVE;
    request->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
    request->req_ompi.req_status._cancelled = 0;
    mca_pml_epml_request_count(request);
    mca_pml_epml_unexpected_received(comm->ep);
    --comm->active; /* the message's hold; the request has its own */
    mca_pml_epml_unexpected_view(unexpected, request->rank, request->tag, &view);
    mca_pml_epml_recv_matched(request, &view.hdr, view.data, view.size);
    mca_pml_epml_unexpected_free(comm->ep, unexpected);
    mca_pml_epml_unlock(comm->ep);

    ompi_message_return(*message);
    *message = MPI_MESSAGE_NULL;
    *ompi_request = &request->req_ompi;
    return OMPI_SUCCESS;
}

int mca_pml_epml_call_imrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                             ompi_message_t **message, ompi_request_t **request)
{
    return mca_pml_epml_call_imrecv_in(buf, count, datatype, false, message, request);
}

int mca_pml_epml_call_mrecv(void *buf, size_t count, ompi_datatype_t *datatype,
                            ompi_message_t **message, ompi_status_public_t *status)
{
    ompi_request_t *request;
    int rc = mca_pml_epml_call_imrecv(buf, count, datatype, message, &request);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = ompi_request_wait(&request, status);
    if (MPI_REQUEST_NULL != request) {
        (void) ompi_request_free(&request); /* an error leaves the request to the caller */
    }
    return rc;
}
