/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The sending side of partitioned communication.
 *
 * Partitions that are ready wait in a queue until the receiver has started its round; from then on
 * what is at its head leaves at once: a run of partitions that follow on each other in the buffer
 * goes as one piece, which pml_epml_part_run.c sends.
 *
 * Tests: part, part_life, fuzz/epml
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_part.h"

#include "ompi/constants.h"

static inline bool is_to_nobody(const mca_pml_epml_part_t *part)
{
    return MPI_PROC_NULL == part->super.rank;
}

int mca_pml_epml_part_send_init(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;
    mca_pml_epml_hdr_rndv_t hdr = {.match = {.common = {.kind = EPML_HDR_PART_INIT},
                                             .context = request->comm->context,
                                             .source = request->comm->rank,
                                             .tag = request->tag},
                                   .length = request->size};
    int rc;

    if (is_to_nobody(part)) {
        return OMPI_SUCCESS;
    }
    rc = mca_pml_epml_request_id_assign(request);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    hdr.match.common.request = request->number;
    return mca_pml_epml_send_control(request->ep, mca_pml_epml_part_receiver(part), &hdr,
                                     sizeof(hdr));
}

/* ---- what is to be said besides data --------------------------------------------------------- */

/** Note an error; nothing more is sent in this round, but the user may go on marking. */
static void part_send_fail(mca_pml_epml_part_t *part, int rc)
{
    part->error = mca_pml_epml_mpi_error(rc);
    part->ended = true;
}

/** Tell the receiver that nothing more comes.
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE to be called again */
static int send_fail(mca_pml_epml_part_t *part)
{
    const mca_pml_epml_hdr_done_t hdr = {.common = {.kind = EPML_HDR_PART_FAIL,
                                                    .request = part->super.receiver_request},
                                         .status = OMPI_ERROR,
                                         .round = part->round};

    if (part->ended
        && OMPI_ERR_OUT_OF_RESOURCE
               == mca_pml_epml_send_control(part->super.ep, mca_pml_epml_part_receiver(part), &hdr,
                                            sizeof(hdr))) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    part->ended = false;
    return OMPI_SUCCESS;
}

/** Send what the receiver could not fetch, between two runs; in the order of the partitions.
 * @return OMPI_SUCCESS; OMPI_ERR_OUT_OF_RESOURCE to be called again */
static int send_again(mca_pml_epml_part_t *part)
{
    while (0 < part->again) {
        int rc = OMPI_SUCCESS;

        if (!part->again_open) {
            while (EPML_PART_AGAIN != part->is_ready[part->again_next]) {
                part->again_next = (part->again_next + 1) % (uint32_t) part->partitions;
            }
            part->again_open = true;
            part->run_at = part->again_next * part->partition_size;
            part->run_end = part->run_at + part->partition_size;
            if (part->run_end > part->super.to_send) {
                part->run_end = part->super.to_send;
            }
        }
        if (MPI_SUCCESS == part->error) {
            rc = mca_pml_epml_part_send_run(part);
        }
        if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
            return rc;
        }
        if (OMPI_SUCCESS != rc) {
            part_send_fail(part, rc);
        }
        part->is_ready[part->again_next] = EPML_PART_MARKED;
        part->again_open = false;
        --part->again;
    }
    part->open -= part->again_pieces < part->open ? part->again_pieces : part->open;
    part->again_pieces = 0;
    return OMPI_SUCCESS;
}

/* ---- a round --------------------------------------------------------------------------------- */

/** Take the next run: partitions that became ready one after the other and are adjacent. */
static void take_run(mca_pml_epml_part_t *part)
{
    const uint32_t *next = part->ready + part->ready_first;
    const uint32_t waiting = part->ready_last - part->ready_first;
    uint32_t run = 1;

    while (run < waiting && next[run] == next[0] + run
           && (run + 1) * part->partition_size <= EPML_PART_RUN_MAX) {
        ++run;
    }
    part->run = run;
    part->run_at = next[0] * part->partition_size;
    part->run_end = part->run_at + run * part->partition_size;
    /* A receive that is too short gets no more than fits; packed data are cut off there, because
     * the end may lie within an element. */
    if (part->super.contiguous && part->run_end > part->super.to_send) {
        part->run_end = part->super.to_send;
    }
}

/** Is the round over?  Not while the empty message waits in a pending queue, whose the request
 * is. */
static void part_send_settle(mca_pml_epml_part_t *part)
{
    if (part->ready_first == part->partitions && 0 == part->open && !part->super.in_pending_queue
        && !atomic_load_explicit(&part->super.done, memory_order_relaxed)) {
        mca_pml_epml_part_done(part);
    }
}

