/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules: how builders append steps, and how one is gone through.
 *
 * Called by builders, by the layer hier for blocking calls, and by the layer pending.
 *
 * Tests: coll_layout, coll_pending, coll_told, death (later)
 */

#include "ompi_config.h"

#include "coll_epcoll_immediate.h"
#include "coll_epcoll_step.h"

#include "mpi.h"

#include <stdlib.h>

/** Bytes of a scratch buffer that are kept for the next call. */
#define SCRATCH_KEPT ((size_t) 64 * 1024)

/** Steps that are kept likewise: an allgather has some for each process. */
#define STEPS_KEPT 256

/* ---- appending ------------------------------------------------------------------------------- */

/** Room for one more.  @return false: no memory */
static bool schedule_grow(void **array, size_t each, uint32_t count, uint32_t *capacity)
{
    void *more;

    if (OPAL_LIKELY(count < *capacity)) {
        return true;
    }
    more = realloc(*array, each * (0 == *capacity ? 8 : 2 * (size_t) *capacity));
    if (NULL == more) {
        return false;
    }
    *array = more;
    *capacity = 0 == *capacity ? 8 : 2 * *capacity;
    return true;
}

/** A step at the end.  @return NULL: no memory */
static mca_coll_epcoll_step_t *schedule_append(mca_coll_epcoll_schedule_t *schedule,
                                               mca_coll_epcoll_step_kind_t kind, int rank)
{
    void *array = schedule->step;
    mca_coll_epcoll_step_t *step;

    if (0 != schedule->error) {
        return NULL;
    }
    if (!schedule_grow(&array, sizeof(*step), schedule->steps, &schedule->step_capacity)) {
        schedule->error = MPI_ERR_NO_MEM;
        return NULL;
    }
    schedule->step = array;
    step = &schedule->step[schedule->steps++];
    step->kind = kind;
    step->rank = rank;
    step->request = MPI_REQUEST_NULL;
    return step;
}

static mca_coll_epcoll_buffer_t schedule_buffer(const mca_coll_epcoll_vector_t *vector)
{
    return (mca_coll_epcoll_buffer_t){.address = vector->address,
                                      .count = vector->count,
                                      .type = vector->type};
}

void mca_coll_epcoll_append_local(mca_coll_epcoll_schedule_t *schedule,
                                  const mca_coll_epcoll_call_t *call,
                                  const mca_coll_epcoll_plan_t *plan)
{
    void *array = schedule->part;
    mca_coll_epcoll_step_t *step = schedule_append(schedule, EPCOLL_STEP_LOCAL, 0);
    mca_coll_epcoll_part_t *part;

    if (NULL == step) {
        return;
    }
    if (!schedule_grow(&array, sizeof(*part), schedule->parts, &schedule->part_capacity)) {
        schedule->error = MPI_ERR_NO_MEM;
        return;
    }
    schedule->part = array;
    step->first = schedule->parts;
    part = &schedule->part[schedule->parts++];
    part->call = *call;
    part->call.signature = mca_coll_epcoll_signature_of(schedule->call);
    part->has_plan = NULL != plan;
    if (NULL != plan) {
        part->plan = *plan;
    }
}

void mca_coll_epcoll_append_send(mca_coll_epcoll_schedule_t *schedule,
                                 const mca_coll_epcoll_vector_t *vector, int rank)
{
    mca_coll_epcoll_step_t *step = schedule_append(schedule, EPCOLL_STEP_SEND, rank);

    if (NULL != step) {
        step->from = schedule_buffer(vector);
    }
}

void mca_coll_epcoll_append_receive(mca_coll_epcoll_schedule_t *schedule,
                                    const mca_coll_epcoll_vector_t *vector, int rank)
{
    mca_coll_epcoll_step_t *step = schedule_append(schedule, EPCOLL_STEP_RECEIVE, rank);

    if (NULL != step) {
        step->into = schedule_buffer(vector);
    }
}

void mca_coll_epcoll_append_wait(mca_coll_epcoll_schedule_t *schedule)
{
    (void) schedule_append(schedule, EPCOLL_STEP_WAIT, 0);
}

