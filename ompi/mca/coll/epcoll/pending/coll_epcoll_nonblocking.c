/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Nonblocking operations: how one begins, and gets a request if it is not over at once.
 *
 * Called by the layer calls.
 *
 * Tests: coll_arrays, coll_pending, coll_life
 */

#include "ompi_config.h"

#include "coll_epcoll_combining_lock.h"

#include "mpi.h"

#include <stdlib.h>

/** The handle's pending operations, with the segment for nonblocking ones.  @return NULL: no
 * memory */
static mca_coll_epcoll_pending_t *nonblocking_ready(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_pending_t *pending = mca_coll_epcoll_pending_of(handle);

    if (NULL != pending && NULL == pending->segment
        && MPI_SUCCESS
               != mca_coll_epcoll_op_segment_get(handle, EPCOLL_KEY_NONBLOCKING,
                                                 &pending->nonblocking.member, &pending->segment)) {
        return NULL;
    }
    return pending;
}

/** A new one.  @return NULL: no memory */
static mca_coll_epcoll_operation_t *operation_new(mca_coll_epcoll_pending_t *pending)
{
    mca_coll_epcoll_operation_t *operation = malloc(sizeof(*operation));

    if (NULL != operation) {
        operation->sequence = &pending->nonblocking;
        operation->has_seq = false;
        operation->member.segment = NULL; /* it gets its view under the lock */
        if (!mca_coll_epcoll_pending_schedule_new(pending, operation)) {
            free(operation);
            return NULL;
        }
    }
    return operation;
}

/** @param may_reuse  we hold the lock, and so those that are unused.  @return NULL: no memory */
static mca_coll_epcoll_operation_t *operation_get(mca_coll_epcoll_pending_t *pending,
                                                  bool may_reuse)
{
    mca_coll_epcoll_operation_t *operation = may_reuse ? pending->unused : NULL;

    if (NULL == operation) {
        return operation_new(pending);
    }
    pending->unused = operation->next;
    return operation;
}

static void operation_free(mca_coll_epcoll_operation_t *operation)
{
    if (NULL != operation) {
        mca_coll_epcoll_pending_schedule_free(operation);
        free(operation);
    }
}

/** @param arrays  what has the copies of the call's arrays
 * @param steps  it goes through its schedule; else, of several processes, by the node's memory */
static void nonblocking_prepare(mca_coll_epcoll_pending_t *pending,
                                mca_coll_epcoll_operation_t *operation,
                                const mca_coll_epcoll_call_t *call, void *arrays, bool steps)
{
    operation->call = *call;
    operation->arrays = arrays;
    operation->request = NULL;
    operation->steps = steps;
    if (NULL != operation->schedule) {
        operation->sequence = steps ? &pending->nonblocking : &pending->node_sequence;
    }
}

static const mpix_endpoints_request_ops_t plain_ops = {.free = NULL};
static const mpix_endpoints_request_ops_t arrays_ops = {.free = free};

/** Its request. */
static int request_new(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    const mca_coll_epcoll_call_t *call = &operation->call;
    void *arrays = operation->arrays;
    const int rc = engine->request_new(pending->handle->view.comm,
                                       NULL == arrays ? &plain_ops : &arrays_ops, arrays, false,
                                       &operation->request);

    if (OPAL_LIKELY(MPI_SUCCESS == rc) && NULL != call->recv_types) {
        engine->request_types(operation->request, call->send_types, call->recv_types);
    }
    return rc;
}

/** Begin one while we hold the lock: mostly it is over at once, or needs a request. */
static int begin_held(mca_coll_epcoll_pending_t *pending, const mca_coll_epcoll_call_t *call,
                      void *arrays, ompi_request_t **request_p)
{
    mca_coll_epcoll_operation_t *operation = operation_get(pending, true);
    mca_coll_epcoll_ended_t ended = {.request = NULL};
    int rc = MPI_ERR_NO_MEM;

    if (NULL != operation) {
        nonblocking_prepare(pending, operation, call, arrays, false);
        mca_coll_epcoll_pending_reserve(pending, operation);
        rc = mca_coll_epcoll_pending_first_step(pending, operation);
    }
    if (NULL != operation && mca_coll_epcoll_is_over(rc)) {
        mca_coll_epcoll_pending_finish(pending, operation, rc, &ended);
    } else if (NULL != operation) {
        rc = request_new(pending, operation);
        if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
            mca_coll_epcoll_pending_append(pending, operation);
            *request_p = operation->request;
            mca_coll_epcoll_pending_unlock(pending, &ended);
            return MPI_SUCCESS;
        }
        if (operation->is_published) {
            mca_coll_epcoll_local_close(&operation->running, rc);
        } else {
            --pending->waiting;
        }
        mca_coll_epcoll_pending_finish(pending, operation, rc, &ended);
    }
    mca_coll_epcoll_pending_unlock(pending, &ended);
    free(arrays);
    *request_p = &ompi_request_empty;
    return rc;
}

