/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The protocol of sending, for what does not go at once (pml_epml_isend.c):
 *
 *   small, but not very      EAGER, lent to a neighbour, which copies the data if it comes at once
 *   small, synchronous       EAGER with a number, done when the receiver's ACK comes
 *   large, one piece         RNDV with address: the receiver fetches the data, done at its FIN
 *   in between, on the node  either, whichever the receiver has found to be faster
 *   large, several pieces    RNDV without: at the receiver's CTS the data go out as FRAGs
 *   large, of a device       as several pieces; to a neighbour, RNDV with address if it is one
 *
 * While the receiver is full (pml_epml_flow.h), everything counts as large.
 *
 * Tests: p2p_sizes, p2p_types, offered, pack_error, random_traffic, device, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_frag.h"
#include "pml_epml_part.h"
#include "pml_epml_send.h"

#include "ompi/constants.h"

static inline size_t eager_limit(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    return (NULL != peer->shm ? ep->transports.shm : ep->transports.module[peer->transport])
        ->super.btl_eager_limit;
}

void mca_pml_epml_send_fail(mca_pml_epml_request_t *request, int rc)
{
    mca_pml_epml_request_forget_handle(request);
    mca_pml_epml_request_id_drop(request); /* no late answer finds it */
    request->state = EPML_SEND_DONE;
    mca_pml_epml_request_fail(request, rc);
}

/* ---- requests -------------------------------------------------------------------------------- */

/** Send the whole message, from a layout in pieces through the transport's packing. */
static int transmit_packed(mca_pml_epml_request_t *request, mca_pml_epml_peer_t *peer,
                           mca_pml_epml_hdr_match_t *hdr)
{
    struct mca_btl_base_endpoint_t *connection;
    mca_btl_ep_module_t *module;
    int rc = mca_pml_epml_route(request->ep, peer, &module, &connection);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (OPAL_UNLIKELY(OMPI_SUCCESS != mca_pml_epml_request_convertor(request))) {
        return OMPI_ERR_NOT_AVAILABLE; /* as data that cannot be packed */
    }
    rc = module->super.btl_sendi(&module->super, connection, &request->convertor, hdr, sizeof(*hdr),
                                 request->size, MCA_BTL_NO_ORDER, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP,
                                 MCA_BTL_EP_TAG, NULL);
    return OMPI_ERR_RESOURCE_BUSY == rc ? OMPI_ERR_OUT_OF_RESOURCE : rc;
}

/** Let a neighbour copy the data from where they are.  If oversubscribed it would hardly come soon.
 * @return OMPI_SUCCESS; OMPI_ERR_NOT_AVAILABLE: they must be buffered; or another error */
static int send_zcopy(mca_pml_epml_request_t *request, mca_pml_epml_peer_t *peer)
{
    mca_btl_ep_module_t *shm = request->ep->transports.shm;
    mca_pml_epml_hdr_match_t hdr;
    int rc;

    if (NULL == peer->shm || !request->contiguous || NULL == shm->ep_send_zcopy
        || shm->ep_zcopy_min > request->size || shm->ep_zcopy_max < request->size
        || MCA_PML_BASE_SEND_SYNCHRONOUS == request->mode || mca_pml_epml_is_oversubscribed()) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    mca_pml_epml_match_header(&hdr, request->comm, request->tag);
    rc = shm->ep_send_zcopy(shm, peer->shm, &hdr, sizeof(hdr), request->base, request->size,
                            request);
    request->state = OMPI_SUCCESS == rc ? EPML_SEND_LENT : request->state;
    return rc;
}

/** The data have gone out, or are buffered. */
static void send_complete(mca_pml_epml_request_t *request)
{
    request->state = EPML_SEND_DONE;
    /* It has them if there was no room for it while the peer held us back. */
    mca_pml_epml_request_forget_handle(request);
    mca_pml_epml_request_id_drop(request);
    mca_pml_epml_request_done(request);
}

void mca_pml_epml_send_returned(void *context, void *token)
{
    (void) context;
    send_complete(token);
}

/** Has a peer gone in good order, all its communicators freed?  What is sent to it now no thread
 * will receive, as what the network still takes for it, or what is in its receive queue already: of
 * a send that does not wait for its receive, the sender does not learn that (MPI 4.1, section
 * 3.4). */
static bool has_left(const mca_pml_epml_ep_t *ep, const mca_pml_epml_peer_t *peer)
{
    return NULL != peer->shm
           || (EPML_TRANSPORT_NODE == peer->transport
               && NULL != mca_pml_epml_connection_find(ep, peer)
               && !mca_pml_epml_lost_is(ep, peer));
}

