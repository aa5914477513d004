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
 * Receiving on an endpoint communicator: posting, and what happens once a message has found its
 * receive.
 *
 * Tests: p2p_sizes, p2p_types, pack_error, random_traffic, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_part.h"
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
        /* Who receives from any source in a loop gets to see what the others send. */
        (void) ep->engine.turn(ep);
    }
    found = epml_match_first(&ep->match, request->comm->context, src, tag, &queue);
    if (NULL != found) {
        mca_pml_epml_recv_take(request, found);
        return OMPI_SUCCESS;
    }
    if (NULL == queue) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (0 <= mca_pml_epml_lost_blocks(request->comm, src, tag)) {
        return MPI_ERR_PROC_FAILED;
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

/** The receive is complete. */
static void recv_done(mca_pml_epml_request_t *request, int error)
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

/** Unpack with the convertor.  @param[in,out] size_p  bytes at data; bytes that it has taken */
static int convert(mca_pml_epml_request_t *request, const void *data, size_t *size_p)
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
static int unpack(mca_pml_epml_request_t *request, const void *data, size_t size)
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
    return convert(request, data, &size);
}

/** Give the registration back. */
static inline void forget_handle(mca_pml_epml_request_t *request)
{
    if (&mca_pml_epml_piece_ops != request->ops) { /* a piece has its partitioned receive's */
        mca_pml_epml_request_forget_handle(request);
    }
}

/** Why data did not come, as MPI knows it. */
static int data_error(int rc)
{
    if (OMPI_SUCCESS == rc) {
        return MPI_SUCCESS;
    }
    return OMPI_ERR_UNREACH == rc || MPI_ERR_PROC_FAILED == rc ? MPI_ERR_PROC_FAILED
                                                                : MPI_ERR_OTHER;
}

/** There is neither room nor memory for an answer: the receive waits with it, and is complete when
 * it has gone. */
static __attribute__((noinline)) void owe(mca_pml_epml_request_t *request,
                                          mca_pml_epml_hdr_kind_t answer)
{
    request->answer = (uint8_t) answer;
    request->in_backlog = true;
    mca_pml_epml_backlog_request(request->ep, request->source, request);
}

/** Tell the sender that its data have been taken, or why not, and be done.
 *
 * @param[in] kind  EPML_HDR_FIN or EPML_HDR_ACK
 * @param[in] rc    what has become of the data, which concerns the sender only if it keeps them */
static void tell_and_finish(mca_pml_epml_request_t *request, mca_pml_epml_hdr_kind_t kind, int rc)
{
    const mca_pml_epml_hdr_done_t hdr = {
        .common = {.kind = kind, .request = request->sender_request},
        .status = EPML_HDR_FIN == kind ? rc : OMPI_SUCCESS,
        .round = &mca_pml_epml_piece_ops == request->ops ? mca_pml_epml_part_piece_round(request)
                                                         : 0};

    if (OPAL_UNLIKELY(OMPI_ERR_OUT_OF_RESOURCE
                      == mca_pml_epml_send_control(request->ep, request->source, &hdr,
                                                   sizeof(hdr)))) {
        request->error = rc;
        owe(request, kind);
        return;
    }
    recv_done(request, data_error(rc));
}

static inline ep_pace_t *pace_of(mca_pml_epml_request_t *request)
{
    const size_t size = request->wanted;

    return &request->ep->fetch.pace[(size_t) 64 << 10 >= size    ? 0
                                 : (size_t) 256 << 10 >= size ? 1
                                 : (size_t) 1 << 20 >= size   ? 2
                                                              : 3];
}

/**
 * From another process of the node: in fragments, which both sides copy, one behind the other, and
 * not by the kernel, which copies once, and has to look up each page?  What is faster depends on
 * the machine, and on whether the sender is there to do its part; so it is tried.
 */
static bool wants_frags(mca_pml_epml_request_t *request)
{
    request->paced = true;
    request->in_frags = ep_pace_choose(pace_of(request));
    request->fetch_start = ep_pace_clock();
    return request->in_frags;
}

/** It is complete.  Others were under way at the same time: what it took is the time since the last
 * of them was complete. */
static void note_fetch(mca_pml_epml_request_t *request)
{
    mca_pml_epml_ep_t *ep = request->ep;
    const uint64_t now = ep_pace_clock();
    const uint64_t start = request->fetch_start > ep->fetch.last ? request->fetch_start
                                                                 : ep->fetch.last;

    request->paced = false;
    ep->fetch.last = now;
    ep_pace_note(pace_of(request), request->in_frags, now - start, request->wanted);
}