void mca_coll_epcoll_append_reduce(mca_coll_epcoll_schedule_t *schedule,
                                   const mca_coll_epcoll_vector_t *from,
                                   const mca_coll_epcoll_vector_t *into)
{
    mca_coll_epcoll_step_t *step = schedule_append(schedule, EPCOLL_STEP_REDUCE, 0);

    if (NULL != step) {
        step->from = schedule_buffer(from);
        step->into = schedule_buffer(into);
    }
}

void mca_coll_epcoll_append_copy(mca_coll_epcoll_schedule_t *schedule,
                                 const mca_coll_epcoll_buffer_t *into,
                                 const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size)
{
    mca_coll_epcoll_step_t *step = schedule_append(schedule, EPCOLL_STEP_COPY, 0);

    if (NULL != step) {
        step->from = *from;
        step->into = *into;
        step->first = offset;
        step->size = size;
    }
}

void *mca_coll_epcoll_schedule_scratch(mca_coll_epcoll_schedule_t *schedule, uint32_t which,
                                       const ompi_datatype_t *type, size_t count)
{
    mca_coll_epcoll_scratch_t *scratch = schedule->is_immediate
                                             ? mca_coll_epcoll_immediate_scratches(schedule)
                                             : schedule->scratch;
    void *address = NULL == scratch ? NULL
                                    : mca_coll_epcoll_scratch_get(&scratch[which], type,
                                                                  0 == count ? 1 : count);

    if (NULL == address) {
        schedule->error = MPI_ERR_NO_MEM;
    }
    return address;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

int mca_coll_epcoll_schedule_begin(mca_coll_epcoll_schedule_t *schedule,
                                   mca_coll_epcoll_handle_t *handle,
                                   const mca_coll_epcoll_call_t *call,
                                   mca_coll_epcoll_sequence_t *sequence, int tag)
{
    int rc;

    schedule->is_immediate = false;
    schedule->handle = handle;
    schedule->call = call;
    schedule->builder = mca_coll_epcoll_builders[call->kind];
    schedule->sequence = sequence;
    schedule->member = &schedule->own;
    schedule->tag = tag;
    schedule->round = schedule->locals = 0;
    schedule->rounds = 1;
    schedule->error = MPI_SUCCESS;
    schedule->steps = schedule->parts = schedule->at = schedule->open = 0;
    schedule->is_published = false;
    schedule->done = 0;
    schedule->waits = 0;
    rc = schedule->builder->begin(schedule);
    return MPI_SUCCESS == rc ? schedule->error : rc;
}

void mca_coll_epcoll_schedule_reserve(mca_coll_epcoll_schedule_t *schedule)
{
    schedule->own = schedule->sequence->member;
    schedule->own.seq = mca_coll_epcoll_sequence_reserve(schedule->sequence, schedule->locals);
}

/** It fails: nothing more is begun, and what has begun ends.  @return the error code */
static void schedule_fail(mca_coll_epcoll_schedule_t *schedule, int rc)
{
    rc = mca_coll_epcoll_failed(schedule->handle->view.comm, schedule->member, rc);
    mca_coll_epcoll_break_all(schedule->handle, rc);
    schedule->error = rc;
    if (schedule->is_published) {
        mca_coll_epcoll_local_close(&schedule->running, rc);
        schedule->is_published = false;
    }
}

/** Nothing of it is under way any more?  @return EPCOLL_NOTHING, or its error */
static int schedule_drain(mca_coll_epcoll_schedule_t *schedule)
{
    int rc;

    schedule->at = schedule->steps; /* those that have not begun are as good as over */
    mca_coll_epcoll_step_cancel(schedule);
    while (EPCOLL_NOTHING != (rc = mca_coll_epcoll_step_messages(schedule))) {
        if (MPI_SUCCESS == rc) {
            return schedule->error;
        }
        ++schedule->open; /* it is not why we have failed */
    }
    return rc;
}

/** The next round, or the end.  @return MPI_SUCCESS: the end; EPCOLL_SOME; EPCOLL_NOTHING; an
 * error */
static int schedule_next_round(mca_coll_epcoll_schedule_t *schedule)
{
    const int rc = mca_coll_epcoll_step_messages(schedule);

    if (MPI_SUCCESS != rc || schedule->round == schedule->rounds) {
        return rc;
    }
    schedule->steps = schedule->parts = schedule->at = schedule->open = 0;
    schedule->builder->round(schedule);
    ++schedule->round;
    return MPI_SUCCESS == schedule->error ? EPCOLL_SOME : schedule->error;
}

/** Has another member of the segment failed?  Then what we wait for may never arrive. */
static int check_broken(const mca_coll_epcoll_schedule_t *schedule)
{
    /* Relaxed: nothing but the word itself is read by it. */
    const int why = atomic_load_explicit(schedule->member->broken, memory_order_relaxed);

    return 0 == why ? EPCOLL_NOTHING : why;
}

/** Likewise, or is one lost, so that others do not call?  Messages end by themselves then. */
static int check_waiting(mca_coll_epcoll_schedule_t *schedule)
{
    int why = check_broken(schedule);

    if (EPCOLL_NOTHING == why) {
        why = mca_coll_epcoll_waiting_error(schedule->handle,
                                            0 == ++schedule->waits % EPCOLL_WAITS);
        why = 0 == why ? EPCOLL_NOTHING : why;
    }
    return why;
}

int mca_coll_epcoll_schedule_step(mca_coll_epcoll_schedule_t *schedule, uint32_t most)
{
    int result = EPCOLL_NOTHING, rc = EPCOLL_SOME;

    if (OPAL_UNLIKELY(MPI_SUCCESS != schedule->error)) {
        return schedule_drain(schedule);
    }
    if (OPAL_UNLIKELY(0 == schedule->round)) {
        rc = check_broken(schedule);
        rc = EPCOLL_NOTHING == rc ? EPCOLL_SOME : rc;
    }
    schedule->is_enough = false;
    while (EPCOLL_SOME == rc && !schedule->is_enough) {
        if (schedule->at == schedule->steps) {
            rc = schedule_next_round(schedule);
            if (MPI_SUCCESS == rc) {
                return rc;
            }
        } else {
            rc = mca_coll_epcoll_step_progress(schedule, most);
            if (MPI_SUCCESS == rc) {
                ++schedule->at;
                schedule->done = 0;
                rc = EPCOLL_SOME;
            }
        }
        result = EPCOLL_SOME == rc ? rc : result;
    }
    if (EPCOLL_NOTHING == rc) {
        rc = check_waiting(schedule);
    }
    if (OPAL_LIKELY(EPCOLL_NOTHING == rc || EPCOLL_SOME == rc)) {
        return result;
    }
    schedule_fail(schedule, rc);
    return schedule_drain(schedule);
}

/* ---- the end --------------------------------------------------------------------------------- */

/** It is over: steps as many as the group has processes are not kept. */
static void schedule_trim_steps(mca_coll_epcoll_schedule_t *schedule)
{
    if (STEPS_KEPT < schedule->step_capacity) {
        free(schedule->step);
        schedule->step = NULL;
        schedule->step_capacity = schedule->steps = schedule->at = schedule->open = 0;
    }
}

void mca_coll_epcoll_schedule_trim(mca_coll_epcoll_schedule_t *schedule)
{
    schedule_trim_steps(schedule);
    for (uint32_t i = 0; i < EPCOLL_SCHEDULE_SCRATCHES; ++i) {
        mca_coll_epcoll_scratch_trim(&schedule->scratch[i], SCRATCH_KEPT);
    }
}

void mca_coll_epcoll_schedule_end(mca_coll_epcoll_schedule_t *schedule)
{
    for (uint32_t i = 0; i < EPCOLL_SCHEDULE_SCRATCHES; ++i) {
        free(schedule->scratch[i].memory);
    }
    free(schedule->step);
    free(schedule->part);
}
