/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations that are lists of messages.
 *
 * Called by the layer calls; through requests by libmpi, and as work by the engine.
 *
 * Tests: coll_neighbor, coll_blocks, coll_nomem
 */

#include "ompi_config.h"

#include "../hier/hier.h"
#include "../data/data.h"
#include "coll_epcoll_direct.h"
#include "coll_epcoll_peers.h"

#include "mpi.h"

#include <stdlib.h>

typedef struct message_t {
    ompi_request_t *request; /**< MPI_REQUEST_NULL: it is over, or has not begun */
    mca_coll_epcoll_buffer_t block;
    int rank;
} message_t;

/** An operation. */
typedef struct direct_t {
    mpix_endpoints_work_t work; /**< its place in the engine; first, see step */
    mca_coll_epcoll_handle_t *handle;
    ompi_request_t *request;
    char *scratch;              /**< in place: the blocks that are sent, packed */
    ompi_datatype_t **types[2]; /**< of w forms: copies of both arrays, for libmpi */
    uint32_t receives, messages; /**< first all that are received, then all that are sent */
    uint32_t open;               /**< those before it are over */
    int tag;
    int error;          /**< the first one */
    bool is_persistent; /**< it holds the types of its blocks */
    message_t message[];
} direct_t;

/* ---- making ---------------------------------------------------------------------------------- */

/** Append a message, if there is one.  Of a block of no bytes that goes to another member both
 * members know; neighbours may have several edges, whose messages are distinguished by their
 * order. */
static void direct_append(direct_t *direct, const mca_coll_epcoll_peers_t *peers,
                          const mca_coll_epcoll_buffer_t *block, int rank)
{
    if (MPI_PROC_NULL != rank && (peers->are_neighbors || 0 != mca_coll_epcoll_bytes(block))) {
        direct->message[direct->messages++] = (message_t){.request = MPI_REQUEST_NULL,
                                                          .block = *block,
                                                          .rank = rank};
    }
}

/** The messages of a call.  @return false: no memory */
static bool direct_fill(direct_t *direct, const mca_coll_epcoll_peers_t *peers,
                        const mca_coll_epcoll_direct_call_t *call)
{
    const int own = ompi_comm_rank(peers->comm);
    size_t bytes = 0;

    for (uint32_t turn = 0; turn < peers->sources; ++turn) {
        const uint32_t i = mca_coll_epcoll_peers_in_turn(peers, turn);
        const int rank = mca_coll_epcoll_peers_source(peers, i);
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_blocks_get(&call->recv, i);

        direct_append(direct, peers, &block, call->in_place && own == rank ? MPI_PROC_NULL : rank);
    }
    direct->receives = direct->messages;
    for (uint32_t i = 0; !call->in_place && i < peers->targets; ++i) {
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_blocks_get(&call->send, i);

        direct_append(direct, peers, &block, mca_coll_epcoll_peers_target(peers, i));
    }
    if (!call->in_place) {
        return true;
    }
    for (uint32_t i = 0; i < direct->receives; ++i) {
        bytes += mca_coll_epcoll_bytes(&direct->message[i].block);
    }
    direct->scratch = malloc(0 == bytes ? 1 : bytes);
    bytes = 0;
    for (uint32_t i = 0; NULL != direct->scratch && i < direct->receives; ++i) {
        const mca_coll_epcoll_buffer_t packed = {
            .address = direct->scratch + bytes,
            .count = mca_coll_epcoll_bytes(&direct->message[i].block),
            .type = MPI_BYTE};

        direct_append(direct, peers, &packed, direct->message[i].rank);
        bytes += packed.count;
    }
    return NULL != direct->scratch;
}

static void direct_hold(direct_t *direct, bool hold)
{
    for (uint32_t i = 0; i < direct->messages; ++i) {
        ompi_datatype_t *type = direct->message[i].block.type;

        if (!ompi_datatype_is_predefined(type)) {
            if (hold) {
                OBJ_RETAIN(type);
            } else {
                OBJ_RELEASE(type);
            }
        }
    }
}

static void direct_free(void *context)
{
    direct_t *direct = context;

    if (direct->is_persistent) {
        direct_hold(direct, false);
    }
    free(direct->scratch);
    free(direct->types[0]);
    free(direct->types[1]);
    free(direct);
}