/** Begin one while another thread holds the lock, or did. */
static int begin_enqueued(mca_coll_epcoll_pending_t *pending, const mca_coll_epcoll_call_t *call,
                          void *arrays, ompi_request_t **request_p)
{
    mca_coll_epcoll_operation_t *operation = operation_new(pending);

    if (NULL != operation) {
        nonblocking_prepare(pending, operation, call, arrays, false);
    }
    if (NULL == operation || MPI_SUCCESS != request_new(pending, operation)) {
        free(arrays);
        operation_free(operation);
        return MPI_ERR_NO_MEM;
    }
    *request_p = operation->request;
    mca_coll_epcoll_pending_submit(pending, operation);
    return MPI_SUCCESS;
}

/** Begin one that has a schedule: it needs a request, since others' messages are needed. */
static int begin_schedule(mca_coll_epcoll_pending_t *pending, const mca_coll_epcoll_call_t *call,
                          void *arrays, ompi_request_t **request_p)
{
    const int tag = EPCOLL_TAGS_NONBLOCKING + (int) (pending->calls++ & EPCOLL_TAGS_EACH);
    const bool held = mca_coll_epcoll_lock_try(pending);
    mca_coll_epcoll_operation_t *operation = operation_get(pending, held);
    mca_coll_epcoll_ended_t ended = {.request = NULL};
    int rc = MPI_ERR_NO_MEM;

    if (NULL != operation) {
        nonblocking_prepare(pending, operation, call, arrays, true);
        rc = mca_coll_epcoll_schedule_begin(operation->schedule, pending->handle, &operation->call,
                                            operation->sequence, tag);
        rc = MPI_SUCCESS == rc ? request_new(pending, operation) : rc;
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        operation_free(operation);
        free(arrays);
        *request_p = &ompi_request_empty;
    } else {
        *request_p = operation->request;
    }
    if (held) {
        if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
            mca_coll_epcoll_pending_reserve(pending, operation);
            mca_coll_epcoll_pending_start(pending, operation, &ended);
        }
        mca_coll_epcoll_pending_unlock(pending, &ended);
    } else if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        mca_coll_epcoll_pending_submit(pending, operation);
    }
    return rc;
}

int mca_coll_epcoll_pending_begin(mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call, ompi_request_t **request_p)
{
    mca_coll_epcoll_pending_t *pending = nonblocking_ready(handle);
    mca_coll_epcoll_call_t copied;
    void *arrays = NULL;
    bool steps;
    int rc;

    if (OPAL_UNLIKELY(NULL == pending)) {
        return mca_coll_epcoll_pending_no_memory(handle);
    }
    mca_coll_epcoll_count(handle, call->kind, mca_coll_epcoll_local_path(handle, call));
    if (mca_coll_epcoll_arrays_has(call->kind)) {
        copied = *call;
        if (MPI_SUCCESS
            != mca_coll_epcoll_arrays_copy(&copied, mca_coll_epcoll_size(handle), &arrays)) {
            return mca_coll_epcoll_pending_no_memory(handle);
        }
        call = &copied;
    }
    steps = NULL != mca_coll_epcoll_layout(handle)
            && !mca_coll_epcoll_uses_node_slots(mca_coll_epcoll_hier(handle), call);
    if (OPAL_UNLIKELY(handle->is_hier && NULL == pending->node_sequence.member.segment
                      && mca_coll_epcoll_uses_node_segment(mca_coll_epcoll_hier(handle)))) {
        mca_coll_epcoll_node_segment_view(mca_coll_epcoll_hier(handle),
                                          EPCOLL_NODE_SEGMENT_NONBLOCKING,
                                          &pending->node_sequence.member);
    }
    rc = steps ? begin_schedule(pending, call, arrays, request_p)
         : OPAL_LIKELY(mca_coll_epcoll_lock_try(pending))
             ? begin_held(pending, call, arrays, request_p)
             : begin_enqueued(pending, call, arrays, request_p);
    return OPAL_LIKELY(MPI_ERR_NO_MEM != rc) ? rc : mca_coll_epcoll_pending_no_memory(handle);
}
