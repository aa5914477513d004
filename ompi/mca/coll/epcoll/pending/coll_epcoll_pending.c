/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Progress of active operations, nonblocking and persistent.
 *
 * Called by the layer calls, and as work by the engine.
 *
 * Tests: coll_pending, coll_life, coll_nomem, death (later)
 */

#include "ompi_config.h"

#include "coll_epcoll_combining_lock.h"

#include "mpi.h"

#include <stdlib.h>

/** Bytes of work in a step: another thread that progresses the endpoint spends so much time in
 * it. */
#define STEP_BYTES 65536

/** Looks for others when an operation begins: some 0.2 us. */
#define POLLS_AT_ONCE 16

static void complete_ended(mca_coll_epcoll_ended_t *ended)
{
    if (NULL != ended->request) {
        mca_coll_epcoll_component.engine->request_done(
            ended->request,
            mca_coll_epcoll_loss_error(ended->request->req_mpi_object.comm, ended->error));
        ended->request = NULL;
    }
}

/* ---- operations, under the lock -------------------------------------------------------------- */

static bool is_nonblocking(const mca_coll_epcoll_pending_t *pending,
                           const mca_coll_epcoll_operation_t *operation)
{
    return &pending->nonblocking == operation->sequence
           || &pending->node_sequence == operation->sequence;
}

void mca_coll_epcoll_pending_reserve(mca_coll_epcoll_pending_t *pending,
                                     mca_coll_epcoll_operation_t *operation)
{
    if (operation->steps) {
        mca_coll_epcoll_schedule_reserve(operation->schedule);
        operation->is_published = true; /* its steps check by themselves */
        return;
    }
    if (NULL == operation->member.segment || NULL != operation->schedule) {
        operation->member = operation->sequence->member; /* it may have been another one's before */
    }
    operation->member.seq = mca_coll_epcoll_sequence_reserve(operation->sequence, 1);
    operation->is_published = false;
    operation->running.waits = 0;
    if (is_nonblocking(pending, operation)) { /* else the lock may not be held: _at_once */
        ++pending->waiting;
    }
}

/** If it has no number yet. */
static void reserve_once(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    if (!operation->has_seq) {
        mca_coll_epcoll_pending_reserve(pending, operation);
    }
}

void mca_coll_epcoll_pending_append(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation)
{
    operation->next = NULL;
    *pending->last = operation;
    pending->last = &operation->next;
}

static int pending_broken(const mca_coll_epcoll_operation_t *operation)
{
    /* Relaxed: nothing but the word itself is read by it. */
    return atomic_load_explicit(operation->member.broken, memory_order_relaxed);
}

/** Does it go in slots?  False of one that has not been shown. */
static bool is_small(const mca_coll_epcoll_operation_t *operation)
{
    return !operation->steps && operation->is_published && NULL == operation->running.ops;
}

/**
 * It has been published, and not all members have arrived that it needs: poll for them for about as
 * long as it takes to hand it to the engine and to get it back, so that the cost is at most
 * doubled.  Threads that call at the same time then complete it at once: without a request, if it
 * is nonblocking, and without an atomic read-modify-write, which would wait until our slot has
 * reached the others.
 *
 * @return whether a step would progress it
 */
static bool poll_others(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_running_t *running)
{
    /* Relaxed: a hint.  Other active operations would wait meanwhile. */
    if (atomic_load_explicit(&pending->is_working, memory_order_relaxed)
        || mca_coll_epcoll_component.engine->is_oversubscribed()) {
        return false;
    }
    for (int polls = 0; polls < POLLS_AT_ONCE; ++polls) {
        if (mca_coll_epcoll_small_may_progress(running)) {
            return true;
        }
        epcoll_relax();
    }
    return false;
}

/** Publish our part, if its slot is free.  @return whether it is published */
static bool pending_publish(mca_coll_epcoll_pending_t *pending,
                            mca_coll_epcoll_operation_t *operation)
{
    if (OPAL_UNLIKELY(0 != pending_broken(operation))
        || !mca_coll_epcoll_sequence_may_begin(operation->sequence, operation->member.seq)) {
        return false;
    }
    mca_coll_epcoll_local_publish(&operation->running, &operation->member, &operation->call);
    operation->is_published = true;
    if (is_nonblocking(pending, operation)) { /* likewise */
        --pending->waiting;
    }
    return true;
}

/** It waits: can it still complete?  @return 0, or the error with which to end */
static int waiting_error(const mca_coll_epcoll_pending_t *pending,
                         mca_coll_epcoll_operation_t *operation)
{
    const int why = pending_broken(operation);

    if (!operation->is_published) {
        ++operation->running.waits; /* for room: the owners of what was there before may be lost */
    }
    return 0 != why ? why
                    : mca_coll_epcoll_waiting_error(pending->handle,
                                                    0 == operation->running.waits % EPCOLL_WAITS);
}

/**
 * Progress one.
 *
 * @param most  chunks to do at most
 *
 * @return as mca_coll_epcoll_chunks_step, but after an error nothing of it is active any more
 */
