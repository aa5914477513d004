/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The receiving side of partitioned communication.
 *
 * Data go straight into the user's buffer, because the sender waits for the receive's start.  What
 * has come is counted by partition of the receive, whose number and size are not the sender's.
 *
 * Tests: part, part_life, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_fetch.h"
#include "pml_epml_part.h"
#include "pml_epml_recvfrag.h"

#include "ompi/constants.h"

static inline bool is_done(const mca_pml_epml_part_t *part)
{
    /* Relaxed: written under the lock, which the caller has. */
    return atomic_load_explicit(&part->super.done, memory_order_relaxed);
}

/** There is neither room nor memory for an answer: the receive waits with what it owes. */
static void part_recv_owe(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;

    if (!request->in_pending_queue) {
        request->in_pending_queue = true;
        mca_pml_epml_pending_request(request->ep, request->source, request);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/** Note what each partition is to get in this round. */
static void part_recv_expect(mca_pml_epml_part_t *part)
{
    uint64_t rest = part->matched ? part->super.wanted : 0;

    part->missing = rest;
    for (size_t i = 0; i < part->partitions; ++i) {
        const uint64_t mine = rest < part->partition_size ? rest : part->partition_size;

        /* Relaxed: MPI_Parrived must not be called while the round starts, and finds nothing
         * arrived in between. */
        atomic_store_explicit(&part->left[i], 0 < mine ? mine : EPML_PART_WHOLE,
                              memory_order_relaxed);
        rest -= mine;
    }
}

/** Can the sender leave the data where they are, for us to take? */
static bool can_fetch(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;
    struct mca_btl_base_endpoint_t *connection;
    mca_btl_ep_module_t *module;

    if (0 == request->wanted || part->cannot_fetch) {
        return false;
    }
    if (NULL != request->source->shm) {
        return true; /* with gaps in our layout, by unpacking from there */
    }
    return request->contiguous
           && OMPI_SUCCESS == mca_pml_epml_route(request->ep, request->source, &module, &connection)
           && 0 != (module->super.btl_flags & MCA_BTL_FLAGS_GET)
           && (request->size <= module->super.btl_get_local_registration_threshold
               || mca_pml_epml_part_register(part, module, connection,
                                             MCA_BTL_REG_FLAG_LOCAL_WRITE));
}

/** The round is over. */
static void end_round(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;
    ompi_status_public_t *status = &request->req_ompi.req_status;

    status->MPI_SOURCE = request->rank;
    status->MPI_TAG = request->tag;
    status->_ucount = request->wanted;
    if (MPI_SUCCESS == part->error && request->expected > request->size) {
        part->error = MPI_ERR_TRUNCATE;
    }
    mca_pml_epml_part_done(part);
}

/** If nothing more comes in this round it is over, once what is under way has come back. */
static void end_round_if_due(mca_pml_epml_part_t *part)
{
    if (part->ended && 0 == part->open && !part->super.in_pending_queue && !is_done(part)) {
        end_round(part);
    }
}

/** The round ends early. */
static void part_recv_end(mca_pml_epml_part_t *part, int error)
{
    part->error = error;
    part->ended = true;
    end_round_if_due(part);
}

/** Ends the round with an error if the sender is lost, or the communicator revoked. */
static void end_if_sender_lost(mca_pml_epml_part_t *part)
{
    if (part->super.comm->loss.member && MPI_PROC_NULL != part->super.rank && !is_done(part)
        && (part->super.comm->loss.revoked
            || mca_pml_epml_lost_is(part->super.ep, part->super.source))) {
        part_recv_end(part, mca_pml_epml_loss_error(part->super.comm));
    }
}

/** Tell the sender that it may begin its round. */
static void send_start(mca_pml_epml_part_t *part)
{
    const mca_pml_epml_hdr_part_start_t hdr = {
        .common = {.kind = EPML_HDR_PART_START,
                   .flags = part->may_fetch
                                ? EPML_HDR_FLAG_GET
                                      | mca_pml_epml_part_transport_flag(part->super.source)
                                : 0,
                   .request = part->super.sender_request},
        .receiver = part->super.number,
        .round = part->round,
        .length = part->super.wanted};
    int rc = mca_pml_epml_send_control(part->super.ep, part->super.source, &hdr, sizeof(hdr));

    part->owes_start = OMPI_ERR_OUT_OF_RESOURCE == rc;
    if (part->owes_start) {
        part_recv_owe(part);
    } else if (OMPI_SUCCESS != rc) {
        part_recv_end(part, mca_pml_epml_mpi_error(rc));
    }
}

/** Let the sender begin its round. */
static void part_recv_grant(mca_pml_epml_part_t *part)
{
    part->may_fetch = can_fetch(part);
    send_start(part);
}

/** A new round. */
static void begin_receiving(mca_pml_epml_part_t *part)
{
    part->ended = false;
    part_recv_expect(part);
    if (MPI_PROC_NULL == part->super.rank) {
        part->super.tag = MPI_ANY_TAG; /* for the status */
        end_round(part);
    } else if (part->matched) {
        part_recv_grant(part);
    }
    end_if_sender_lost(part);
}

/* ---- matching -------------------------------------------------------------------------------- */

/** PART_INIT has found its receive. */
static void part_recv_matched(mca_pml_epml_part_t *part, const mca_pml_epml_hdr_rndv_t *hdr)
{
    mca_pml_epml_request_t *request = &part->super;

    request->posted.queue = NULL;
    if (request->free_called && is_done(part)) {
        /* The user freed it before its send came: it was kept to take this one. */
        mca_pml_epml_part_t **next = &request->comm->ghosts;

        while (part != *next) {
            next = &(*next)->next_ghost;
        }
        *next = part->next_ghost;
        mca_pml_epml_part_destroy(part);
        return;
    }
    part->matched = true;
    request->sender_request = hdr->match.common.request;
    request->expected = hdr->length;
    request->wanted = hdr->length < request->size ? hdr->length : request->size;
    if (!is_done(part)) {
        part_recv_expect(part);
        part_recv_grant(part);
    }
}

int mca_pml_epml_part_recv_init(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;
    epml_match_table_t *table = &request->ep->match;
    epml_match_queue_t *queue;
    epml_match_unexpected_t *found;
    mca_pml_epml_view_t view;
    int rc;

    if (MPI_PROC_NULL == request->rank) {
        return OMPI_SUCCESS;
    }
    rc = mca_pml_epml_request_id_assign(request);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    request->source = request->comm->peers->member[request->rank];
    found = epml_match_first(table, request->comm->context | EPML_PART_CONTEXT, request->rank,
                             request->tag, &queue);
    if (NULL == queue) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (NULL == found) {
        if (OPAL_UNLIKELY(request->comm->message_lost)) {
            return MPI_ERR_NO_MEM; /* it might wait for the message that was lost */
        }
        epml_match_post(table, queue, &request->posted);
        return OMPI_SUCCESS;
    }
    mca_pml_epml_unexpected_view((mca_pml_epml_unexpected_t *) found, request->rank, request->tag,
                                 &view);
    epml_match_remove(table, found);
    part_recv_matched(part, &view.hdr);
    mca_pml_epml_unexpected_free(request->ep, (mca_pml_epml_unexpected_t *) found);
    return OMPI_SUCCESS;
}

static bool part_init_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_rndv_t *hdr = message->hdr;
    const uint64_t context = hdr->match.context | EPML_PART_CONTEXT;
    epml_match_posted_t *posted = epml_match_arrive(&ep->match, context, hdr->match.source,
                                                    hdr->match.tag);

    if (NULL == posted) {
        mca_pml_epml_keep(ep, context, hdr, hdr, 0);
    } else {
        part_recv_matched((mca_pml_epml_part_t *) ((char *) posted
                                                   - offsetof(mca_pml_epml_part_t, super.posted)),
                          hdr);
    }
    return true;
}

/* ---- data ------------------------------------------------------------------------------------ */

/** The receive that a message names.  @return NULL if it is gone */
static mca_pml_epml_part_t *part_recv_addressee(mca_pml_epml_ep_t *ep, uint32_t number)
{
    return (mca_pml_epml_part_t *) mca_pml_epml_request_id_find(ep, number);
}

/** Is it one whose number has been sent to a sender? */
static bool has_sender(const mca_pml_epml_part_t *part)
{
    return &mca_pml_epml_precv_ops == part->super.ops && part->matched;
}

/** Are there such bytes in a round of this receive? */
static bool has_bytes(const mca_pml_epml_part_t *part, uint64_t offset, uint64_t size)
{
    return offset <= part->super.wanted && size <= part->super.wanted - offset;
}

/** Is the receive in the middle of a round, of which more may come? */
static bool is_open(const mca_pml_epml_part_t *part)
{
    return !is_done(part) && !part->ended && !part->owes_start;
}

/** Bytes have come, or an error instead of them. */
static void part_recv_account(mca_pml_epml_part_t *part, uint64_t offset, uint64_t size, int error)
{
    part->missing -= size < part->missing ? size : part->missing;
    if (MPI_SUCCESS != error && MPI_SUCCESS == part->error) {
        part->error = error;
    }
    for (uint64_t at = offset, end = offset + size; at < end && MPI_SUCCESS == error;) {
        const uint64_t i = at / part->partition_size;
        const uint64_t next = (i + 1) * part->partition_size;
        const uint64_t mine = (next < end ? next : end) - at;
        /* Relaxed load: the lock's owner writes. */
        const uint64_t left = atomic_load_explicit(&part->left[i], memory_order_relaxed);

        /* Release: orders the data before the count; partner: the acquire in
         * mca_pml_epml_part_recv_arrived.  No less than none, should a piece come twice. */
        atomic_store_explicit(&part->left[i], left > mine ? left - mine : 0, memory_order_release);
        at += mine;
    }
    if (0 == part->missing && 0 == part->open) {
        end_round(part);
    } else {
        end_round_if_due(part);
    }
}

/** Put bytes where they belong. */
static int unpack_at(mca_pml_epml_part_t *part, uint64_t offset, const void *data, size_t size)
{
    mca_pml_epml_request_t *request = &part->super;
    struct iovec iov = {.iov_base = (IOVBASE_TYPE *) data, .iov_len = size};
    uint32_t iov_count = 1;
    size_t position = offset;
    int rc = OMPI_SUCCESS;

    if (0 == size) {
        return MPI_SUCCESS;
    }
    if (request->contiguous) {
        memcpy(request->base + offset, data, size);
        return MPI_SUCCESS;
    }
    if (!request->convertor_set) {
        rc = mca_pml_epml_request_convertor(request);
    }
    if (OMPI_SUCCESS == rc) {
        rc = opal_convertor_set_position(&request->convertor, &position);
    }
    if (OMPI_SUCCESS == rc) {
        rc = opal_convertor_unpack(&request->convertor, &iov, &iov_count, &size);
    }
    return 0 > rc ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static bool part_data_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_frag_t *hdr = message->hdr;
    size_t size = message->rest_size;
    mca_pml_epml_part_t *part = part_recv_addressee(ep, hdr->common.request);

    if (NULL != part && (!has_sender(part) || !has_bytes(part, hdr->offset, 0))) {
        return false;
    }
    if (NULL == part || !is_open(part)
        || mca_pml_epml_part_short_round(part->round) != hdr->common.handle_size) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    /* The sender packs whole elements: its last fragment may hold more than was asked for. */
    if (size > part->super.wanted - hdr->offset) {
        size = part->super.wanted - hdr->offset;
    }
    if (size > part->missing || (0 == size && 0 < part->super.wanted)) {
        return false;
    }
    part_recv_account(part, hdr->offset, size, unpack_at(part, hdr->offset, message->rest, size));
    return true;
}

/** Answer a piece of a round: it has been fetched, or why not.
 * @return as mca_pml_epml_send_control */
static int send_fin(const mca_pml_epml_part_t *part, int status, uint32_t round)
{
    const mca_pml_epml_hdr_done_t hdr = {.common = {.kind = EPML_HDR_FIN,
                                                    .request = part->super.sender_request},
                                         .status = status,
                                         .round = round};

    return mca_pml_epml_send_control(part->super.ep, part->super.source, &hdr, sizeof(hdr));
}

/** Tell the sender that a piece has been fetched, or why not; now or later. */
static void tell_fetched(mca_pml_epml_part_t *part, int status)
{
    int rc = send_fin(part, status, part->round);

    if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        ++*(OMPI_SUCCESS == status ? &part->owes_good : &part->owes_bad);
        ++part->open; /* the round is not over before */
        part_recv_owe(part);
    } else if (OMPI_SUCCESS != rc) {
        part->error = mca_pml_epml_mpi_error(rc); /* it is lost, which ends the round */
    }
}