/** See mca_pml_epml_request_ops_t. */
static int psend_resume(mca_pml_epml_request_t *request)
{
    mca_pml_epml_part_t *part = (mca_pml_epml_part_t *) request;
    int rc = OMPI_SUCCESS;

    request->in_pending_queue = false;
    while (OMPI_ERR_OUT_OF_RESOURCE != rc
           && (0 < part->again || part->ready_first < part->ready_last)) {
        if (0 == part->run && 0 < part->again) {
            rc = send_again(part);
            continue;
        }
        if (0 == part->run) {
            take_run(part);
        }
        rc = MPI_SUCCESS == part->error ? mca_pml_epml_part_send_run(part) : OMPI_SUCCESS;
        if (OMPI_ERR_OUT_OF_RESOURCE != rc) {
            part->ready_first += part->run;
            part->run = 0;
        }
        if (OMPI_SUCCESS != rc && OMPI_ERR_OUT_OF_RESOURCE != rc) {
            part_send_fail(part, rc);
        }
    }
    if (OMPI_ERR_OUT_OF_RESOURCE != rc && part->ready_first == part->partitions) {
        rc = mca_pml_epml_part_send_empty(part);
        if (OMPI_SUCCESS != rc && OMPI_ERR_OUT_OF_RESOURCE != rc) {
            part_send_fail(part, rc);
        }
    }
    if (OMPI_ERR_OUT_OF_RESOURCE != rc) {
        rc = send_fail(part);
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        request->in_pending_queue = true;
        return rc;
    }
    part_send_settle(part);
    return OMPI_SUCCESS;
}

/** Send what may be sent: now, or after what waits for the receiver already. */
static void part_send_push(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    if (is_to_nobody(part)) {
        part->ready_first = part->ready_last;
        part_send_settle(part);
        return;
    }
    /* Rounds are compared as sequence numbers: they wrap. */
    if (request->in_pending_queue || 0 > (int32_t) (part->granted - part->round)
        || (part->ready_first == part->ready_last && part->ready_last < part->partitions
            && 0 == part->again)) {
        return;
    }
    if (!mca_pml_epml_pending_has(request->ep, mca_pml_epml_part_receiver(part))) {
        rc = psend_resume(request);
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == rc) {
        request->in_pending_queue = true;
        mca_pml_epml_pending_request(request->ep, mca_pml_epml_part_receiver(part), request);
    }
}

/** Neither a grant nor answers will come.  The user may go on marking: the round ends, as any, with
 * the last partition. */
static void give_up(mca_pml_epml_part_t *part, int error)
{
    part->error = error;
    part->ended = false;
    part->granted = part->round;
    part->open = 0;
    if (!part->super.in_pending_queue) {
        (void) psend_resume(&part->super);
    }
}

/** Ends the round with an error if the receiver is lost, or the communicator revoked. */
static void end_if_receiver_lost(mca_pml_epml_part_t *part)
{
    mca_pml_epml_request_t *request = &part->super;

    if (request->comm->loss.member && !is_to_nobody(part)
        && !atomic_load_explicit(&request->done, memory_order_relaxed)
        && (request->comm->loss.revoked
            || mca_pml_epml_lost_is(request->ep, mca_pml_epml_part_receiver(part)))) {
        give_up(part, mca_pml_epml_loss_error(request->comm));
    }
}

/** If the receiver has said that it could not keep the send, end the round. */
static void end_if_refused(mca_pml_epml_part_t *part)
{
    if (part->refused && !atomic_load_explicit(&part->super.done, memory_order_relaxed)) {
        give_up(part, MPI_ERR_OTHER);
    }
}

/** A new round. */
static void begin_sending(mca_pml_epml_part_t *part)
{
    part->ready_first = 0;
    part->ready_last = 0;
    part->run = 0;
    part->closed = false;
    part->ended = false;
    part->again = 0;
    part->again_open = false;
    part->again_pieces = 0;
    if (0 < part->partitions) {
        memset(part->is_ready, 0, part->partitions * sizeof(*part->is_ready));
    } else {
        part_send_push(part); /* nothing will be marked */
    }
    end_if_refused(part);
    end_if_receiver_lost(part);
}

int mca_pml_epml_part_send_ready(mca_pml_epml_part_t *part, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; ++i) {
        if (0 != part->is_ready[i]) {
            return MPI_ERR_ARG;
        }
    }
    for (uint32_t i = first; i <= last; ++i) {
        part->is_ready[i] = EPML_PART_MARKED;
        part->ready[part->ready_last++] = i;
    }
    part_send_push(part);
    return OMPI_SUCCESS;
}

/* ---- the receiver's answers ------------------------------------------------------------------ */

static bool part_start_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_part_start_t *hdr = message->hdr;
    mca_pml_epml_part_t *part
        = (mca_pml_epml_part_t *) mca_pml_epml_request_id_find(ep, hdr->common.request);

    if (NULL == part || (&mca_pml_epml_psend_ops == part->super.ops && part->refused)) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    if (&mca_pml_epml_psend_ops != part->super.ops || is_to_nobody(part)
        || hdr->round != part->granted + 1 || hdr->length > part->super.size) {
        return false;
    }
    part->granted = hdr->round;
    /* By the transport that leads back from there; what goes there may take another one. */
    part->may_fetch = 0 != (hdr->common.flags & EPML_HDR_FLAG_GET)
                      && mca_pml_epml_part_transport_flag(mca_pml_epml_part_receiver(part))
                             == (hdr->common.flags & EPML_HDR_FLAG_NODE);
    part->super.receiver_request = hdr->receiver;
    part->super.to_send = hdr->length;
    if (!atomic_load_explicit(&part->super.done, memory_order_relaxed)) {
        part_send_push(part);
    }
    return true;
}