static int first_eager(mca_pml_epml_request_t *request, mca_pml_epml_peer_t *peer)
{
    mca_pml_epml_hdr_match_t hdr;
    const bool sync = MCA_PML_BASE_SEND_SYNCHRONOUS == request->mode;
    int rc;

    mca_pml_epml_match_header(&hdr, request->comm, request->tag);
    if (sync) {
        rc = mca_pml_epml_request_id_assign(request);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        hdr.common.flags = EPML_HDR_FLAG_SYNC;
        hdr.common.request = request->number;
    }
    rc = request->contiguous ? mca_pml_epml_transmit(request->ep, peer, &hdr, sizeof(hdr),
                                                     request->base, request->size)
                             : transmit_packed(request, peer, &hdr);
    if (OPAL_UNLIKELY(OMPI_ERR_UNREACH == rc) && !sync && has_left(request->ep, peer)) {
        rc = OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS == rc) {
        if (sync) {
            request->state = EPML_SEND_SYNC;
        } else {
            send_complete(request);
        }
    }
    return rc;
}

/** Let the receiver fetch the data, if they are one piece: says in hdr where they are, and how many
 * bytes of handle go with it.  Where it cannot be, hdr stays as it is and the receiver asks for
 * fragments. */
static void offer_memory(mca_pml_epml_request_t *request, mca_btl_ep_module_t *module,
                         struct mca_btl_base_endpoint_t *connection, mca_pml_epml_hdr_rndv_t *hdr,
                         unsigned char *handle)
{
    if (!request->contiguous) {
        if (module == request->ep->transports.shm
            && mca_pml_epml_request_is_piece_of_device(request)) {
            hdr->match.common.flags |= EPML_HDR_FLAG_GET | EPML_HDR_FLAG_DEVICE;
            hdr->address = (uint64_t) (uintptr_t) request->base;
        }
        return;
    }
    if (0 == request->size || 0 == (module->super.btl_flags & MCA_BTL_FLAGS_GET)) {
        return;
    }
    if (NULL != module->super.btl_register_mem && NULL == request->local_handle) {
        request->local_handle = module->super.btl_register_mem(&module->super, connection,
                                                               request->base, request->size,
                                                               MCA_BTL_REG_FLAG_REMOTE_READ);
        request->handle_module = module;
        if (NULL == request->local_handle) {
            return;
        }
    }
    if (NULL != request->local_handle) {
        hdr->match.common.handle_size = (uint16_t) module->super.btl_registration_handle_size;
        memcpy(handle, request->local_handle, module->super.btl_registration_handle_size);
    }
    hdr->match.common.flags |= EPML_HDR_FLAG_GET;
    if (module == request->ep->transports.module[EPML_TRANSPORT_NODE]) {
        hdr->match.common.flags |= EPML_HDR_FLAG_NODE;
    }
    hdr->address = (uint64_t) (uintptr_t) request->base;
}

static int first_rndv(mca_pml_epml_request_t *request, mca_pml_epml_peer_t *peer)
{
    struct mca_btl_base_endpoint_t *connection;
    mca_btl_ep_module_t *module;
    mca_pml_epml_hdr_rndv_t hdr = {.length = request->size};
    unsigned char handle[MCA_BTL_EP_ADDRESS_MAX];
    int rc = mca_pml_epml_route(request->ep, peer, &module, &connection);

    mca_pml_epml_match_header(&hdr.match, request->comm, request->tag);
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_request_id_assign(request);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    offer_memory(request, module, connection, &hdr, handle);
    hdr.match.common.kind = EPML_HDR_RNDV;
    hdr.match.common.request = request->number;
    rc = mca_pml_epml_transmit(request->ep, peer, &hdr, sizeof(hdr), handle,
                               hdr.match.common.handle_size);
    if (OMPI_SUCCESS == rc) {
        request->state = EPML_SEND_RNDV;
    }
    return rc;
}

/** Of the messages to a peer that may be copied twice or fetched, these are offered: the first ones,
 * and one of so many after them, from whose answers the sender learns what is faster. */
#define OFFERED_FIRST 16
#define OFFERED_EVERY 64

/**
 * Data for another process of the node that could be buffered, and that it might get faster if it
 * fetched them: two copies by two cores that are far from each other take up to twice as long as
 * one by the kernel.  The receiver has tried both (pml_epml_fetch.c), and answers which it was.
 */
