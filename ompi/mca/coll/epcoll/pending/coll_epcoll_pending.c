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
 * Nonblocking operations, and what all that is under way has in common.
 *
 * Called by the layer calls, and as work by the engine.
 *
 * Tests: coll_pending, coll_life, coll_nomem, death (later)
 */

#include "ompi_config.h"

#include "coll_epcoll_pending.h"

#include "mpi.h"

#include <stdlib.h>

#define GATE_FREE ((uintptr_t) 0)
#define GATE_HELD ((uintptr_t) 1)

/** Bytes of work in a step: so long may somebody else's thread be at it. */
#define STEP_BYTES 65536

/** A request that is over, to be said when nothing of the handle is touched any more: with the last
 * request the handle may go. */
typedef struct ended_t {
    ompi_request_t *request;
    int error;
} ended_t;

static void say_ended(ended_t *ended)
{
    if (NULL != ended->request) {
        mca_coll_epcoll_component.door->request_done(ended->request, ended->error);
        ended->request = NULL;
    }
}

/* ---- the gate -------------------------------------------------------------------------------- */

static bool gate_try(mca_coll_epcoll_pending_t *pending)
{
    uintptr_t before = GATE_FREE;

    /* Acquire: what was done under it; partner: gate_leave. */
    return atomic_compare_exchange_strong_explicit(&pending->gate, &before, GATE_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

/** Go in, or leave an operation to whoever is there.  @return are we in? */
static bool gate_try_or_leave_there(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation)
{
    uintptr_t before = atomic_load_explicit(&pending->gate, memory_order_relaxed);

    for (;;) {
        if (GATE_FREE == before) {
            if (gate_try(pending)) {
                return true;
            }
            before = atomic_load_explicit(&pending->gate, memory_order_relaxed);
            continue;
        }
        operation->next = (mca_coll_epcoll_operation_t *) (before & ~GATE_HELD);
        /* Release: the operation; partner: the acquire in gate_take. */
        if (atomic_compare_exchange_weak_explicit(&pending->gate, &before,
                                                  (uintptr_t) operation | GATE_HELD,
                                                  memory_order_release, memory_order_relaxed)) {
            return false;
        }
    }
}

/** @return false: something has been left there, which is to be taken in first */
static bool gate_leave(mca_coll_epcoll_pending_t *pending)
{
    uintptr_t before = GATE_HELD;

    /* Release: what was done under it; partner: gate_try. */
    return atomic_compare_exchange_strong_explicit(&pending->gate, &before, GATE_FREE,
                                                   memory_order_release, memory_order_relaxed);
}

/** What has been left at the gate, the oldest first. */
static mca_coll_epcoll_operation_t *gate_take(mca_coll_epcoll_pending_t *pending)
{
    /* Acquire: the operations; partner: the release in gate_try_or_leave_there. */
    uintptr_t word = atomic_exchange_explicit(&pending->gate, GATE_HELD, memory_order_acquire);
    mca_coll_epcoll_operation_t *all = (mca_coll_epcoll_operation_t *) (word & ~GATE_HELD);
    mca_coll_epcoll_operation_t *turned = NULL;

    while (NULL != all) {
        mca_coll_epcoll_operation_t *next = all->next;

        all->next = turned;
        turned = all;
        all = next;
    }
    return turned;
}

/* ---- operations, under the gate -------------------------------------------------------------- */

static bool is_nonblocking(const mca_coll_epcoll_pending_t *pending,
                           const mca_coll_epcoll_operation_t *operation)
{
    return &pending->nonblocking == operation->channel || &pending->near == operation->channel;
}

/** Give it its number, or its program's numbers. */
static void enter(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    if (operation->steps) {
        mca_coll_epcoll_program_enter(operation->program);
        operation->is_shown = true; /* as far as it goes: its steps look for themselves */
        return;
    }
    if (NULL != operation->program) {
        operation->member = operation->channel->member; /* it may have been another one's before */
    }
    operation->member.number = mca_coll_epcoll_channel_enter(operation->channel, 1);
    operation->is_shown = false;
    operation->running.waits = 0;
    pending->waiting += is_nonblocking(pending, operation);
}

static void append(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    operation->next = NULL;
    *pending->last = operation;
    pending->last = &operation->next;
}

static int broken(const mca_coll_epcoll_operation_t *operation)
{
    /* Relaxed: nothing but the word itself is read by it. */
    return atomic_load_explicit(operation->member.broken, memory_order_relaxed);
}

/** Show the others that we have come to it, if that is possible now.  @return whether it is shown */
static bool show(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    if (OPAL_UNLIKELY(0 != broken(operation))
        || !mca_coll_epcoll_channel_may_begin(operation->channel, operation->member.number)) {
        return false;
    }
    mca_coll_epcoll_local_show(&operation->running, &operation->member, &operation->call);
    operation->is_shown = true;
    pending->waiting -= is_nonblocking(pending, operation);
    return true;
}

/** It waits: for something that will not come?  In the node's memory it is nobody else who notices
 * that a member is lost.  @return 0, or the error with which to end */
static int why_not(const mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    const mca_coll_epcoll_handle_t *handle = pending->handle;
    int why = broken(operation);

    if (0 == why && NULL != handle->layout) {
        /* Relaxed: as in broken. */
        why = atomic_load_explicit(handle->member.broken, memory_order_relaxed);
    }
    if (!operation->is_shown) {
        ++operation->running
              .waits; /* for room: those who are in what was there before may be lost */
    }
    if (OPAL_LIKELY(0 != why || NULL == handle->layout
                    || 0 != operation->running.waits % EPCOLL_WAITS)) {
        return why;
    }
    return mca_coll_epcoll_component.door->is_lost(handle->comm, MPIX_ENDPOINTS_ANYBODY)
               ? MPI_ERR_PROC_FAILED
               : 0;
}

/**
 * Go on with one.
 *
 * @param most  shares to do at most
 *
 * @return as mca_coll_epcoll_pieces_step, but that after an error nothing of it is under way any more
 */
static int go_on(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation,
                 uint32_t most)
{
    int rc = EPCOLL_NOTHING;

    if (operation->steps) {
        return mca_coll_epcoll_program_step(operation->program, most);
    }
    if (OPAL_LIKELY(operation->is_shown) || show(pending, operation)) {
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

static bool is_over(int rc)
{
    return EPCOLL_NOTHING != rc && EPCOLL_SOME != rc;
}

/** It is over, and not in the list. */
static void finish(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation,
                   int error, ended_t *ended)
{
    say_ended(ended); /* there is another one, so it is not the last */
    *ended = (ended_t){.request = operation->request, .error = error};
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

/** A step of one that has been entered, which goes into the list unless it is over. */
static void begin(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation,
                  ended_t *ended)
{
    const int rc = is_nonblocking(pending, operation) && 1 < pending->waiting
                       ? EPCOLL_NOTHING /* others come first */
                       : go_on(pending, operation, shares_in_step());

    if (is_over(rc)) {
        finish(pending, operation, rc, ended);
    } else {
        append(pending, operation);
    }
}

/** What has been left at the gate. */
static void take_in(mca_coll_epcoll_pending_t *pending, ended_t *ended)
{
    mca_coll_epcoll_operation_t *next;

    for (mca_coll_epcoll_operation_t *operation = gate_take(pending); NULL != operation;
         operation = next) {
        next = operation->next;
        enter(pending, operation);
        begin(pending, operation, ended);
    }
}

/** Leave the gate, after a beginning: the engine has the work, if there is any. */
static void leave(mca_coll_epcoll_pending_t *pending, ended_t *ended)
{
    do {
        if (NULL != pending->first && !pending->is_working) {
            pending->is_working = true;
            mca_coll_epcoll_component.door->request_begin(pending->first->request, &pending->work);
        }
        if (OPAL_LIKELY(gate_leave(pending))) {
            break;
        }
        take_in(pending, ended);
    } while (true);
    say_ended(ended);
}

/** Is the step of one long? */
static bool works(const mca_coll_epcoll_operation_t *operation)
{
    return operation->steps ? operation->program->is_enough : NULL != operation->running.family;
}

/** Go on with all.  @return whether that has brought something */
static bool go_on_all(mca_coll_epcoll_pending_t *pending, ended_t *ended)
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
        if (EPCOLL_NOTHING != rc && works(operation)) {
            most = 0; /* it has done some */
        }
        some = some || EPCOLL_NOTHING != rc;
        if (!is_over(rc)) {
            link = &operation->next;
            continue;
        }
        *link = operation->next;
        pending->last = NULL == *link ? link : pending->last;
        finish(pending, operation, rc, ended);
    }
    return some;
}

/** What the engine calls. */
static mpix_endpoints_step_t step(mpix_endpoints_work_t *work)
{
    mca_coll_epcoll_pending_t *pending = (mca_coll_epcoll_pending_t *) work;
    ended_t ended = {.request = NULL};
    bool some, works;

    if (!gate_try(pending)) {
        return MPIX_ENDPOINTS_STEP_NOTHING; /* somebody begins one */
    }
    some = go_on_all(pending, &ended);
    for (;;) {
        works = pending->is_working = NULL != pending->first;
        if (OPAL_LIKELY(gate_leave(pending))) {
            break;
        }
        take_in(pending, &ended);
        some = true;
    }
    say_ended(&ended);
    if (!works) {
        return MPIX_ENDPOINTS_STEP_DONE;
    }
    return some ? MPIX_ENDPOINTS_STEP_SOME : MPIX_ENDPOINTS_STEP_NOTHING;
}

/* ---- nonblocking operations ------------------------------------------------------------------ */

mca_coll_epcoll_pending_t *mca_coll_epcoll_pending_of(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_pending_t *pending = handle->pending;

    if (OPAL_UNLIKELY(NULL == pending)) {
        pending = calloc(1, sizeof(*pending));
        if (NULL != pending) {
            pending->work.step = step;
            pending->handle = handle;
            pending->last = &pending->first;
            handle->pending = pending;
        }
    }
    return pending;
}

int mca_coll_epcoll_pending_no_memory(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_break_all(handle, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

/** The handle's pending, with the block for nonblocking ones.  @return NULL: no memory */
static mca_coll_epcoll_pending_t *ready(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_pending_t *pending = mca_coll_epcoll_pending_of(handle);

    if (NULL != pending && NULL == pending->side
        && MPI_SUCCESS
               != mca_coll_epcoll_side_get(handle, EPCOLL_KEY_NONBLOCKING,
                                           &pending->nonblocking.member, &pending->side)) {
        return NULL;
    }
    return pending;
}

/** A new one.  @return NULL: no memory */
static mca_coll_epcoll_operation_t *operation_new(mca_coll_epcoll_pending_t *pending)
{
    mca_coll_epcoll_operation_t *operation = malloc(sizeof(*operation));

    if (NULL != operation) {
        operation->channel = &pending->nonblocking;
        operation->member = pending->nonblocking.member;
        if (!mca_coll_epcoll_pending_equip(pending, operation)) {
            free(operation);
            return NULL;
        }
    }
    return operation;
}

bool mca_coll_epcoll_pending_equip(mca_coll_epcoll_pending_t *pending,
                                   mca_coll_epcoll_operation_t *operation)
{
    operation->steps = NULL != pending->handle->layout;
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

static void operation_free(mca_coll_epcoll_operation_t *operation)
{
    if (NULL != operation) {
        mca_coll_epcoll_pending_strip(operation);
        free(operation);
    }
}

/** Copies that are ours: see copy_types. */
static void *copied_types(const mca_coll_epcoll_call_t *call)
{
    return (void *) (uintptr_t) call->recv_types;
}

/** @param steps  it goes through its program; else, of several processes, by the node's memory */
static void prepare(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation,
                    const mca_coll_epcoll_call_t *call, bool steps)
{
    operation->call = *call;
    operation->request = NULL;
    operation->steps = steps;
    if (NULL != operation->program) {
        operation->channel = steps ? &pending->nonblocking : &pending->near;
    }
}

static const mpix_endpoints_request_ops_t plain_ops = {.free = NULL};
static const mpix_endpoints_request_ops_t typed_ops = {.free = free};

/** Its request. */
static int request_new(mca_coll_epcoll_pending_t *pending, mca_coll_epcoll_operation_t *operation)
{
    const mpix_endpoints_door_t *door = mca_coll_epcoll_component.door;
    const mca_coll_epcoll_call_t *call = &operation->call;
    void *types = copied_types(call);
    const int rc = door->request_new(pending->handle->comm, NULL == types ? &plain_ops : &typed_ops,
                                     types, false, &operation->request);

    if (OPAL_LIKELY(MPI_SUCCESS == rc) && NULL != types) {
        door->request_types(operation->request, call->send_types, call->recv_types);
    }
    return rc;
}

void mca_coll_epcoll_pending_submit(mca_coll_epcoll_pending_t *pending,
                                    mca_coll_epcoll_operation_t *operation)
{
    ended_t ended = {.request = NULL};

    if (gate_try_or_leave_there(pending, operation)) {
        enter(pending, operation);
        begin(pending, operation, &ended);
        leave(pending, &ended);
    }
}

/** Begin one while we hold the gate: mostly it is over at once, or needs a request. */
static int begin_held(mca_coll_epcoll_pending_t *pending, const mca_coll_epcoll_call_t *call,
                      ompi_request_t **request_p)
{
    mca_coll_epcoll_operation_t *operation = pending->unused;
    ended_t ended = {.request = NULL};
    int rc = MPI_ERR_NO_MEM;

    if (NULL != operation) {
        pending->unused = operation->next;
    } else {
        operation = operation_new(pending);
    }
    if (NULL != operation) {
        prepare(pending, operation, call, false);
        enter(pending, operation);
        rc = 1 < pending->waiting ? EPCOLL_NOTHING : go_on(pending, operation, shares_in_step());
    }
    if (NULL != operation && is_over(rc)) {
        finish(pending, operation, rc, &ended);
    } else if (NULL != operation) {
        rc = request_new(pending, operation);
        if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
            append(pending, operation);
            *request_p = operation->request;
            leave(pending, &ended);
            return MPI_SUCCESS;
        }
        if (operation->is_shown) {
            mca_coll_epcoll_local_close(&operation->running, rc);
        } else {
            --pending->waiting;
        }
        finish(pending, operation, rc, &ended);
    }
    leave(pending, &ended);
    free(copied_types(call));
    *request_p = &ompi_request_empty;
    return rc;
}

/** Begin one while another thread holds the gate, or did. */
static int begin_aside(mca_coll_epcoll_pending_t *pending, const mca_coll_epcoll_call_t *call,
                       ompi_request_t **request_p)
{
    mca_coll_epcoll_operation_t *operation = operation_new(pending);

    if (NULL != operation) {
        prepare(pending, operation, call, false);
    }
    if (NULL == operation || MPI_SUCCESS != request_new(pending, operation)) {
        free(copied_types(call));
        operation_free(operation);
        return MPI_ERR_NO_MEM;
    }
    *request_p = operation->request;
    mca_coll_epcoll_pending_submit(pending, operation);
    return MPI_SUCCESS;
}

/** Copies of both arrays of types, of MPI_Ialltoallw. */
static bool copy_types(mca_coll_epcoll_call_t *call, uint32_t members)
{
    ompi_datatype_t **types = malloc(2 * members * sizeof(ompi_datatype_t *));

    if (NULL == types) {
        return false;
    }
    memcpy(types, call->recv_types, members * sizeof(*types));
    if (!call->in_place) {
        memcpy(types + members, call->send_types, members * sizeof(*types));
    }
    call->recv_types = types;
    call->send_types = call->in_place ? NULL : types + members;
    return true;
}

/** Begin one that has a program: it needs a request, since others' messages are needed. */
static int begin_program(mca_coll_epcoll_pending_t *pending, const mca_coll_epcoll_call_t *call,
                         ompi_request_t **request_p)
{
    const int tag = EPCOLL_TAGS_NONBLOCKING + (int) (pending->calls++ & EPCOLL_TAGS_EACH);
    const bool held = gate_try(pending);
    mca_coll_epcoll_operation_t *operation = held ? pending->unused : NULL;
    ended_t ended = {.request = NULL};
    int rc = MPI_ERR_NO_MEM;

    if (NULL != operation) {
        pending->unused = operation->next;
    } else {
        operation = operation_new(pending);
    }
    if (NULL != operation) {
        prepare(pending, operation, call, true);
        rc = mca_coll_epcoll_program_begin(operation->program, pending->handle, &operation->call,
                                           operation->channel, tag);
        rc = MPI_SUCCESS == rc ? request_new(pending, operation) : rc;
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        operation_free(operation);
        free(copied_types(call));
        *request_p = &ompi_request_empty;
    } else {
        *request_p = operation->request;
    }
    if (held) {
        if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
            enter(pending, operation);
            begin(pending, operation, &ended);
        }
        leave(pending, &ended);
    } else if (OPAL_LIKELY(MPI_SUCCESS == rc)) {
        mca_coll_epcoll_pending_submit(pending, operation);
    }
    return rc;
}

int mca_coll_epcoll_pending_begin(mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call, ompi_request_t **request_p)
{
    mca_coll_epcoll_pending_t *pending = ready(handle);
    mca_coll_epcoll_call_t typed;
    bool steps;
    int rc;

    if (OPAL_UNLIKELY(NULL == pending)) {
        return mca_coll_epcoll_pending_no_memory(handle);
    }
    mca_coll_epcoll_local_count(handle, call);
    if (OPAL_UNLIKELY(EPCOLL_ALLTOALLW == call->kind)) {
        typed = *call;
        if (!copy_types(&typed, handle->size)) {
            return mca_coll_epcoll_pending_no_memory(handle);
        }
        call = &typed;
    }
    steps = NULL != handle->layout && !mca_coll_epcoll_is_near(handle, call);
    if (OPAL_UNLIKELY(NULL == pending->near.member.block && NULL != handle->near)) {
        mca_coll_epcoll_near_view(handle, EPCOLL_NEAR_NONBLOCKING, &pending->near.member);
    }
    rc = steps                            ? begin_program(pending, call, request_p)
         : OPAL_LIKELY(gate_try(pending)) ? begin_held(pending, call, request_p)
                                          : begin_aside(pending, call, request_p);
    return OPAL_LIKELY(MPI_ERR_NO_MEM != rc) ? rc : mca_coll_epcoll_pending_no_memory(handle);
}

void mca_coll_epcoll_pending_free(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_pending_t *pending = handle->pending;
    mca_coll_epcoll_operation_t *next;

    if (NULL != pending) {
        if (NULL != pending->side) {
            mca_coll_epcoll_side_put(&pending->kept, &handle->member, pending->side);
        }
        for (mca_coll_epcoll_operation_t *operation = pending->unused; NULL != operation;
             operation = next) {
            next = operation->next;
            operation_free(operation);
        }
    }
    mca_coll_epcoll_group_put(NULL == pending ? NULL : pending->groups.last);
    mca_coll_epcoll_sides_end(&handle->member, NULL == pending ? NULL : &pending->kept);
    free(pending);
}
