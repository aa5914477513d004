/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receiving on an endpoint communicator: posting, what happens once a message has found its
 * receive, and fragments.  Data that stay with their sender: pml_epml_fetch.c.
 *
 * Tests: p2p_sizes, p2p_types, pack_error, random_traffic, ulfm_ack, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_fetch.h"
#include "pml_epml_recv.h"

#include "ompi/constants.h"
#include "ompi/mca/pml/base/pml_base_recvreq.h"

/* ---- posting ------------------------------------------------------------------------------- */

void mca_pml_epml_recv_take(mca_pml_epml_request_t *request, epml_match_unexpected_t *found)
{
    mca_pml_epml_unexpected_t *message = (mca_pml_epml_unexpected_t *) found;
    const epml_match_queue_t *exact = epml_match_queue_of(found);
    mca_pml_epml_view_t view;

    mca_pml_epml_unexpected_view(message, exact->source, exact->tag, &view);
    epml_match_remove(&request->ep->match, found);
    mca_pml_epml_recv_matched(request, &view.hdr, view.data, view.size);
    mca_pml_epml_unexpected_free(request->ep, message);
}

int mca_pml_epml_recv_start_in_doubt(mca_pml_epml_request_t *request, int src, int tag)
{
    mca_pml_epml_ep_t *ep = request->ep;
    epml_match_queue_t *queue;
    epml_match_unexpected_t *found;

    if (request->comm->message_lost) {
        return MPI_ERR_NO_MEM; /* it might wait for the message that was lost */
    }
    if (0 <= mca_pml_epml_lost_blocks(request->comm, src, tag)) {
        /* A loop of receives from any source thus also gets what the other members send. */
        (void) ep->engine.progress(ep);
    }
    found = epml_match_first(&ep->match, request->comm->context, src, tag, &queue);
    if (NULL != found) {
        mca_pml_epml_recv_take(request, found);
        return OMPI_SUCCESS;
    }
    if (NULL == queue) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (0 <= mca_pml_epml_lost_blocks(request->comm, src, tag)
        && !mca_pml_epml_lost_pends(request)) {
        return mca_pml_epml_loss_error(request->comm);
    }
    epml_match_post(&ep->match, queue, &request->posted);
    return OMPI_SUCCESS;
}

void mca_pml_epml_recv_refuse(mca_pml_epml_request_t *request, int rc)
{
    ompi_status_public_t *status = &request->req_ompi.req_status;

    /* Not what an earlier life of the request, or an earlier start of it, has left there. */
    status->MPI_SOURCE = request->rank;
    status->MPI_TAG = request->tag;
    status->_ucount = 0;
    mca_pml_epml_request_fail(request, rc);
}

/* ---- a message has found its receive --------------------------------------------------------- */

void mca_pml_epml_recv_done(mca_pml_epml_request_t *request, int error)
{
    ompi_status_public_t *status = &request->req_ompi.req_status;

    status->_ucount = request->wanted;
    if (OPAL_LIKELY(MPI_SUCCESS == error)) {
        status->MPI_ERROR = OPAL_LIKELY(request->expected <= request->size) ? MPI_SUCCESS
                                                                            : MPI_ERR_TRUNCATE;
    } else {
        status->MPI_ERROR = error;
    }
    mca_pml_epml_request_done(request);
}

