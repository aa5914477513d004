/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A long message's data, which stay with their sender until a receive has been found: fetched, by a
 * get or with the convertor, or asked for in fragments; and the answer to the sender.
 *
 * Called by receives, and for the pieces of partitioned ones.
 *
 * Tests: p2p_sizes, offered, fault (fetched), cut (fin_fetch, swallow_fetched), device
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_fetch.h"
#include "pml_epml_part.h"
#include "pml_epml_recv.h"

#include "ompi/constants.h"

/* ---- answers --------------------------------------------------------------------------------- */

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
static __attribute__((noinline)) void fetch_credit(mca_pml_epml_request_t *request,
                                                   mca_pml_epml_hdr_kind_t answer)
{
    request->answer = (uint8_t) answer;
    request->in_pending_queue = true;
    mca_pml_epml_pending_request(request->ep, request->source, request);
}

/** For the sender: by which way do data of up to 16 KiB get here from processes of the node? */
static inline uint8_t way_of_short(const mca_pml_epml_request_t *request)
{
    const ep_pace_t *pace = &request->ep->fetch.pace[0];

    return 0 < pace->interval && !pace->other ? EPML_HDR_FLAG_GET : 0;
}

void mca_pml_epml_fetch_answer(mca_pml_epml_request_t *request, mca_pml_epml_hdr_kind_t kind,
                               int rc)
{
    const mca_pml_epml_hdr_done_t hdr = {.common = {.kind = kind,
                                                    .flags = way_of_short(request),
                                                    .request = request->sender_request},
                                         .status = EPML_HDR_FIN == kind ? rc : OMPI_SUCCESS,
                                         .round = &mca_pml_epml_piece_ops == request->ops
                                                      ? mca_pml_epml_part_piece_round(request)
                                                      : 0};

    if (OPAL_UNLIKELY(OMPI_ERR_OUT_OF_RESOURCE
                      == mca_pml_epml_send_control(request->ep, request->source, &hdr,
                                                   sizeof(hdr)))) {
        request->error = rc;
        fetch_credit(request, kind);
        return;
    }
    mca_pml_epml_recv_done(request, data_error(rc));
}

/** Ask the sender for fragments. */
static void ask_for_frags(mca_pml_epml_request_t *request)
{
    int rc = mca_pml_epml_request_id_assign(request);

    if (OMPI_SUCCESS == rc) {
        const mca_pml_epml_hdr_cts_t hdr = {.common = {.kind = EPML_HDR_CTS,
                                                       .flags = way_of_short(request),
                                                       .request = request->sender_request},
                                            .receiver = request->number,
                                            .length = request->wanted};

        rc = mca_pml_epml_send_control(request->ep, request->source, &hdr, sizeof(hdr));
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == rc && EPML_NUMBER_NONE != request->number) {
        fetch_credit(request, EPML_HDR_CTS);
    } else if (OMPI_SUCCESS != rc) {
        mca_pml_epml_request_id_drop(request);
        mca_pml_epml_fetch_answer(request, EPML_HDR_FIN, rc);
    }
}

/* ---- fetch, or have it sent? ----------------------------------------------------------------- */

static inline ep_pace_t *pace_of(mca_pml_epml_request_t *request)
{
    const size_t size = request->wanted;

    return &request->ep->fetch.pace[(size_t) 16 << 10 >= size    ? 0
                                    : (size_t) 32 << 10 >= size  ? 1
                                    : (size_t) 64 << 10 >= size  ? 2
                                    : (size_t) 256 << 10 >= size ? 3
                                    : (size_t) 1 << 20 >= size   ? 4
                                                                 : 5];
}

/**
 * From another process of the node: in fragments, which both processes copy, one behind the other,
 * and not by the kernel, which copies once, and has to look up each page?  What is faster depends
 * on the machine, and on whether the sender is there to do its part; so it is tried.
 */
static bool wants_frags(mca_pml_epml_request_t *request)
{
    request->paced = true;
    request->in_frags = ep_pace_choose(pace_of(request));
    request->fetch_start = ep_pace_clock();
    return request->in_frags;
}

void mca_pml_epml_fetch_note(mca_pml_epml_request_t *request)
{
    mca_pml_epml_ep_t *ep = request->ep;
    const uint64_t now = ep_pace_clock();
    const uint64_t start = request->fetch_start > ep->fetch.last ? request->fetch_start
                                                                 : ep->fetch.last;

    request->paced = false;
    ep->fetch.last = now;
    ep_pace_note(pace_of(request), request->in_frags, now - start, request->wanted);
}

/* ---- fetching -------------------------------------------------------------------------------- */