/** @return NULL: no memory */
static direct_t *direct_new(mca_coll_epcoll_handle_t *handle,
                            const mca_coll_epcoll_direct_call_t *call)
{
    const mca_coll_epcoll_peers_t peers = mca_coll_epcoll_peers_of(handle->view.comm,
                                                                   call->are_neighbors);
    direct_t *direct = malloc(sizeof(*direct)
                              + ((size_t) peers.sources + peers.targets) * sizeof(message_t));

    if (NULL == direct) {
        return NULL;
    }
    *direct = (direct_t){.handle = handle, .tag = EPCOLL_TAGS_DIRECT};
    if (!direct_fill(direct, &peers, call)) {
        direct_free(direct);
        return NULL;
    }
    return direct;
}

/** A member cannot go on: the others must not wait for it.  @return the error */
static int direct_fail(mca_coll_epcoll_handle_t *handle, int rc)
{
    mca_coll_epcoll_break_all(handle, rc);
    return rc;
}

/* ---- going on -------------------------------------------------------------------------------- */

/** @return 0, or why nothing of the communicator ends well any more */
static int direct_broken(const direct_t *direct)
{
    /* Relaxed: nothing but the word itself is read by it. */
    return atomic_load_explicit(direct->handle->view.member.broken, memory_order_relaxed);
}

/** The first error of an operation breaks the communicator. */
static void direct_note(direct_t *direct, int error)
{
    if (OPAL_UNLIKELY(MPI_SUCCESS != error && MPI_SUCCESS == direct->error)) {
        direct->error = direct_fail(direct->handle, error);
    }
}

static int begin_message(direct_t *direct, uint32_t i)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    ompi_communicator_t *comm = direct->handle->view.comm;
    const int client = mca_coll_epcoll_component.client;
    message_t *message = &direct->message[i];
    const mca_coll_epcoll_buffer_t *block = &message->block;
    int rc = MPI_SUCCESS;

    if (i < direct->receives) {
        return engine->irecv(comm, client, block->address, block->count, block->type, message->rank,
                             direct->tag, &message->request);
    }
    if (NULL != direct->scratch) {
        rc = mca_coll_epcoll_pack(block->address, &direct->message[i - direct->receives].block);
    }
    return MPI_SUCCESS != rc
               ? rc
               : engine->isend(comm, client, block->address, block->count, block->type,
                               message->rank, direct->tag, &message->request);
}

/** In place nothing is received before all that is sent has been packed. */
static void begin_messages(direct_t *direct)
{
    const uint32_t first = NULL == direct->scratch ? 0 : direct->receives;
    int rc = direct_broken(direct);

    direct->open = 0;
    direct->error = rc;
    for (uint32_t k = 0; MPI_SUCCESS == rc && k < direct->messages; ++k) {
        rc = begin_message(direct, k + first < direct->messages ? k + first
                                                                : k + first - direct->messages);
        direct_note(direct, rc);
    }
}

/** Are all messages over? */
static bool is_over(direct_t *direct)
{
    for (; direct->open < direct->messages; ++direct->open) {
        ompi_request_t **request = &direct->message[direct->open].request;

        if (!mca_coll_epcoll_is_complete(*request)) {
            return false;
        }
        direct_note(direct, mca_coll_epcoll_wait_for(direct->handle, request, MPI_SUCCESS));
    }
    return true;
}

/** Messages are taken back, as they may never be met.  Again until all are over. */
static void direct_cancel(direct_t *direct, int why)
{
    direct_note(direct, why);
    for (uint32_t i = direct->open; i < direct->messages; ++i) {
        if (!mca_coll_epcoll_is_complete(direct->message[i].request)) {
            (void) ompi_request_cancel(direct->message[i].request);
        }
    }
}

/** What the engine calls. */
static mpix_endpoints_step_t direct_step(mpix_endpoints_work_t *work)
{
    direct_t *direct = (direct_t *) work;
    const uint32_t before = direct->open;

    if (!is_over(direct)) {
        const int why = direct_broken(direct);

        if (OPAL_UNLIKELY(0 != why)) {
            direct_cancel(direct, why);
        }
        return before == direct->open ? MPIX_ENDPOINTS_STEP_IDLE : MPIX_ENDPOINTS_STEP_PROGRESS;
    }
    /* From then on it may be started again, or gone. */
    mca_coll_epcoll_component.engine->request_done(
        direct->request,
        mca_coll_epcoll_loss_error(direct->request->req_mpi_object.comm, direct->error));
    return MPIX_ENDPOINTS_STEP_DONE;
}