/** Send FINs that are owed.  @return false: not all */
static bool pay_fins(mca_pml_epml_part_t *part, uint32_t *count, int status)
{
    while (0 < *count) {
        if (OMPI_ERR_OUT_OF_RESOURCE == send_fin(part, status, part->round)) {
            return false;
        }
        --*count;
        --part->open;
    }
    return true;
}

/** See mca_pml_epml_request_ops_t. */
static int precv_resume(mca_pml_epml_request_t *request)
{
    mca_pml_epml_part_t *part = (mca_pml_epml_part_t *) request;

    request->in_pending_queue = false;
    if (part->owes_start) {
        send_start(part); /* which may bring it back to the pending queue */
        return OMPI_SUCCESS;
    }
    if (!pay_fins(part, &part->owes_good, OMPI_SUCCESS)
        || !pay_fins(part, &part->owes_bad, OMPI_ERROR)) {
        request->in_pending_queue = true;
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (!is_done(part)) {
        part_recv_account(part, 0, 0, MPI_SUCCESS);
        end_if_sender_lost(part);
    }
    return OMPI_SUCCESS;
}

/** Fetch a piece into one piece of memory: a receive of its own, which tells the sender. */
static void part_recv_fetch(mca_pml_epml_part_t *part, const mca_pml_epml_hdr_part_rndv_t *hdr,
                            const void *handle)
{
    mca_pml_epml_request_t *request = &part->super;
    mca_pml_epml_request_t *piece = mca_pml_epml_request_get(request->ep, request->comm,
                                                             &mca_pml_epml_piece_ops);

    if (NULL == piece) {
        tell_fetched(part, OMPI_ERR_OUT_OF_RESOURCE);
        part_recv_account(part, hdr->offset, hdr->length, MPI_ERR_NO_MEM);
        return;
    }
    piece->free_called = true; /* no thread waits for it */
    piece->rank = request->rank;
    piece->tag = request->tag;
    piece->buffer = part;
    piece->datatype = NULL;
    piece->contiguous = true;
    piece->base = request->base + hdr->offset;
    piece->size = hdr->length;
    piece->expected = hdr->length;
    piece->wanted = hdr->length;
    piece->source = request->source;
    piece->sender_request = hdr->sender;
    piece->paced = false;
    piece->local_handle = request->local_handle;
    piece->remote_address = hdr->address;
    piece->has_remote_handle = 0 < hdr->common.handle_size;
    piece->req_ompi.req_status.MPI_ERROR = MPI_SUCCESS;
    memcpy(piece->remote_handle, handle, hdr->common.handle_size);
    ++part->open;
    mca_pml_epml_fetch_start(piece);
}

/** A piece has come, or could not. */
static void piece_done(mca_pml_epml_request_t *piece)
{
    mca_pml_epml_part_t *part = piece->buffer;
    const uint64_t offset = (uint64_t) (piece->base - part->super.base);
    const uint64_t size = piece->size;
    const int error = piece->req_ompi.req_status.MPI_ERROR;

    piece->local_handle = NULL; /* the whole request's */
    mca_pml_epml_request_put(piece);
    --part->open;
    part_recv_account(part, offset, size, error);
    end_if_sender_lost(part); /* then nothing comes after it */
}

/** A piece cannot be fetched, nor can later ones: let the sender send it.
 * @return as mca_pml_epml_send_control */
static int ask_again(mca_pml_epml_part_t *part, uint64_t offset, uint64_t length)
{
    const mca_pml_epml_hdr_part_again_t hdr = {
        .common = {.kind = EPML_HDR_PART_AGAIN,
                   .handle_size = mca_pml_epml_part_short_round(part->round),
                   .request = part->super.sender_request},
        .offset = offset,
        .length = length};

    part->cannot_fetch = true;
    return mca_pml_epml_send_control(part->super.ep, part->super.source, &hdr, sizeof(hdr));
}

uint32_t mca_pml_epml_part_piece_round(const mca_pml_epml_request_t *piece)
{
    return ((const mca_pml_epml_part_t *) piece->buffer)->round;
}

void mca_pml_epml_part_piece_refused(mca_pml_epml_request_t *piece)
{
    mca_pml_epml_part_t *part = piece->buffer;
    const uint64_t offset = (uint64_t) (piece->base - part->super.base);
    const uint64_t length = piece->size;
    int rc = ask_again(part, offset, length);

    if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        piece->answer = EPML_HDR_PART_AGAIN;
        piece->in_pending_queue = true;
        mca_pml_epml_pending_request(piece->ep, piece->source, piece);
        return;
    }
    piece->local_handle = NULL; /* the whole request's */
    mca_pml_epml_request_put(piece);
    --part->open;
    if (OMPI_SUCCESS != rc) {
        part_recv_account(part, offset, length, mca_pml_epml_mpi_error(rc)); /* it will not come */
    } else {
        end_round_if_due(part);
    }
    end_if_sender_lost(part);
}