static bool is_better_offered(const mca_pml_epml_connection_t *connection)
{
    return connection->fetches || OFFERED_FIRST > connection->copied
           || 0 == (connection->copied + 1) % OFFERED_EVERY;
}

/** @return the connection to a process of the node; NULL: to another one, or there is none */
static mca_pml_epml_connection_t *connection_on_node(const mca_pml_epml_ep_t *ep,
                                                     const mca_pml_epml_peer_t *peer)
{
    return NULL == peer->shm && EPML_TRANSPORT_NODE == peer->transport
               ? mca_pml_epml_connection_find(ep, peer)
               : NULL;
}

/** The connection of a message of which that is to be known.  @return NULL: it is not such a one */
static mca_pml_epml_connection_t *connection_of_either(const mca_pml_epml_request_t *request,
                                                       const mca_pml_epml_peer_t *peer)
{
    return EPML_NODE_COPIED < request->size && request->contiguous
                   && MCA_PML_BASE_SEND_SYNCHRONOUS != request->mode
               ? connection_on_node(request->ep, peer)
               : NULL;
}

/** An answer to what was offered. */
static void note_way(const mca_pml_epml_request_t *request, uint8_t flags)
{
    mca_pml_epml_connection_t *connection
        = connection_on_node(request->ep, request->comm->peers->member[request->rank]);

    if (NULL != connection) {
        connection->fetches = 0 != (flags & EPML_HDR_FLAG_GET);
    }
}

static int send_first(mca_pml_epml_request_t *request)
{
    mca_pml_epml_peer_t *peer = request->comm->peers->member[request->rank];
    mca_pml_epml_ep_t *ep = request->ep;
    mca_pml_epml_connection_t *either = NULL;
    int rc = OMPI_ERR_NOT_AVAILABLE;

    if (!mca_pml_epml_flow_is_held(ep, peer)) {
        rc = send_zcopy(request, peer);
        if (OMPI_ERR_NOT_AVAILABLE == rc
            && sizeof(mca_pml_epml_hdr_match_t) + request->size <= eager_limit(ep, peer)) {
            either = connection_of_either(request, peer);
            if (NULL == either || !is_better_offered(either)) {
                rc = first_eager(request, peer);
            }
        }
    }
    /* Too large; or the peer holds us back; or the transport could buffer as much, but has no
     * memory for it; or it could not be packed, which a waiting receiver will be told; or it is
     * better offered. */
    rc = OMPI_ERR_NOT_AVAILABLE == rc ? first_rndv(request, peer) : rc;
    if (NULL != either && OMPI_SUCCESS == rc
        && NULL != (either = mca_pml_epml_connection_find(ep, peer))) {
        ++either->copied; /* once, however often there was no room for it */
    }
    return rc;
}

/** There are no more fragments: the receiver must not wait for the rest.
 * @return OMPI_ERR_OUT_OF_RESOURCE to be called again; otherwise the error of the send */
static int end_frags(mca_pml_epml_request_t *request)
{
    mca_pml_epml_peer_t *peer = request->comm->peers->member[request->rank];
    const mca_pml_epml_hdr_frag_t hdr = {.common = {.kind = EPML_HDR_FRAG,
                                                    .flags = EPML_HDR_FLAG_FAIL,
                                                    .request = request->receiver_request},
                                         .offset = request->sent};
    int rc = mca_pml_epml_transmit(request->ep, peer, &hdr, sizeof(hdr), NULL, 0);

    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc && OMPI_ERR_OUT_OF_RESOURCE != rc)) {
        /* No transport any more, be it for a while only: as with an answer. */
        rc = mca_pml_epml_send_control(request->ep, peer, &hdr, sizeof(hdr));
    }
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? rc : request->error;
}

/** The sender cannot go on by itself, which is no want of room.  Returns as end_frags. */
static int break_frags(mca_pml_epml_request_t *request, int why)
{
    request->state = EPML_SEND_BROKEN;
    request->error = why;
    return end_frags(request);
}

/** Send fragments as long as there is room. */
static int send_frags(mca_pml_epml_request_t *request)
{
    mca_pml_epml_peer_t *peer = request->comm->peers->member[request->rank];
    struct mca_btl_base_endpoint_t *connection;
    mca_btl_ep_module_t *module;
    int rc = mca_pml_epml_route(request->ep, peer, &module, &connection);

    while (OMPI_SUCCESS == rc && request->sent < request->to_send) {
        const mca_pml_epml_hdr_frag_t hdr = {.common = {.kind = EPML_HDR_FRAG,
                                                        .request = request->receiver_request},
                                             .offset = request->sent};
        size_t size = request->size - request->sent;

        rc = mca_pml_epml_frag_send(request, module, connection, &hdr, &size);
        request->sent += OMPI_SUCCESS == rc ? size : 0;
    }
    if (OMPI_SUCCESS == rc) {
        request->state = EPML_SEND_DONE;
        mca_pml_epml_request_id_drop(request);
        mca_pml_epml_request_forget_handle(request);
        mca_pml_epml_request_done(request);
    }
    return rc;
}