/** Begin one that has a request.  @return whether it is over, without an error */
static bool direct_begin(direct_t *direct)
{
    begin_messages(direct);
    if (is_over(direct) && MPI_SUCCESS == direct->error) {
        return true;
    }
    direct->work.step = direct_step;
    mca_coll_epcoll_component.engine->request_begin(direct->request, &direct->work);
    return false;
}

/* ---- calls ----------------------------------------------------------------------------------- */

int mca_coll_epcoll_direct_run(mca_coll_epcoll_handle_t *handle,
                               const mca_coll_epcoll_direct_call_t *call)
{
    direct_t *direct = direct_new(handle, call);
    int rc;

    if (NULL == direct) {
        return direct_fail(handle, MPI_ERR_NO_MEM);
    }
    begin_messages(direct);
    for (uint32_t i = 0; i < direct->messages; ++i) {
        direct_note(direct,
                    mca_coll_epcoll_wait_for(handle, &direct->message[i].request, MPI_SUCCESS));
    }
    rc = mca_coll_epcoll_loss_error(handle->view.comm, direct->error);
    direct_free(direct);
    return rc;
}

/** Copies of the arrays of types that libmpi looks at once more when the request goes.
 * @return false: no memory */
static bool copy_types(direct_t *direct, const mca_coll_epcoll_direct_call_t *call)
{
    const mca_coll_epcoll_peers_t peers = mca_coll_epcoll_peers_of(direct->handle->view.comm,
                                                                   call->are_neighbors);
    const uint32_t counts[2] = {peers.targets, peers.sources};
    ompi_datatype_t *const *types[2] = {call->in_place ? NULL : call->send.types,
                                        call->recv.types};

    for (int i = 0; i < 2; ++i) {
        if (NULL != types[i] && 0 != counts[i]) {
            direct->types[i] = malloc(counts[i] * sizeof(*types[i]));
            if (NULL == direct->types[i]) {
                return false;
            }
            memcpy(direct->types[i], types[i], counts[i] * sizeof(*types[i]));
        }
    }
    return true;
}

int mca_coll_epcoll_direct_begin(mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_direct_call_t *call,
                                 ompi_request_t **request_p)
{
    static const mpix_endpoints_request_ops_t ops = {.free = direct_free};
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    direct_t *direct = direct_new(handle, call);

    if (NULL == direct || !copy_types(direct, call)
        || MPI_SUCCESS
               != engine->request_new(handle->view.comm, &ops, direct, false, &direct->request)) {
        if (NULL != direct) {
            direct_free(direct);
        }
        return direct_fail(handle, MPI_ERR_NO_MEM);
    }
    if (NULL != call->recv.types) {
        engine->request_types(direct->request, direct->types[0], direct->types[1]);
    }
    *request_p = direct->request;
    if (direct_begin(direct)) {
        engine->request_done(*request_p, MPI_SUCCESS);
    }
    return MPI_SUCCESS;
}

/** MPI_Start. */
static int direct_start(void *context)
{
    return direct_begin(context) ? MPIX_ENDPOINTS_REQUEST_COMPLETE : MPI_SUCCESS;
}

int mca_coll_epcoll_direct_init(mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_direct_call_t *call,
                                ompi_request_t **request_p)
{
    static const mpix_endpoints_request_ops_t ops = {.start = direct_start, .free = direct_free};
    mca_coll_epcoll_lazy_t *lazy = mca_coll_epcoll_lazy(handle);
    direct_t *direct = NULL == lazy ? NULL : direct_new(handle, call);

    if (NULL == direct
        || MPI_SUCCESS
               != mca_coll_epcoll_component.engine->request_new(handle->view.comm, &ops, direct,
                                                                true, &direct->request)) {
        if (NULL != direct) {
            direct_free(direct);
        }
        return direct_fail(handle, MPI_ERR_NO_MEM);
    }
    direct->tag = EPCOLL_TAGS_DIRECT + 1 + (int) (lazy->direct_inits++ % EPCOLL_TAGS_EACH);
    direct->is_persistent = true;
    direct_hold(direct, true);
    *request_p = direct->request;
    return MPI_SUCCESS;
}
