/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What all that is under way has in common.
 *
 * Called by the layer calls, and as work by the engine.
 *
 * Tests: coll_pending, coll_life, coll_nomem, death (later)
 */

#include "ompi_config.h"

#include "coll_epcoll_gate.h"

#include "mpi.h"

#include <stdlib.h>

/** Bytes of work in a step: so long may somebody else's thread be at it. */
#define STEP_BYTES 65536

/** Looks for others when an operation begins: some 0.2 us. */
#define LOOKS_AT_ONCE 16

static void say_ended(mca_coll_epcoll_ended_t *ended)
{
    if (NULL != ended->request) {
        mca_coll_epcoll_component.engine->request_done(
            ended->request,
            mca_coll_epcoll_loss_error(ended->request->req_mpi_object.comm, ended->error));
        ended->request = NULL;
    }
}

/* ---- operations, under the gate -------------------------------------------------------------- */

static bool is_nonblocking(const mca_coll_epcoll_pending_t *pending,
                           const mca_coll_epcoll_operation_t *operation)
{
    return &pending->nonblocking == operation->channel || &pending->near == operation->channel;
}

void mca_coll_epcoll_pending_enter(mca_coll_epcoll_pending_t *pending,
                                   mca_coll_epcoll_operation_t *operation)
{
    if (operation->steps) {
        mca_coll_epcoll_program_enter(operation->program);
        operation->is_shown = true; /* as far as it goes: its steps look for themselves */
        return;
    }
    if (NULL == operation->member.block || NULL != operation->program) {
        operation->member = operation->channel->member; /* it may have been another one's before */
    }
    operation->member.number = mca_coll_epcoll_channel_enter(operation->channel, 1);
    operation->is_shown = false;
    operation->running.waits = 0;
    if (is_nonblocking(pending, operation)) { /* else we may have come without the gate: _at_once */
        ++pending->waiting;
    }
}