static bool part_fail_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_done_t *hdr = message->hdr;
    mca_pml_epml_part_t *part = part_recv_addressee(ep, hdr->common.request);

    if (NULL != part && (!has_sender(part) || !mca_pml_epml_part_may_be_round(part, hdr->round))) {
        return false;
    }
    if (NULL == part || !is_open(part) || hdr->round != part->round) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    part_recv_end(part, MPI_ERR_OTHER);
    return true;
}

/** Can this piece be fetched, or unpacked from where it is?  Only a local peer's addresses are
 * followed, and only of one that was notified that it can be: it may have no registration
 * otherwise. */
static bool can_take(const mca_pml_epml_part_t *part, const mca_pml_epml_hdr_part_rndv_t *hdr,
                     bool is_same_process)
{
    const mca_pml_epml_ep_t *ep = part->super.ep;
    const mca_btl_ep_module_t *module = is_same_process
                                            ? ep->transports.shm
                                            : ep->transports.module[part->super.source->transport];
    const size_t handle_size = NULL != module && NULL != module->super.btl_register_mem
                                   ? module->super.btl_registration_handle_size
                                   : 0;

    return part->may_fetch && hdr->common.handle_size == handle_size
           && (hdr->common.flags & EPML_HDR_FLAG_NODE)
                  == mca_pml_epml_part_transport_flag(part->super.source)
           && (part->super.contiguous || is_same_process);
}