static int operation_progress(mca_coll_epcoll_pending_t *pending,
                              mca_coll_epcoll_operation_t *operation, uint32_t most)
{
    int rc = EPCOLL_NOTHING;

    if (operation->steps) {
        return mca_coll_epcoll_schedule_step(operation->schedule, most);
    }
    if (OPAL_LIKELY(operation->is_published) || pending_publish(pending, operation)) {
        rc = mca_coll_epcoll_local_step(&operation->running, most);
    }
    if (EPCOLL_NOTHING == rc) {
        rc = waiting_error(pending, operation);
        if (OPAL_LIKELY(0 == rc)) {
            return EPCOLL_NOTHING;
        }
    }
    if (EPCOLL_SOME == rc) {
        return rc;
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        mca_coll_epcoll_sequence_complete(operation->sequence, operation->member.seq,
                                          operation->running.seen == operation->member.count);
        return rc;
    }
    rc = mca_coll_epcoll_failed(pending->handle->view.comm, &operation->member, rc);
    mca_coll_epcoll_break_all(pending->handle, rc);
    if (operation->is_published) {
        mca_coll_epcoll_local_close(&operation->running, rc);
    } else {
        pending->waiting -= is_nonblocking(pending, operation);
    }
    return rc;
}

void mca_coll_epcoll_pending_finish(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation, int error,
                                    mca_coll_epcoll_ended_t *ended)
{
    complete_ended(ended); /* there is another one, so it is not the last */
    *ended = (mca_coll_epcoll_ended_t){.request = operation->request, .error = error};
    if (operation->steps) {
        mca_coll_epcoll_schedule_trim(operation->schedule);
    }
    if (is_nonblocking(pending, operation)) {
        operation->next = pending->unused;
        pending->unused = operation;
    }
}

static uint32_t chunks_in_step(void)
{
    const size_t chunks = STEP_BYTES / mca_coll_epcoll_component.chunk_size;

    return 0 == chunks ? 1 : (uint32_t) chunks;
}

int mca_coll_epcoll_pending_first_step(mca_coll_epcoll_pending_t *pending,
                                       mca_coll_epcoll_operation_t *operation)
{
    int rc;

    if (is_nonblocking(pending, operation) && 1 < pending->waiting) {
        return EPCOLL_NOTHING; /* others are first */
    }
    rc = operation_progress(pending, operation, chunks_in_step());
    if (EPCOLL_NOTHING == rc && is_small(operation) && !operation->has_seq
        && poll_others(pending, &operation->running)) {
        rc = operation_progress(pending, operation, chunks_in_step());
    }
    return rc;
}

void mca_coll_epcoll_pending_start(mca_coll_epcoll_pending_t *pending,
                                   mca_coll_epcoll_operation_t *operation,
                                   mca_coll_epcoll_ended_t *ended)
{
    const int rc = mca_coll_epcoll_pending_first_step(pending, operation);

    if (mca_coll_epcoll_is_over(rc)) {
        mca_coll_epcoll_pending_finish(pending, operation, rc, ended);
    } else {
        mca_coll_epcoll_pending_append(pending, operation);
    }
}

/** What has been left at the lock. */
static void lock_dequeue(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_ended_t *ended)
{
    mca_coll_epcoll_operation_t *next;

    for (mca_coll_epcoll_operation_t *operation = mca_coll_epcoll_lock_dequeue(pending);
         NULL != operation; operation = next) {
        next = operation->next;
        reserve_once(pending, operation);
        mca_coll_epcoll_pending_start(pending, operation, ended);
    }
}

void mca_coll_epcoll_pending_unlock(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_ended_t *ended)
{
    do {
        if (NULL != pending->first && !pending->is_working) {
            pending->is_working = true;
            mca_coll_epcoll_component.engine->request_begin(pending->first->request,
                                                            &pending->work);
        }
        if (OPAL_LIKELY(mca_coll_epcoll_lock_release(pending))) {
            break;
        }
        lock_dequeue(pending, ended);
    } while (true);
    complete_ended(ended);
}

/** Is the step of one long? */
static bool pending_works(const mca_coll_epcoll_operation_t *operation)
{
    return operation->steps ? operation->schedule->is_enough : NULL != operation->running.ops;
}

/** Go on with all.  @return whether that has brought something */
static bool progress_all(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_ended_t *ended)
{
    mca_coll_epcoll_operation_t **link = &pending->first, *operation;
    uint32_t most = chunks_in_step();
    bool some = false, waits = false;

    while (NULL != (operation = *link)) {
        int rc = EPCOLL_NOTHING;

        if (operation->is_published || !waits || !is_nonblocking(pending, operation)) {
            rc = operation_progress(pending, operation, most);
            waits = waits || (!operation->is_published && is_nonblocking(pending, operation));
        }
        if (EPCOLL_NOTHING != rc && pending_works(operation)) {
            most = 0; /* it has done some */
        }
        some = some || EPCOLL_NOTHING != rc;
        if (!mca_coll_epcoll_is_over(rc)) {
            link = &operation->next;
            continue;
        }
        *link = operation->next;
        pending->last = NULL == *link ? link : pending->last;
        mca_coll_epcoll_pending_finish(pending, operation, rc, ended);
    }
    return some;
}