/** All data have been fetched, or could not be. */
static void fetched(mca_pml_epml_request_t *request, int rc)
{
    if (OPAL_UNLIKELY(request->paced) && OMPI_SUCCESS == rc) {
        note_fetch(request);
    }
    forget_handle(request);
    mca_pml_epml_number_drop(request);
    tell_and_finish(request, EPML_HDR_FIN, rc);
}

static void get_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                     void *local_address, struct mca_btl_base_registration_handle_t *local_handle,
                     void *context, void *data, int status)
{
    mca_pml_epml_request_t *request = context;

    (void) btl;
    (void) endpoint;
    (void) local_address;
    (void) local_handle;
    request->received += (uintptr_t) data;
    --request->gets;
    if (OMPI_SUCCESS != status) {
        request->error = status;
    }
    if (0 == request->gets
        && (request->received == request->wanted || OMPI_SUCCESS != request->error)
        && !request->get_starting && !request->in_backlog) {
        fetched(request, request->error);
    }
}

/** Start the gets that are left.
 *
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE to be called again; OMPI_ERR_NOT_AVAILABLE if
 *         nothing can be fetched, or no more: the data must come some other way, from the
 *         first byte on */
static int get_more(mca_pml_epml_request_t *request)
{
    struct mca_btl_base_endpoint_t *connection;
    mca_btl_ep_module_t *module;
    int rc = mca_pml_epml_route(request->ep, request->source, &module, &connection);
    size_t limit = OMPI_SUCCESS == rc ? module->super.btl_get_limit : 0;
    const int flags = mca_pml_epml_is_crowded() ? MCA_BTL_EP_GET_ALONE : 0;

    request->get_starting = true;
    while (OMPI_SUCCESS == rc && request->asked < request->wanted
           && OMPI_SUCCESS == request->error) {
        size_t size = request->wanted - request->asked;
        struct mca_btl_base_registration_handle_t *remote
            = request->has_remote_handle
                  ? (struct mca_btl_base_registration_handle_t *) request->remote_handle
                  : NULL;

        size = mca_pml_epml_slice(request->ep, size < limit ? size : limit);
        if (0 == size) {
            rc = OMPI_ERR_OUT_OF_RESOURCE;
            break;
        }
        ++request->gets;
        rc = module->super.btl_get(&module->super, connection, request->base + request->asked,
                                   request->remote_address + request->asked, request->local_handle,
                                   remote, size, flags, MCA_BTL_NO_ORDER, get_done, request,
                                   (void *) (uintptr_t) size);
        if (0 > rc) {
            --request->gets;
            break;
        }
        rc = OMPI_SUCCESS;
        request->asked += size;
        request->ep->fetch.bytes[NULL != request->source->shm ? EPML_WAYS : request->source->way]
            += size;
    }
    request->get_starting = false;
    if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        return rc;
    }
    if (OMPI_ERR_NOT_AVAILABLE == rc && 0 == request->gets && OMPI_SUCCESS == request->error) {
        forget_handle(request);
        request->received = 0;
        request->asked = 0;
        return rc;
    }
    if (OMPI_SUCCESS != rc) {
        request->error = rc;
    }
    if (0 == request->gets) {
        fetched(request, request->error);
    }
    return OMPI_SUCCESS;
}

static void ask_for_frags(mca_pml_epml_request_t *request);

/** It turned out that nothing can be fetched. */
static void cannot_fetch(mca_pml_epml_request_t *request)
{
    request->paced = false; /* neither way's time */
    if (&mca_pml_epml_piece_ops == request->ops) {
        mca_pml_epml_part_piece_refused(request);
    } else {
        ask_for_frags(request);
    }
}

/** Try again to send the answer that a receive owes. */
static void pay_answer(mca_pml_epml_request_t *request)
{
    const mca_pml_epml_hdr_kind_t answer = (mca_pml_epml_hdr_kind_t) request->answer;

    request->answer = 0;
    if (EPML_HDR_CTS == answer) {
        ask_for_frags(request);
    } else if (EPML_HDR_PART_AGAIN == answer) {
        mca_pml_epml_part_piece_refused(request);
    } else {
        tell_and_finish(request, answer, request->error);
    }
}