/** Does the offer of a piece fit the receive that it names? */
static bool is_piece(const mca_pml_epml_part_t *part, const mca_pml_epml_hdr_part_rndv_t *hdr,
                     bool is_same_process)
{
    return has_sender(part) && is_same_process == (NULL != part->super.source->shm)
           && hdr->sender == part->super.sender_request && 0 < hdr->length
           && has_bytes(part, hdr->offset, hdr->length)
           && mca_pml_epml_part_may_be_round(part, hdr->round);
}

static bool part_rndv_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_part_rndv_t *hdr = message->hdr;
    const bool is_same_process = message->module == ep->transports.shm;
    mca_pml_epml_part_t *part = part_recv_addressee(ep, hdr->common.request);

    if (NULL != part && !is_piece(part, hdr, is_same_process)) {
        return false;
    }
    if (NULL == part || !is_open(part) || hdr->round != part->round) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    if (hdr->length > part->missing) {
        return false;
    }
    if (!can_take(part, hdr, is_same_process)) {
        /* The sender waits for an answer, and without memory for this one gets another. */
        part->may_fetch = false;
        if (OMPI_SUCCESS != ask_again(part, hdr->offset, hdr->length)) {
            tell_fetched(part, OMPI_ERR_OUT_OF_RESOURCE);
            part_recv_account(part, hdr->offset, hdr->length, MPI_ERR_NO_MEM);
        }
    } else if (part->super.contiguous) {
        part_recv_fetch(part, hdr, message->rest);
    } else {
        /* One address space: unpack straight from the sender's memory. */
        int error = unpack_at(part, hdr->offset, (const void *) (uintptr_t) hdr->address,
                              hdr->length);

        tell_fetched(part, MPI_SUCCESS == error ? OMPI_SUCCESS : OMPI_ERROR);
        part_recv_account(part, hdr->offset, hdr->length, error);
    }
    return true;
}