/** See mca_pml_epml_request_ops_t. */
static int send_resume(mca_pml_epml_request_t *request)
{
    int rc;

    if (EPML_SEND_FRAGS == request->state) {
        rc = send_frags(request);
        if (OMPI_SUCCESS != rc && OMPI_ERR_OUT_OF_RESOURCE != rc) {
            rc = break_frags(request, rc);
        }
    } else if (EPML_SEND_BROKEN == request->state) {
        rc = end_frags(request);
    } else {
        rc = mca_pml_epml_request_is_in_vain(request) ? MPI_ERR_PROC_FAILED : send_first(request);
    }
    if (OMPI_SUCCESS == rc || OMPI_ERR_OUT_OF_RESOURCE == rc) {
        return rc;
    }
    mca_pml_epml_send_fail(request, rc);
    return OMPI_SUCCESS;
}

/** Continue now, or when what waits for the peer already is through. */
static void continue_in_order(mca_pml_epml_request_t *request)
{
    mca_pml_epml_peer_t *peer = request->comm->peers->member[request->rank];

    if (mca_pml_epml_pending_has(request->ep, peer)
        || OMPI_ERR_OUT_OF_RESOURCE == send_resume(request)) {
        mca_pml_epml_pending_request(request->ep, peer, request);
    }
}

int mca_pml_epml_send_start(mca_pml_epml_request_t *request)
{
    request->state = EPML_SEND_START;
    request->sent = 0;
    if (mca_pml_epml_request_is_in_vain(request)) {
        return MPI_ERR_PROC_FAILED;
    }
    if (MCA_PML_BASE_SEND_BUFFERED == request->mode) {
        request->bsend_buffer = request->buffer;
    }
    continue_in_order(request);
    return OMPI_SUCCESS;
}

/* ---- the receiver's answers ------------------------------------------------------------------ */

static bool cts_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_cts_t *hdr = message->hdr;
    mca_pml_epml_request_t *request = mca_pml_epml_request_id_find(ep, hdr->common.request);
    int rc;

    if (NULL == request) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    if (&mca_pml_epml_send_ops != request->ops || !mca_pml_epml_send_is_offered(request)
        || hdr->length > request->size) {
        return false;
    }
    note_way(request, hdr->common.flags);
    request->state = EPML_SEND_FRAGS;
    request->receiver_request = hdr->receiver;
    request->to_send = hdr->length;
    rc = mca_pml_epml_request_convertor(request);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        request->state = EPML_SEND_BROKEN;
        request->error = OMPI_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : rc;
    }
    continue_in_order(request);
    return true;
}

/** FIN, of partitioned sends as well, or ACK. */
static bool done_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_done_t *hdr = message->hdr;
    mca_pml_epml_request_t *request = mca_pml_epml_request_id_find(ep, hdr->common.request);

    if (NULL != request && &mca_pml_epml_psend_ops == request->ops
        && EPML_HDR_FIN == hdr->common.kind) {
        return mca_pml_epml_part_send_finished((mca_pml_epml_part_t *) request, hdr);
    }
    if (NULL != request && &mca_pml_epml_send_ops != request->ops) {
        return false;
    }
    if (NULL == request
        || !(EPML_HDR_ACK == hdr->common.kind ? EPML_SEND_SYNC == request->state
                                              : mca_pml_epml_send_is_offered(request))) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    if (MPI_ERR_REVOKED == hdr->status) {
        mca_pml_epml_send_fail(request, MPI_ERR_REVOKED); /* this endpoint may not know it yet */
        return true;
    }
    if (OMPI_ERR_UNREACH == hdr->status
        || (OMPI_SUCCESS != hdr->status && EPML_SEND_CANCELLED == request->state)) {
        mca_pml_epml_send_fail(request, MPI_ERR_PROC_FAILED);
        return true;
    }
    if (EPML_HDR_FIN == hdr->common.kind) {
        note_way(request, hdr->common.flags);
    }
    mca_pml_epml_request_forget_handle(request);
    mca_pml_epml_request_id_drop(request);
    request->state = EPML_SEND_DONE;
    if (OMPI_SUCCESS != hdr->status) {
        request->req_ompi.req_status.MPI_ERROR = MPI_ERR_OTHER;
    }
    mca_pml_epml_request_done(request);
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_cts_kind = {.size = sizeof(mca_pml_epml_hdr_cts_t),
                                                   .from = EPML_FROM_PARTNER,
                                                   .arrived = cts_arrived};