/** All data have been fetched, or could not be. */
static void fetch_complete(mca_pml_epml_request_t *request, int rc)
{
    if (OPAL_UNLIKELY(request->paced) && OMPI_SUCCESS == rc) {
        mca_pml_epml_fetch_note(request);
    }
    forget_handle(request);
    mca_pml_epml_request_id_drop(request);
    mca_pml_epml_fetch_answer(request, EPML_HDR_FIN, rc);
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
        && !request->get_starting && !request->in_pending_queue) {
        fetch_complete(request, request->error);
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
    const int flags = mca_pml_epml_is_oversubscribed() ? MCA_BTL_EP_GET_ALONE : 0;

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
        request->ep->fetch
            .bytes[NULL != request->source->shm ? EPML_TRANSPORTS : request->source->transport]
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
        fetch_complete(request, request->error);
    }
    return OMPI_SUCCESS;
}

/** It turned out that nothing can be fetched. */
static void cannot_fetch(mca_pml_epml_request_t *request)
{
    request->paced = false; /* the time of neither */
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
        mca_pml_epml_fetch_answer(request, answer, request->error);
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
        rc = mca_pml_epml_recv_convert(request,
                                       (const void *) (uintptr_t) (request->remote_address
                                                                   + request->received),
                                       &size);
        request->received += size;
        if (0 == size) {
            rc = OMPI_ERROR; /* the convertor takes no more */
        }
    }
    fetch_complete(request, rc);
    return OMPI_SUCCESS;
}

/** Data that the receiver fetches, by a get or with the convertor. */
static inline int fetch_more(mca_pml_epml_request_t *request)
{
    return request->contiguous ? get_more(request) : unpack_more(request);
}

int mca_pml_epml_fetch_resume(mca_pml_epml_request_t *request)
{
    int rc;

    request->in_pending_queue = false;
    if (OPAL_UNLIKELY(0 != request->answer)) {
        pay_answer(request); /* which may bring it back to the pending queue */
        return OMPI_SUCCESS;
    }
    rc = fetch_more(request);
    request->in_pending_queue = OMPI_ERR_OUT_OF_RESOURCE == rc;
    if (OMPI_ERR_NOT_AVAILABLE == rc) {
        cannot_fetch(request);
        return OMPI_SUCCESS;
    }
    return rc;
}

void mca_pml_epml_fetch_start(mca_pml_epml_request_t *request)
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
        request->in_pending_queue = true;
        mca_pml_epml_pending_request(request->ep, request->source, request);
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == rc || 0 < request->gets) {
        /* No message names it: it is for a dump to find.  Without memory it does not. */
        (void) mca_pml_epml_request_id_assign(request);
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
    mca_pml_epml_fetch_start(request);
    return OMPI_SUCCESS;
}

void mca_pml_epml_fetch_matched(mca_pml_epml_request_t *request, const mca_pml_epml_hdr_rndv_t *hdr,
                                const void *handle, size_t handle_size)
{
    struct mca_btl_base_endpoint_t *connection = NULL;
    mca_btl_ep_module_t *module = NULL;
    bool get = 0 != (hdr->match.common.flags & EPML_HDR_FLAG_GET)
               && OMPI_SUCCESS
                      == mca_pml_epml_route(request->ep, request->source, &module, &connection)
               && 0 != (module->super.btl_flags & MCA_BTL_FLAGS_GET)
               && (0 != (hdr->match.common.flags & EPML_HDR_FLAG_NODE))
                      == (module == request->ep->transports.module[EPML_TRANSPORT_NODE])
               && handle_size
                      == (NULL != module->super.btl_register_mem
                              ? module->super.btl_registration_handle_size
                              : 0);

    if (OPAL_UNLIKELY(0 != (hdr->match.common.flags & EPML_HDR_FLAG_DEVICE))) {
        /* Not by the processor, even if our memory is the host's. */
        get = get && NULL != request->source->shm
              && OMPI_SUCCESS == mca_pml_epml_request_by_accelerator(request);
    }
    request->paced = false;
    request->remote_address = hdr->address;
    request->has_remote_handle = 0 < handle_size;
    memcpy(request->remote_handle, handle, handle_size);
    if (0 == request->wanted) {
        fetch_complete(request, OMPI_SUCCESS);
    } else if (get && request->contiguous
               && !(module == request->ep->transports.module[EPML_TRANSPORT_NODE]
                    && wants_frags(request))
               && OMPI_SUCCESS == start_get(request, module, connection)) {
        return;
    } else if (get && !request->contiguous && NULL != request->source->shm) {
        mca_pml_epml_fetch_start(request);
    } else {
        ask_for_frags(request);
    }
}