/** Are these pieces' partitions out, to be fetched?  They are what a run was. */
static bool may_be_again(const mca_pml_epml_part_t *part, uint64_t offset, uint64_t length)
{
    if (0 == part->partition_size || 0 == length || offset >= part->super.to_send
        || length > part->super.to_send - offset || 0 != offset % part->partition_size
        || part->again_pieces >= part->open) {
        return false;
    }
    for (uint64_t i = offset / part->partition_size;
         i <= (offset + length - 1) / part->partition_size; ++i) {
        if (EPML_PART_MARKED != part->is_ready[i]) {
            return false;
        }
    }
    return true;
}

static bool part_again_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_message_t *message)
{
    const mca_pml_epml_hdr_part_again_t *hdr = message->hdr;
    mca_pml_epml_part_t *part
        = (mca_pml_epml_part_t *) mca_pml_epml_request_id_find(ep, hdr->common.request);

    if (NULL != part && (&mca_pml_epml_psend_ops != part->super.ops || is_to_nobody(part))) {
        return false;
    }
    if (NULL == part || atomic_load_explicit(&part->super.done, memory_order_relaxed)
        || mca_pml_epml_part_short_round(part->round) != hdr->common.handle_size) {
        mca_pml_epml_ep_drop(ep);
        return true;
    }
    if (!may_be_again(part, hdr->offset, hdr->length)) {
        return false;
    }
    part->may_fetch = false; /* nor can the others be fetched */
    for (uint64_t i = hdr->offset / part->partition_size;
         i <= (hdr->offset + hdr->length - 1) / part->partition_size; ++i) {
        part->is_ready[i] = EPML_PART_AGAIN;
        ++part->again;
    }
    ++part->again_pieces;
    part_send_push(part);
    return true;
}

bool mca_pml_epml_part_send_finished(mca_pml_epml_part_t *part, const mca_pml_epml_hdr_done_t *hdr)
{
    if (0 == part->open || hdr->round != part->round) {
        if (0 != hdr->round && !mca_pml_epml_part_may_be_round(part, hdr->round)) {
            return false;
        }
        if (OMPI_SUCCESS == hdr->status || 0 != hdr->round || 0 < part->granted || part->refused) {
            mca_pml_epml_ep_drop(part->super.ep);
        } else {
            part->refused = true; /* the answer to the send itself, not to a piece */
            end_if_refused(part);
        }
        return true;
    }
    --part->open;
    if (OMPI_SUCCESS != hdr->status) {
        part->error = MPI_ERR_OTHER;
    }
    part_send_settle(part);
    return true;
}

const mca_pml_epml_kind_t mca_pml_epml_part_start_kind = {
    .size = sizeof(mca_pml_epml_hdr_part_start_t),
    .from = EPML_FROM_PARTNER,
    .arrived = part_start_arrived};

const mca_pml_epml_kind_t mca_pml_epml_part_again_kind = {
    .size = sizeof(mca_pml_epml_hdr_part_again_t),
    .from = EPML_FROM_PARTNER,
    .arrived = part_again_arrived};

/* ---- what the engine asks -------------------------------------------------------------------- */

static int psend_start(mca_pml_epml_request_t *request)
{
    mca_pml_epml_part_t *part = (mca_pml_epml_part_t *) request;

    mca_pml_epml_lock(request->ep);
    mca_pml_epml_part_activate(part);
    begin_sending(part);
    mca_pml_epml_unlock(request->ep);
    return OMPI_SUCCESS;
}

static void psend_lost(mca_pml_epml_request_t *request)
{
    end_if_receiver_lost((mca_pml_epml_part_t *) request);
}

static bool psend_describe(const mca_pml_epml_request_t *request, mca_pml_epml_request_text_t *text)
{
    const mca_pml_epml_part_t *part = (const mca_pml_epml_part_t *) request;

    text->rank = request->rank;
    text->tag = request->tag;
    snprintf(text->state, sizeof(text->state), "%u of %zu partitions ready, %u sent%s",
             part->ready_last, part->partitions, part->ready_first,
             0 > (int32_t) (part->granted - part->round) ? ", waiting for the receive"
             : request->in_pending_queue                 ? ", held in pending queue"
                                                         : "");
    return true;
}

const mca_pml_epml_request_ops_t mca_pml_epml_psend_ops = {.name = "partitioned send",
                                                           .sends = true,
                                                           .start = psend_start,
                                                           .resume = psend_resume,
                                                           .lost = psend_lost,
                                                           .put = mca_pml_epml_part_put,
                                                           .describe = psend_describe};