/** What the engine calls. */
static mpix_endpoints_step_t pending_step(mpix_endpoints_work_t *work)
{
    mca_coll_epcoll_pending_t *pending = (mca_coll_epcoll_pending_t *) work;
    mca_coll_epcoll_ended_t ended = {.request = NULL};
    bool some, works;

    if (!mca_coll_epcoll_lock_try(pending)) {
        return MPIX_ENDPOINTS_STEP_IDLE; /* another thread begins one */
    }
    some = progress_all(pending, &ended);
    for (;;) {
        works = pending->is_working = NULL != pending->first;
        if (OPAL_LIKELY(mca_coll_epcoll_lock_release(pending))) {
            break;
        }
        lock_dequeue(pending, &ended);
        some = true;
    }
    complete_ended(&ended);
    if (!works) {
        return MPIX_ENDPOINTS_STEP_DONE;
    }
    return some ? MPIX_ENDPOINTS_STEP_PROGRESS : MPIX_ENDPOINTS_STEP_IDLE;
}

/* ---- of the handle --------------------------------------------------------------------------- */

mca_coll_epcoll_pending_t *mca_coll_epcoll_pending_of(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_lazy_t *lazy = mca_coll_epcoll_lazy(handle);
    mca_coll_epcoll_pending_t *pending;

    if (OPAL_UNLIKELY(NULL == lazy)) {
        return NULL;
    }
    if (OPAL_UNLIKELY(NULL == lazy->pending)) {
        pending = calloc(1, sizeof(*pending));
        if (NULL == pending) {
            return NULL;
        }
        pending->work.step = pending_step;
        pending->handle = handle;
        pending->last = &pending->first;
        lazy->pending = pending;
    }
    return lazy->pending;
}

int mca_coll_epcoll_pending_no_memory(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_break_all(handle, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

bool mca_coll_epcoll_pending_schedule_new(mca_coll_epcoll_pending_t *pending,
                                          mca_coll_epcoll_operation_t *operation)
{
    operation->steps = NULL != mca_coll_epcoll_layout(pending->handle);
    operation->schedule = operation->steps ? calloc(1, sizeof(*operation->schedule)) : NULL;
    return !operation->steps || NULL != operation->schedule;
}

void mca_coll_epcoll_pending_schedule_free(mca_coll_epcoll_operation_t *operation)
{
    if (NULL != operation->schedule) {
        mca_coll_epcoll_schedule_end(operation->schedule);
        free(operation->schedule);
    }
}

bool mca_coll_epcoll_pending_at_once(mca_coll_epcoll_pending_t *pending,
                                     mca_coll_epcoll_operation_t *operation)
{
    int rc;

    mca_coll_epcoll_pending_reserve(pending, operation);
    operation->has_seq = true;
    if (OPAL_UNLIKELY(!pending_publish(pending, operation)) || !is_small(operation)) {
        return false;
    }
    rc = mca_coll_epcoll_small_step(&operation->running);
    if (EPCOLL_NOTHING == rc && poll_others(pending, &operation->running)) {
        rc = mca_coll_epcoll_small_step(&operation->running);
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return false; /* an error is found again, and reported, under the lock */
    }
    mca_coll_epcoll_sequence_complete(operation->sequence, operation->member.seq,
                                      operation->running.seen == operation->member.count);
    return true;
}

void mca_coll_epcoll_pending_submit(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation)
{
    mca_coll_epcoll_ended_t ended = {.request = NULL};

    if (mca_coll_epcoll_lock_try_or_enqueue(pending, operation)) {
        reserve_once(pending, operation);
        mca_coll_epcoll_pending_start(pending, operation, &ended);
        mca_coll_epcoll_pending_unlock(pending, &ended);
    }
}

void mca_coll_epcoll_pending_free(mca_coll_epcoll_handle_t *handle)
{
    const mca_coll_epcoll_lazy_t *lazy = mca_coll_epcoll_lazy_if_made(handle);
    mca_coll_epcoll_pending_t *pending = NULL == lazy ? NULL : lazy->pending;
    mca_coll_epcoll_operation_t *next;

    if (NULL != pending) {
        if (NULL != pending->segment) {
            mca_coll_epcoll_op_segment_put(&pending->deferred, &handle->view.member,
                                           pending->segment);
        }
        for (mca_coll_epcoll_operation_t *operation = pending->unused; NULL != operation;
             operation = next) {
            next = operation->next;
            mca_coll_epcoll_pending_schedule_free(operation);
            free(operation);
        }
    }
    mca_coll_epcoll_pool_put(NULL == pending ? NULL : pending->pools.last);
    mca_coll_epcoll_deferred_end(&handle->view.member, NULL == pending ? NULL : &pending->deferred);
    free(pending);
}