/** If it has no number yet. */
static void enter_once(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    if (!operation->is_entered) {
        mca_coll_epcoll_pending_enter(pending, operation);
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
    return !operation->steps && operation->is_shown && NULL == operation->running.family;
}

/**
 * It has been published, and not all members have come that it needs: look for them for about as
 * long as it takes to leave it to the engine and to have it back, so that it costs twice that at
 * most. Threads that call at the same time are over with it at once then: without a request, if it
 * is nonblocking, and without an atomic read-modify-write, which would wait until our slot has
 * reached the others.
 *
 * @return whether a step would bring something
 */
static bool look_for_others(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_running_t *running)
{
    /* Relaxed: a hint.  What is under way besides would wait meanwhile. */
    if (atomic_load_explicit(&pending->is_working, memory_order_relaxed)
        || mca_coll_epcoll_component.engine->is_oversubscribed()) {
        return false;
    }
    for (int looks = 0; looks < LOOKS_AT_ONCE; ++looks) {
        if (mca_coll_epcoll_small_may_go_on(running)) {
            return true;
        }
        epcoll_relax();
    }
    return false;
}

/** Show the others that we have come to it, if that is possible now.  @return whether it is
 * shown */
static bool pending_show(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    if (OPAL_UNLIKELY(0 != pending_broken(operation))
        || !mca_coll_epcoll_channel_may_begin(operation->channel, operation->member.number)) {
        return false;
    }
    mca_coll_epcoll_local_show(&operation->running, &operation->member, &operation->call);
    operation->is_shown = true;
    if (is_nonblocking(pending, operation)) { /* likewise */
        --pending->waiting;
    }
    return true;
}

/** It waits: for something that will not come?  @return 0, or the error with which to end */
static int why_not(const mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    const int why = pending_broken(operation);

    if (!operation->is_shown) {
        ++operation->running.waits; /* for room: the owners of what was there before may be lost */
    }
    return 0 != why ? why
                    : mca_coll_epcoll_in_vain(pending->handle,
                                              0 == operation->running.waits % EPCOLL_WAITS);
}

/**
 * Go on with one.
 *
 * @param most  shares to do at most
 *
 * @return as mca_coll_epcoll_pieces_step, but that after an error nothing of it is under way any
 * more
 */
static int go_on(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation,
                 uint32_t most)
{
    int rc = EPCOLL_NOTHING;

    if (operation->steps) {
        return mca_coll_epcoll_program_step(operation->program, most);
    }
    if (OPAL_LIKELY(operation->is_shown) || pending_show(pending, operation)) {
        rc = mca_coll_epcoll_local_step(&operation->running, most);
    }
    if (EPCOLL_NOTHING == rc) {
        rc = why_not(pending, operation);
        if (OPAL_LIKELY(0 == rc)) {
            return EPCOLL_NOTHING;
        }
    }
    if (EPCOLL_SOME == rc) {
        return rc;
    }
    if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        mca_coll_epcoll_channel_over(operation->channel, operation->member.number,
                                     operation->running.seen == operation->member.count);
        return rc;
    }
    rc = mca_coll_epcoll_failed(pending->handle, &operation->member, rc);
    mca_coll_epcoll_break_all(pending->handle, rc);
    if (operation->is_shown) {
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
    say_ended(ended); /* there is another one, so it is not the last */
    *ended = (mca_coll_epcoll_ended_t){.request = operation->request, .error = error};
    if (operation->steps) {
        mca_coll_epcoll_program_trim(operation->program);
    }
    if (is_nonblocking(pending, operation)) {
        operation->next = pending->unused;
        pending->unused = operation;
    }
}

static uint32_t shares_in_step(void)
{
    const size_t shares = STEP_BYTES / mca_coll_epcoll_component.share_size;

    return 0 == shares ? 1 : (uint32_t) shares;
}

int mca_coll_epcoll_pending_first_step(mca_coll_epcoll_pending_t *pending,
                                       mca_coll_epcoll_operation_t *operation)
{
    int rc;

    if (is_nonblocking(pending, operation) && 1 < pending->waiting) {
        return EPCOLL_NOTHING; /* others come first */
    }
    rc = go_on(pending, operation, shares_in_step());
    if (EPCOLL_NOTHING == rc && is_small(operation) && !operation->is_entered
        && look_for_others(pending, &operation->running)) {
        rc = go_on(pending, operation, shares_in_step());
    }
    return rc;
}

void mca_coll_epcoll_pending_entered(mca_coll_epcoll_pending_t *pending,
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

/** What has been left at the gate. */
static void take_in(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_ended_t *ended)
{
    mca_coll_epcoll_operation_t *next;

    for (mca_coll_epcoll_operation_t *operation = mca_coll_epcoll_gate_take(pending);
         NULL != operation; operation = next) {
        next = operation->next;
        enter_once(pending, operation);
        mca_coll_epcoll_pending_entered(pending, operation, ended);
    }
}

void mca_coll_epcoll_pending_leave(mca_coll_epcoll_pending_t *pending,
                                   mca_coll_epcoll_ended_t *ended)
{
    do {
        if (NULL != pending->first && !pending->is_working) {
            pending->is_working = true;
            mca_coll_epcoll_component.engine->request_begin(pending->first->request,
                                                            &pending->work);
        }
        if (OPAL_LIKELY(mca_coll_epcoll_gate_leave(pending))) {
            break;
        }
        take_in(pending, ended);
    } while (true);
    say_ended(ended);
}

/** Is the step of one long? */
static bool pending_works(const mca_coll_epcoll_operation_t *operation)
{
    return operation->steps ? operation->program->is_enough : NULL != operation->running.family;
}

/** Go on with all.  @return whether that has brought something */
static bool go_on_all(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_ended_t *ended)
{
    mca_coll_epcoll_operation_t **link = &pending->first, *operation;
    uint32_t most = shares_in_step();
    bool some = false, waits = false;

    while (NULL != (operation = *link)) {
        int rc = EPCOLL_NOTHING;

        if (operation->is_shown || !waits || !is_nonblocking(pending, operation)) {
            rc = go_on(pending, operation, most);
            waits = waits || (!operation->is_shown && is_nonblocking(pending, operation));
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

    if (!mca_coll_epcoll_gate_try(pending)) {
        return MPIX_ENDPOINTS_STEP_IDLE; /* somebody begins one */
    }
    some = go_on_all(pending, &ended);
    for (;;) {
        works = pending->is_working = NULL != pending->first;
        if (OPAL_LIKELY(mca_coll_epcoll_gate_leave(pending))) {
            break;
        }
        take_in(pending, &ended);
        some = true;
    }
    say_ended(&ended);
    if (!works) {
        return MPIX_ENDPOINTS_STEP_DONE;
    }
    return some ? MPIX_ENDPOINTS_STEP_PROGRESS : MPIX_ENDPOINTS_STEP_IDLE;
}

/* ---- of the handle --------------------------------------------------------------------------- */

mca_coll_epcoll_pending_t *mca_coll_epcoll_pending_of(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_more_t *more = mca_coll_epcoll_more(handle);
    mca_coll_epcoll_pending_t *pending;

    if (OPAL_UNLIKELY(NULL == more)) {
        return NULL;
    }
    if (OPAL_UNLIKELY(NULL == more->pending)) {
        pending = calloc(1, sizeof(*pending));
        if (NULL == pending) {
            return NULL;
        }
        pending->work.step = pending_step;
        pending->handle = handle;
        pending->last = &pending->first;
        more->pending = pending;
    }
    return more->pending;
}

int mca_coll_epcoll_pending_no_memory(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_break_all(handle, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

bool mca_coll_epcoll_pending_equip(mca_coll_epcoll_pending_t *pending,
                                   mca_coll_epcoll_operation_t *operation)
{
    operation->steps = NULL != mca_coll_epcoll_layout(pending->handle);
    operation->program = operation->steps ? calloc(1, sizeof(*operation->program)) : NULL;
    return !operation->steps || NULL != operation->program;
}

void mca_coll_epcoll_pending_strip(mca_coll_epcoll_operation_t *operation)
{
    if (NULL != operation->program) {
        mca_coll_epcoll_program_end(operation->program);
        free(operation->program);
    }
}

bool mca_coll_epcoll_pending_at_once(mca_coll_epcoll_pending_t *pending,
                                     mca_coll_epcoll_operation_t *operation)
{
    int rc;

    mca_coll_epcoll_pending_enter(pending, operation);
    operation->is_entered = true;
    if (OPAL_UNLIKELY(!pending_show(pending, operation)) || !is_small(operation)) {
        return false;
    }
    rc = mca_coll_epcoll_small_step(&operation->running);
    if (EPCOLL_NOTHING == rc && look_for_others(pending, &operation->running)) {
        rc = mca_coll_epcoll_small_step(&operation->running);
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return false; /* an error is found again, and told, under the gate */
    }
    mca_coll_epcoll_channel_over(operation->channel, operation->member.number,
                                 operation->running.seen == operation->member.count);
    return true;
}

void mca_coll_epcoll_pending_submit(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation)
{
    mca_coll_epcoll_ended_t ended = {.request = NULL};

    if (mca_coll_epcoll_gate_try_or_leave_there(pending, operation)) {
        enter_once(pending, operation);
        mca_coll_epcoll_pending_entered(pending, operation, &ended);
        mca_coll_epcoll_pending_leave(pending, &ended);
    }
}

void mca_coll_epcoll_pending_free(mca_coll_epcoll_handle_t *handle)
{
    const mca_coll_epcoll_more_t *more = mca_coll_epcoll_has_more(handle);
    mca_coll_epcoll_pending_t *pending = NULL == more ? NULL : more->pending;
    mca_coll_epcoll_operation_t *next;

    if (NULL != pending) {
        if (NULL != pending->side) {
            mca_coll_epcoll_side_put(&pending->kept, &handle->member, pending->side);
        }
        for (mca_coll_epcoll_operation_t *operation = pending->unused; NULL != operation;
             operation = next) {
            next = operation->next;
            mca_coll_epcoll_pending_strip(operation);
            free(operation);
        }
    }
    mca_coll_epcoll_group_put(NULL == pending ? NULL : pending->groups.last);
    mca_coll_epcoll_sides_end(&handle->member, NULL == pending ? NULL : &pending->kept);
    free(pending);
}