/** One address space: unpack what is left straight from the sender's memory.
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE to be called again */
static int unpack_more(mca_pml_epml_request_t *request)
{
    int rc = OMPI_SUCCESS;

    while (OMPI_SUCCESS == rc && request->received < request->wanted) {
        size_t size = mca_pml_epml_slice(request->ep, request->wanted - request->received);

        if (0 == size) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        rc = convert(request,
                     (const void *) (uintptr_t) (request->remote_address + request->received),
                     &size);
        request->received += size;
        if (0 == size) {
            rc = OMPI_ERROR; /* the convertor takes no more */
        }
    }
    fetched(request, rc);
    return OMPI_SUCCESS;
}

/** Data that the receiver fetches, by a get or with the convertor. */
static inline int fetch_more(mca_pml_epml_request_t *request)
{
    return request->contiguous ? get_more(request) : unpack_more(request);
}

int mca_pml_epml_recv_resume(mca_pml_epml_request_t *request)
{
    int rc;

    request->in_backlog = false;
    if (OPAL_UNLIKELY(0 != request->answer)) {
        pay_answer(request); /* which may bring it back to the backlog */
        return OMPI_SUCCESS;
    }
    rc = fetch_more(request);
    request->in_backlog = OMPI_ERR_OUT_OF_RESOURCE == rc;
    if (OMPI_ERR_NOT_AVAILABLE == rc) {
        cannot_fetch(request);
        return OMPI_SUCCESS;
    }
    return rc;
}

void mca_pml_epml_recv_fetch(mca_pml_epml_request_t *request)
{
    int rc;

    request->received = 0;
    request->gets = 0;
    request->error = OMPI_SUCCESS;
    request->asked = 0;
    rc = fetch_more(request);
    if (OMPI_ERR_NOT_AVAILABLE == rc) {
        cannot_fetch(request);
        return;
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        request->in_backlog = true;
        mca_pml_epml_backlog_request(request->ep, request->source, request);
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == rc || 0 < request->gets) {
        /* Nobody names it: it is for a dump to find.  Without memory it does not. */
        (void) mca_pml_epml_number_assign(request);
    }
}

/** Fetch into one piece of memory.
 * @return OMPI_SUCCESS, or OMPI_ERR_NOT_AVAILABLE: it cannot be fetched */
static int start_get(mca_pml_epml_request_t *request, mca_btl_ep_module_t *module,
                     struct mca_btl_base_endpoint_t *connection)
{
    if (NULL != module->super.btl_register_mem
        && request->wanted > module->super.btl_get_local_registration_threshold) {
        request->local_handle = module->super.btl_register_mem(&module->super, connection,
                                                               request->base, request->wanted,
                                                               MCA_BTL_REG_FLAG_LOCAL_WRITE);
        request->handle_module = module;
        if (NULL == request->local_handle) {
            return OMPI_ERR_NOT_AVAILABLE;
        }
    }
    mca_pml_epml_recv_fetch(request);
    return OMPI_SUCCESS;
}

/** Ask the sender for fragments. */
static void ask_for_frags(mca_pml_epml_request_t *request)
{
    int rc = mca_pml_epml_number_assign(request);

    if (OMPI_SUCCESS == rc) {
        const mca_pml_epml_hdr_cts_t hdr = {.common = {.kind = EPML_HDR_CTS,
                                                       .request = request->sender_request},
                                            .receiver = request->number,
                                            .length = request->wanted};

        rc = mca_pml_epml_send_control(request->ep, request->source, &hdr, sizeof(hdr));
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == rc && EPML_NUMBER_NONE != request->number) {
        owe(request, EPML_HDR_CTS);
    } else if (OMPI_SUCCESS != rc) {
        mca_pml_epml_number_drop(request);
        tell_and_finish(request, EPML_HDR_FIN, rc);
    }
}