bool mca_pml_epml_part_recv_arrived(mca_pml_epml_part_t *part, size_t first, size_t last)
{
    /* Acquire: orders the flag before the data; partner: the release in
     * mca_pml_epml_request_complete. */
    if (REQUEST_COMPLETED
        == __atomic_load_n((void *const *) &part->super.req_ompi.req_complete, __ATOMIC_ACQUIRE)) {
        return true;
    }
    for (size_t i = first; i <= last; ++i) {
        /* Acquire: orders the count before the data; partner: the release in account. */
        if (0 != atomic_load_explicit(&part->left[i], memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_part_init_kind = {.size = sizeof(mca_pml_epml_hdr_rndv_t),
                                                         .from = EPML_FROM_RANK,
                                                         .arrived = part_init_arrived};

const mca_pml_epml_kind_t mca_pml_epml_part_data_kind = {.size = sizeof(mca_pml_epml_hdr_frag_t),
                                                         .rest = EPML_REST_DATA,
                                                         .from = EPML_FROM_PARTNER,
                                                         .arrived = part_data_arrived};

const mca_pml_epml_kind_t mca_pml_epml_part_rndv_kind = {
    .size = sizeof(mca_pml_epml_hdr_part_rndv_t),
    .rest = EPML_REST_HANDLE,
    .from = EPML_FROM_PARTNER,
    .arrived = part_rndv_arrived};

const mca_pml_epml_kind_t mca_pml_epml_part_fail_kind = {.size = sizeof(mca_pml_epml_hdr_done_t),
                                                         .from = EPML_FROM_PARTNER,
                                                         .arrived = part_fail_arrived};

/* ---- what the engine asks -------------------------------------------------------------------- */

static int precv_start(mca_pml_epml_request_t *request)
{
    mca_pml_epml_part_t *part = (mca_pml_epml_part_t *) request;

    mca_pml_epml_lock(request->ep);
    mca_pml_epml_part_activate(part);
    begin_receiving(part);
    mca_pml_epml_unlock(request->ep);
    return OMPI_SUCCESS;
}

static void precv_lost(mca_pml_epml_request_t *request)
{
    end_if_sender_lost((mca_pml_epml_part_t *) request);
}

static bool precv_describe(const mca_pml_epml_request_t *request, mca_pml_epml_request_text_t *text)
{
    const mca_pml_epml_part_t *part = (const mca_pml_epml_part_t *) request;

    text->rank = request->rank;
    text->tag = request->tag;
    snprintf(text->state, sizeof(text->state), "%llu of them missing",
             (unsigned long long) part->missing);
    return part->matched;
}

const mca_pml_epml_request_ops_t mca_pml_epml_precv_ops = {.name = "partitioned receive",
                                                           .start = precv_start,
                                                           .resume = precv_resume,
                                                           .lost = precv_lost,
                                                           .put = mca_pml_epml_part_put,
                                                           .describe = precv_describe};

const mca_pml_epml_request_ops_t mca_pml_epml_piece_ops = {.name = "piece of a partitioned receive",
                                                           .resume = mca_pml_epml_fetch_resume,
                                                           .done = piece_done};
