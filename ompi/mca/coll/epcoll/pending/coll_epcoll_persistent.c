/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Persistent operations.  All that MPI_Start needs is allocated before: arguments and arrays are
 * copied, types and op are retained, and the operation has a segment of its own.
 *
 * Called by the layer calls, and through requests by libmpi.
 *
 * Tests: coll_pending, coll_nomem
 */

#include "ompi_config.h"

#include "coll_epcoll_pending.h"

#include "mpi.h"

#include <stdlib.h>

typedef struct persistent_t {
    mca_coll_epcoll_operation_t operation;
    mca_coll_epcoll_sequence_t sequence;
    mca_coll_epcoll_op_segment_t *segment;    /**< its block */
    mca_coll_epcoll_sequence_t node_sequence; /**< likewise in the node's memory */
    mca_coll_epcoll_pool_t *pool;             /**< which has that one; NULL: there is none */
    bool has_run;                   /**< it was started, so all members have been asked for it */
    mca_coll_epcoll_pending_t *pending;
    mca_coll_epcoll_path_t path; /**< that its starts count as */
    int tag;                   /**< of its messages */
} persistent_t;

/* ---- types and operations -------------------------------------------------------------------- */

static void hold_type(ompi_datatype_t *type, bool hold)
{
    if (NULL == type || ompi_datatype_is_predefined(type)) {
        return;
    }
    if (hold) {
        OBJ_RETAIN(type);
    } else {
        OBJ_RELEASE(type);
    }
}

/** Hold types and operation of a call, or let go of them. */
static void persistent_hold(const mca_coll_epcoll_call_t *call, size_t members, bool hold)
{
    hold_type(call->send_type, hold);
    hold_type(call->recv_type, hold);
    for (size_t i = 0; i < members; ++i) {
        hold_type(NULL == call->send_types ? NULL : call->send_types[i], hold);
        hold_type(NULL == call->recv_types ? NULL : call->recv_types[i], hold);
    }
    if (NULL != call->op && !ompi_op_is_intrinsic(call->op)) {
        ompi_op_t *op = call->op;

        if (hold) {
            OBJ_RETAIN(op);
        } else {
            OBJ_RELEASE(op);
        }
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/** The first start is over, so it is known whether there is a block in the node's memory: the same
 * at all members. */
static void persistent_choose(persistent_t *persistent)
{
    mca_coll_epcoll_operation_t *operation = &persistent->operation;

    if (persistent->has_run && operation->steps && NULL != persistent->pool
        && mca_coll_epcoll_pool_is_complete(persistent->pool)) {
        operation->sequence = &persistent->node_sequence;
        operation->steps = false;
    }
    persistent->has_run = true;
}

static int persistent_start(void *context)
{
    persistent_t *persistent = context;
    mca_coll_epcoll_operation_t *operation = &persistent->operation;
    mca_coll_epcoll_handle_t *handle = persistent->pending->handle;

    mca_coll_epcoll_count(handle, operation->call.kind, persistent->path);
    persistent_choose(persistent);
    if (operation->steps
        && MPI_SUCCESS
               != mca_coll_epcoll_schedule_begin(operation->schedule, handle, &operation->call,
                                                 operation->sequence, persistent->tag)) {
        return mca_coll_epcoll_pending_no_memory(handle);
    }
    if (OPAL_LIKELY(!operation->steps)
        && mca_coll_epcoll_pending_at_once(persistent->pending, operation)) {
        return MPIX_ENDPOINTS_REQUEST_COMPLETE;
    }
    mca_coll_epcoll_pending_submit(persistent->pending, operation);
    return MPI_SUCCESS;
}

static void schedule_drain(persistent_t *persistent)
{
    if (NULL != persistent->segment) {
        mca_coll_epcoll_op_segment_put(&persistent->pending->deferred, &persistent->sequence.member,
                                       persistent->segment);
    }
    mca_coll_epcoll_pool_put(persistent->pool);
    mca_coll_epcoll_pending_schedule_free(&persistent->operation);
    free(persistent->operation.arrays);
    free(persistent);
}

static void persistent_end(void *context)
{
    persistent_t *persistent = context;

    persistent_hold(&persistent->operation.call, mca_coll_epcoll_size(persistent->pending->handle),
                    false);
    schedule_drain(persistent);
}

static const mpix_endpoints_request_ops_t persistent_ops = {.start = persistent_start,
                                                            .free = persistent_end};

/** Its blocks, and the schedule that goes with them.  The same at all members.  @return false: no
 * memory */
static bool get_block(persistent_t *persistent, mca_coll_epcoll_handle_t *handle,
                      const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_pending_t *pending = persistent->pending;
    const uint32_t init = pending->inits++;

    if (NULL != mca_coll_epcoll_layout(handle) && mca_coll_epcoll_pool_serves(handle, call)) {
        persistent->pool = mca_coll_epcoll_pool_get(handle, &pending->pools,
                                                    &persistent->node_sequence.member);
        persistent->node_sequence.is_serial = true;
    }
    persistent->tag = EPCOLL_TAGS_PERSISTENT + (int) (init & EPCOLL_TAGS_EACH);
    return mca_coll_epcoll_pending_schedule_new(pending, &persistent->operation)
           && MPI_SUCCESS
                  == mca_coll_epcoll_op_segment_get(handle, EPCOLL_KEY_PERSISTENT + init,
                                                    &persistent->sequence.member,
                                                    &persistent->segment);
}

/** @return NULL: no memory */
static persistent_t *persistent_new(mca_coll_epcoll_pending_t *pending,
                                    const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_handle_t *handle = pending->handle;
    persistent_t *persistent = calloc(1, sizeof(*persistent));

    if (NULL == persistent) {
        return NULL;
    }
    persistent->pending = pending;
    persistent->operation.sequence = &persistent->sequence;
    persistent->sequence.is_serial = true;
    persistent->operation.call = *call;
    persistent->path = mca_coll_epcoll_local_path(handle, call);
    if (MPI_SUCCESS
            != mca_coll_epcoll_arrays_copy(&persistent->operation.call,
                                           mca_coll_epcoll_size(handle),
                                           &persistent->operation.arrays)
        || !get_block(persistent, handle, call)) {
        schedule_drain(persistent);
        return NULL;
    }
    persistent->operation.member = persistent->sequence.member;
    return persistent;
}

int mca_coll_epcoll_pending_init(mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call, ompi_request_t **request_p)
{
    mca_coll_epcoll_pending_t *pending = mca_coll_epcoll_pending_of(handle);
    persistent_t *persistent;
    int rc;

    if (NULL == pending) {
        return mca_coll_epcoll_pending_no_memory(handle);
    }
    mca_coll_epcoll_deferred_put(&pending->deferred, &handle->view.member);
    persistent = persistent_new(pending, call);
    if (NULL == persistent) {
        return mca_coll_epcoll_pending_no_memory(handle);
    }
    rc = mca_coll_epcoll_component.engine->request_new(handle->view.comm, &persistent_ops,
                                                       persistent, true,
                                                       &persistent->operation.request);
    if (MPI_SUCCESS != rc) {
        schedule_drain(persistent);
        return mca_coll_epcoll_pending_no_memory(handle);
    }
    persistent_hold(&persistent->operation.call, mca_coll_epcoll_size(handle), true);
    *request_p = persistent->operation.request;
    return MPI_SUCCESS;
}