int mca_pml_epml_recv_convert(mca_pml_epml_request_t *request, const void *data, size_t *size_p)
{
    struct iovec iov = {.iov_base = (IOVBASE_TYPE *) data, .iov_len = *size_p};
    uint32_t iov_count = 1;
    int rc;

    if (!request->convertor_set || 0 == request->received) {
        rc = mca_pml_epml_request_convertor(request);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    rc = opal_convertor_unpack(&request->convertor, &iov, &iov_count, size_p);
    return 0 > rc ? rc : OMPI_SUCCESS;
}

/** Unpack size bytes that follow on those received already. */
static int recv_unpack(mca_pml_epml_request_t *request, const void *data, size_t size)
{
    if (0 == size) {
        return OMPI_SUCCESS;
    }
    if (OPAL_LIKELY(request->contiguous)) {
        if (8 == size) {
            memcpy(request->base + request->received, data, 8); /* a move instead of a call */
        } else {
            memcpy(request->base + request->received, data, size);
        }
        return OMPI_SUCCESS;
    }
    return mca_pml_epml_recv_convert(request, data, &size);
}

void mca_pml_epml_recv_matched(mca_pml_epml_request_t *request, const mca_pml_epml_hdr_rndv_t *hdr,
                               const void *data, size_t size)
{
    ompi_status_public_t *status = &request->req_ompi.req_status;

    status->MPI_SOURCE = hdr->match.source;
    status->MPI_TAG = hdr->match.tag;
    request->received = 0;
    if (OPAL_LIKELY(EPML_HDR_EAGER == hdr->match.common.kind)) {
        int rc;

        request->expected = size;
        request->wanted = size <= request->size ? size : request->size;
        rc = recv_unpack(request, data, request->wanted);
        if (OPAL_UNLIKELY(0 != (hdr->match.common.flags & EPML_HDR_FLAG_SYNC))) {
            request->source = request->comm->peers->member[hdr->match.source];
            request->sender_request = hdr->match.common.request;
            mca_pml_epml_fetch_answer(request, EPML_HDR_ACK, rc);
            return;
        }
        mca_pml_epml_recv_done(request, OMPI_SUCCESS == rc ? MPI_SUCCESS : MPI_ERR_OTHER);
        return;
    }
    request->source = request->comm->peers->member[hdr->match.source];
    request->sender_request = hdr->match.common.request;
    request->expected = hdr->length;
    request->wanted = hdr->length <= request->size ? hdr->length : request->size;
    mca_pml_epml_fetch_matched(request, hdr, data, size);
}

static bool frag_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_frag_t *hdr = message->hdr;
    size_t size = message->rest_size;
    mca_pml_epml_request_t *request = mca_pml_epml_request_id_find(ep, hdr->common.request);
    int rc;

    if (NULL == request) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    if (&mca_pml_epml_recv_ops != request->ops || 0 < request->gets || request->in_pending_queue
        || hdr->offset != request->received) {
        return false;
    }
    if (0 != (hdr->common.flags & EPML_HDR_FLAG_FAIL)) {
        mca_pml_epml_request_id_drop(request);
        mca_pml_epml_recv_done(request, MPI_ERR_OTHER);
        return true;
    }
    /* The sender packs whole elements: its last fragment may hold more than was asked for. */
    if (size > request->wanted - request->received) {
        size = request->wanted - request->received;
    }
    rc = recv_unpack(request, message->rest, size);
    request->received += size;
    if (request->received == request->wanted || OMPI_SUCCESS != rc) {
        if (OPAL_UNLIKELY(request->paced)) {
            mca_pml_epml_fetch_note(request);
        }
        mca_pml_epml_request_id_drop(request);
        mca_pml_epml_recv_done(request, OMPI_SUCCESS == rc ? MPI_SUCCESS : MPI_ERR_OTHER);
    }
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_frag_kind = {.size = sizeof(mca_pml_epml_hdr_frag_t),
                                                    .rest = EPML_REST_DATA,
                                                    .from = EPML_FROM_PARTNER,
                                                    .arrived = frag_arrived};

/* ---- what the engine asks -------------------------------------------------------------------- */

static int recv_start_again(mca_pml_epml_request_t *request)
{
    int rc;

    mca_pml_epml_lock(request->ep);
    mca_pml_epml_request_id_drop(request);
    request->in_pending_queue = false;
    mca_pml_epml_request_activate(request);
    rc = mca_pml_epml_recv_start(request, request->ep, request->comm, request->rank, request->tag);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        mca_pml_epml_recv_refuse(request, rc);
    }
    mca_pml_epml_unlock(request->ep);
    return OMPI_SUCCESS;
}

/** It waits for fragments; what is being fetched comes back from its transport, or is in the
 * pending queue. */
static void recv_lost(mca_pml_epml_request_t *request)
{
    if (0 == request->gets && !request->in_pending_queue
        && mca_pml_epml_lost_is(request->ep, request->source)) {
        mca_pml_epml_request_id_drop(request);
        mca_pml_epml_recv_done(request, MPI_ERR_PROC_FAILED);
    }
}

static void recv_lost_unmatched(mca_pml_epml_request_t *request)
{
    const int rank = mca_pml_epml_lost_blocks(request->comm, request->rank, request->tag);

    if (0 <= rank && !mca_pml_epml_lost_pends(request)) {
        epml_match_unpost(&request->ep->match, &request->posted);
        request->req_ompi.req_status.MPI_SOURCE = rank;
        request->req_ompi.req_status.MPI_TAG = request->tag;
        request->req_ompi.req_status._ucount = 0;
        mca_pml_epml_request_fail(request, MPI_ERR_PROC_FAILED);
    }
}

static bool recv_describe(const mca_pml_epml_request_t *request, mca_pml_epml_request_text_t *text)
{
    text->rank = request->req_ompi.req_status.MPI_SOURCE;
    text->tag = request->req_ompi.req_status.MPI_TAG;
    snprintf(text->state, sizeof(text->state), "transferring, %llu of %llu bytes%s",
             (unsigned long long) request->received, (unsigned long long) request->wanted,
             request->in_pending_queue ? ", held in pending queue" : "");
    return true;
}

const mca_pml_epml_request_ops_t mca_pml_epml_recv_ops = {.name = "receive",
                                                          .start = recv_start_again,
                                                          .resume = mca_pml_epml_fetch_resume,
                                                          .lost = recv_lost,
                                                          .lost_unmatched = recv_lost_unmatched,
                                                          .describe = recv_describe};