const mca_pml_epml_kind_t mca_pml_epml_done_kind = {.size = sizeof(mca_pml_epml_hdr_done_t),
                                                    .from = EPML_FROM_PARTNER,
                                                    .arrived = done_arrived};

/* ---- what the engine asks -------------------------------------------------------------------- */

static int send_start_again(mca_pml_epml_request_t *request)
{
    int rc;

    mca_pml_epml_lock(request->ep);
    mca_pml_epml_request_id_drop(request);
    request->in_pending_queue = false;
    mca_pml_epml_request_activate(request);
    rc = mca_pml_epml_send_start(request);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        mca_pml_epml_request_fail(request, rc);
    }
    mca_pml_epml_unlock(request->ep);
    return OMPI_SUCCESS;
}

static void send_cut(mca_pml_epml_request_t *request)
{
    mca_pml_epml_send_fail(request, MPI_ERR_PROC_FAILED);
}

static bool send_is_unheard(const mca_pml_epml_request_t *request)
{
    return EPML_SEND_START == request->state;
}

/** To a peer that lives, and may never receive it. */
static void send_cancel(mca_pml_epml_request_t *request)
{
    if (EPML_SEND_SYNC == request->state) {
        mca_pml_epml_send_fail(request, MPI_ERR_PROC_FAILED);
    } else if (EPML_SEND_RNDV == request->state) {
        mca_pml_epml_rndv_cancel(request);
    }
}

/** The other side has heard of it.  (If it goes on sending it is in a pending queue.) */
static void send_lost(mca_pml_epml_request_t *request)
{
    const mca_pml_epml_peer_t *receiver = request->comm->peers->member[request->rank];

    if (mca_pml_epml_lost_is(request->ep, receiver)) {
        if (EPML_SEND_SYNC == request->state || mca_pml_epml_send_is_offered(request)) {
            mca_pml_epml_send_fail(request, MPI_ERR_PROC_FAILED);
        }
    } else if (mca_pml_epml_request_is_in_vain(request)) {
        send_cancel(request);
    }
}

static void send_remind(mca_pml_epml_request_t *request)
{
    if (EPML_SEND_CANCELLED == request->state) {
        mca_pml_epml_rndv_cancel(request); /* the peer that was to answer may have gone since */
    }
}

static const char *mode_text(const mca_pml_epml_request_t *request)
{
    switch (request->mode) {
    case MCA_PML_BASE_SEND_SYNCHRONOUS:
        return "synchronous, ";
    case MCA_PML_BASE_SEND_BUFFERED:
        return "buffered, ";
    case MCA_PML_BASE_SEND_READY:
        return "ready, ";
    default:
        return "";
    }
}

static bool send_describe(const mca_pml_epml_request_t *request, mca_pml_epml_request_text_t *text)
{
    const char *waits;

    text->rank = request->rank;
    text->tag = request->tag;
    switch (request->state) {
    case EPML_SEND_START:
        waits = "held in pending queue";
        break;
    case EPML_SEND_SYNC:
        waits = "waiting for acknowledgement";
        break;
    case EPML_SEND_RNDV:
        waits = "waiting for a match, or being fetched";
        break;
    case EPML_SEND_CANCELLED:
        waits = "cancelled, waiting for the answer";
        break;
    case EPML_SEND_FRAGS:
        snprintf(text->state, sizeof(text->state), "%stransferring, %llu of %llu bytes",
                 mode_text(request), (unsigned long long) request->sent,
                 (unsigned long long) request->to_send);
        return true;
    default:
        return false;
    }
    snprintf(text->state, sizeof(text->state), "%s%s", mode_text(request), waits);
    return true;
}

const mca_pml_epml_request_ops_t mca_pml_epml_send_ops = {.name = "send",
                                                          .sends = true,
                                                          .start = send_start_again,
                                                          .resume = send_resume,
                                                          .cut = send_cut,
                                                          .is_unheard = send_is_unheard,
                                                          .lost = send_lost,
                                                          .take_back = send_cancel,
                                                          .remind = send_remind,
                                                          .describe = send_describe};