static __attribute__((noinline)) void matched_rndv(mca_pml_epml_request_t *request,
                                                   const mca_pml_epml_hdr_rndv_t *hdr,
                                                   const void *handle, size_t handle_size)
{
    struct mca_btl_base_endpoint_t *connection = NULL;
    mca_btl_ep_module_t *module = NULL;
    const bool get = 0 != (hdr->match.common.flags & EPML_HDR_FLAG_GET)
                     && OMPI_SUCCESS
                            == mca_pml_epml_route(request->ep, request->source, &module,
                                                  &connection)
                     && 0 != (module->super.btl_flags & MCA_BTL_FLAGS_GET)
                     && (0 != (hdr->match.common.flags & EPML_HDR_FLAG_NODE))
                            == (module == request->ep->ways.module[EPML_WAY_NODE])
                     && handle_size
                            == (NULL != module->super.btl_register_mem
                                    ? module->super.btl_registration_handle_size
                                    : 0);

    request->paced = false;
    request->remote_address = hdr->address;
    request->has_remote_handle = 0 < handle_size;
    memcpy(request->remote_handle, handle, handle_size);
    if (0 == request->wanted) {
        fetched(request, OMPI_SUCCESS);
    } else if (get && request->contiguous
               && !(module == request->ep->ways.module[EPML_WAY_NODE] && wants_frags(request))
               && OMPI_SUCCESS == start_get(request, module, connection)) {
        return;
    } else if (get && !request->contiguous && NULL != request->source->shm) {
        mca_pml_epml_recv_fetch(request);
    } else {
        ask_for_frags(request);
    }
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
        rc = unpack(request, data, request->wanted);
        if (OPAL_UNLIKELY(0 != (hdr->match.common.flags & EPML_HDR_FLAG_SYNC))) {
            request->source = request->comm->peers->member[hdr->match.source];
            request->sender_request = hdr->match.common.request;
            tell_and_finish(request, EPML_HDR_ACK, rc);
            return;
        }
        recv_done(request, OMPI_SUCCESS == rc ? MPI_SUCCESS : MPI_ERR_OTHER);
        return;
    }
    request->source = request->comm->peers->member[hdr->match.source];
    request->sender_request = hdr->match.common.request;
    request->expected = hdr->length;
    request->wanted = hdr->length <= request->size ? hdr->length : request->size;
    matched_rndv(request, hdr, data, size);
}

static bool frag_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_frag_t *hdr = message->hdr;
    size_t size = message->rest_size;
    mca_pml_epml_request_t *request = mca_pml_epml_number_find(ep, hdr->common.request);
    int rc;

    if (NULL == request) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    if (&mca_pml_epml_recv_ops != request->ops || 0 < request->gets || request->in_backlog
        || hdr->offset != request->received) {
        return false;
    }
    if (0 != (hdr->common.flags & EPML_HDR_FLAG_FAIL)) {
        mca_pml_epml_number_drop(request);
        recv_done(request, MPI_ERR_OTHER);
        return true;
    }
    /* The sender packs whole elements: its last fragment may hold more than was asked for. */
    if (size > request->wanted - request->received) {
        size = request->wanted - request->received;
    }
    rc = unpack(request, message->rest, size);
    request->received += size;
    if (request->received == request->wanted || OMPI_SUCCESS != rc) {
        if (OPAL_UNLIKELY(request->paced)) {
            note_fetch(request);
        }
        mca_pml_epml_number_drop(request);
        recv_done(request, OMPI_SUCCESS == rc ? MPI_SUCCESS : MPI_ERR_OTHER);
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
    mca_pml_epml_number_drop(request);
    request->in_backlog = false;
    mca_pml_epml_request_activate(request);
    rc = mca_pml_epml_recv_start(request, request->ep, request->comm, request->rank,
                                 request->tag);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        mca_pml_epml_recv_refuse(request, rc);
    }
    mca_pml_epml_unlock(request->ep);
    return OMPI_SUCCESS;
}

/** It waits for fragments; what is being fetched comes back from its transport, or is in the
 * backlog. */
static void recv_lost(mca_pml_epml_request_t *request)
{
    if (0 == request->gets && !request->in_backlog
        && mca_pml_epml_lost_is(request->ep, request->source)) {
        mca_pml_epml_number_drop(request);
        recv_done(request, MPI_ERR_PROC_FAILED);
    }
}

static void recv_lost_unmatched(mca_pml_epml_request_t *request)
{
    const int rank = mca_pml_epml_lost_blocks(request->comm, request->rank, request->tag);

    if (0 <= rank) {
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
             request->in_backlog ? ", held in backlog" : "");
    return true;
}

const mca_pml_epml_request_ops_t mca_pml_epml_recv_ops = {.name = "receive",
                                                          .start = recv_start_again,
                                                          .resume = mca_pml_epml_recv_resume,
                                                          .lost = recv_lost,
                                                          .lost_unmatched = recv_lost_unmatched,
                                                          .describe = recv_describe};
