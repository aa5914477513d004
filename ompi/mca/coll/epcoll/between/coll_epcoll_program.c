/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Programs: how builders append steps, and how one is gone through.
 *
 * Called by builders, by the layer between for blocking calls, and by the layer pending.
 *
 * Tests: coll_layout, coll_pending, coll_told, death (later)
 */

#include "ompi_config.h"

#include "coll_epcoll_now.h"
#include "coll_epcoll_step.h"

#include "mpi.h"

#include <stdlib.h>

/** Bytes of a room that are kept for the next call. */
#define ROOM_KEPT ((size_t) 64 * 1024)

/** Steps that are kept likewise: an allgather has some for each process. */
#define STEPS_KEPT 256

/* ---- appending ------------------------------------------------------------------------------- */

/** Room for one more.  @return false: no memory */
static bool program_grow(void **array, size_t each, uint32_t count, uint32_t *room)
{
    void *more;

    if (OPAL_LIKELY(count < *room)) {
        return true;
    }
    more = realloc(*array, each * (0 == *room ? 8 : 2 * (size_t) *room));
    if (NULL == more) {
        return false;
    }
    *array = more;
    *room = 0 == *room ? 8 : 2 * *room;
    return true;
}

/** A step at the end.  @return NULL: no memory */
static mca_coll_epcoll_step_t *program_append(mca_coll_epcoll_program_t *program,
                                              mca_coll_epcoll_step_kind_t kind, int rank)
{
    void *array = program->step;
    mca_coll_epcoll_step_t *step;

    if (0 != program->error) {
        return NULL;
    }
    if (!program_grow(&array, sizeof(*step), program->steps, &program->step_room)) {
        program->error = MPI_ERR_NO_MEM;
        return NULL;
    }
    program->step = array;
    step = &program->step[program->steps++];
    step->kind = kind;
    step->rank = rank;
    step->request = MPI_REQUEST_NULL;
    return step;
}

static mca_coll_epcoll_buffer_t buffer_of(const mca_coll_epcoll_vector_t *vector)
{
    return (mca_coll_epcoll_buffer_t){.address = vector->address,
                                      .count = vector->count,
                                      .type = vector->type};
}

void mca_coll_epcoll_append_local(mca_coll_epcoll_program_t *program,
                                  const mca_coll_epcoll_call_t *call,
                                  const mca_coll_epcoll_plan_t *plan)
{
    void *array = program->part;
    mca_coll_epcoll_step_t *step = program_append(program, EPCOLL_STEP_LOCAL, 0);
    mca_coll_epcoll_part_t *part;

    if (NULL == step) {
        return;
    }
    if (!program_grow(&array, sizeof(*part), program->parts, &program->part_room)) {
        program->error = MPI_ERR_NO_MEM;
        return;
    }
    program->part = array;
    step->first = program->parts;
    part = &program->part[program->parts++];
    part->call = *call;
    part->call.said = mca_coll_epcoll_word_of(program->call);
    part->has_plan = NULL != plan;
    if (NULL != plan) {
        part->plan = *plan;
    }
}

void mca_coll_epcoll_append_send(mca_coll_epcoll_program_t *program,
                                 const mca_coll_epcoll_vector_t *vector, int rank)
{
    mca_coll_epcoll_step_t *step = program_append(program, EPCOLL_STEP_SEND, rank);

    if (NULL != step) {
        step->from = buffer_of(vector);
    }
}

void mca_coll_epcoll_append_receive(mca_coll_epcoll_program_t *program,
                                    const mca_coll_epcoll_vector_t *vector, int rank)
{
    mca_coll_epcoll_step_t *step = program_append(program, EPCOLL_STEP_RECEIVE, rank);

    if (NULL != step) {
        step->into = buffer_of(vector);
    }
}

void mca_coll_epcoll_append_wait(mca_coll_epcoll_program_t *program)
{
    (void) program_append(program, EPCOLL_STEP_WAIT, 0);
}

void mca_coll_epcoll_append_reduce(mca_coll_epcoll_program_t *program,
                                   const mca_coll_epcoll_vector_t *from,
                                   const mca_coll_epcoll_vector_t *into)
{
    mca_coll_epcoll_step_t *step = program_append(program, EPCOLL_STEP_REDUCE, 0);

    if (NULL != step) {
        step->from = buffer_of(from);
        step->into = buffer_of(into);
    }
}

void mca_coll_epcoll_append_copy(mca_coll_epcoll_program_t *program,
                                 const mca_coll_epcoll_buffer_t *into,
                                 const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size)
{
    mca_coll_epcoll_step_t *step = program_append(program, EPCOLL_STEP_COPY, 0);

    if (NULL != step) {
        step->from = *from;
        step->into = *into;
        step->first = offset;
        step->size = size;
    }
}

void *mca_coll_epcoll_program_room(mca_coll_epcoll_program_t *program, uint32_t which,
                                   const ompi_datatype_t *type, size_t count)
{
    mca_coll_epcoll_room_t *room = program->is_now ? mca_coll_epcoll_now_rooms(program)
                                                   : program->room;
    void *address = NULL == room
                        ? NULL
                        : mca_coll_epcoll_room_of(&room[which], type, 0 == count ? 1 : count);

    if (NULL == address) {
        program->error = MPI_ERR_NO_MEM;
    }
    return address;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

int mca_coll_epcoll_program_begin(mca_coll_epcoll_program_t *program,
                                  mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call,
                                  mca_coll_epcoll_channel_t *channel, int tag)
{
    int rc;

    program->is_now = false;
    program->handle = handle;
    program->call = call;
    program->builder = mca_coll_epcoll_builders[call->kind];
    program->channel = channel;
    program->member = &program->own;
    program->tag = tag;
    program->round = program->locals = 0;
    program->rounds = 1;
    program->error = MPI_SUCCESS;
    program->steps = program->parts = program->at = program->open = 0;
    program->is_shown = false;
    program->done = 0;
    program->waits = 0;
    rc = program->builder->begin(program);
    return MPI_SUCCESS == rc ? program->error : rc;
}

void mca_coll_epcoll_program_enter(mca_coll_epcoll_program_t *program)
{
    program->own = program->channel->member;
    program->own.number = mca_coll_epcoll_channel_enter(program->channel, program->locals);
}

/** It fails: nothing more is begun, and what has begun ends.  @return the error code */
static void program_fail(mca_coll_epcoll_program_t *program, int rc)
{
    rc = mca_coll_epcoll_failed(program->handle, program->member, rc);
    mca_coll_epcoll_break_all(program->handle, rc);
    program->error = rc;
    if (program->is_shown) {
        mca_coll_epcoll_local_close(&program->running, rc);
        program->is_shown = false;
    }
}

/** Nothing of it is under way any more?  @return EPCOLL_NOTHING, or its error */
static int give_up(mca_coll_epcoll_program_t *program)
{
    int rc;

    program->at = program->steps; /* those that have not begun are as good as over */
    mca_coll_epcoll_step_withdraw(program);
    while (EPCOLL_NOTHING != (rc = mca_coll_epcoll_step_messages(program))) {
        if (MPI_SUCCESS == rc) {
            return program->error;
        }
        ++program->open; /* it is not why we have failed */
    }
    return rc;
}

/** The next round, or the end.  @return MPI_SUCCESS: the end; EPCOLL_SOME; EPCOLL_NOTHING; an
 * error */
static int turn_over(mca_coll_epcoll_program_t *program)
{
    const int rc = mca_coll_epcoll_step_messages(program);

    if (MPI_SUCCESS != rc || program->round == program->rounds) {
        return rc;
    }
    program->steps = program->parts = program->at = program->open = 0;
    program->builder->round(program);
    ++program->round;
    return MPI_SUCCESS == program->error ? EPCOLL_SOME : program->error;
}

/** Has another member of the block failed?  Then what we wait for may never come. */
static int look_broken(const mca_coll_epcoll_program_t *program)
{
    /* Relaxed: nothing but the word itself is read by it. */
    const int why = atomic_load_explicit(program->member->broken, memory_order_relaxed);

    return 0 == why ? EPCOLL_NOTHING : why;
}

/** Likewise, or is one lost, so that others do not come?  Messages end by themselves then. */
static int look_in_vain(mca_coll_epcoll_program_t *program)
{
    int why = look_broken(program);

    if (EPCOLL_NOTHING == why) {
        why = mca_coll_epcoll_in_vain(program->handle, 0 == ++program->waits % EPCOLL_WAITS);
        why = 0 == why ? EPCOLL_NOTHING : why;
    }
    return why;
}

int mca_coll_epcoll_program_step(mca_coll_epcoll_program_t *program, uint32_t most)
{
    int result = EPCOLL_NOTHING, rc = EPCOLL_SOME;

    if (OPAL_UNLIKELY(MPI_SUCCESS != program->error)) {
        return give_up(program);
    }
    if (OPAL_UNLIKELY(0 == program->round)) {
        rc = look_broken(program);
        rc = EPCOLL_NOTHING == rc ? EPCOLL_SOME : rc;
    }
    program->is_enough = false;
    while (EPCOLL_SOME == rc && !program->is_enough) {
        if (program->at == program->steps) {
            rc = turn_over(program);
            if (MPI_SUCCESS == rc) {
                return rc;
            }
        } else {
            rc = mca_coll_epcoll_step_go_on(program, most);
            if (MPI_SUCCESS == rc) {
                ++program->at;
                program->done = 0;
                rc = EPCOLL_SOME;
            }
        }
        result = EPCOLL_SOME == rc ? rc : result;
    }
    if (EPCOLL_NOTHING == rc) {
        rc = look_in_vain(program);
    }
    if (OPAL_LIKELY(EPCOLL_NOTHING == rc || EPCOLL_SOME == rc)) {
        return result;
    }
    program_fail(program, rc);
    return give_up(program);
}

/* ---- the end --------------------------------------------------------------------------------- */

/** It is over: steps as many as the group has processes are not kept. */
static void trim_steps(mca_coll_epcoll_program_t *program)
{
    if (STEPS_KEPT < program->step_room) {
        free(program->step);
        program->step = NULL;
        program->step_room = program->steps = program->at = program->open = 0;
    }
}

void mca_coll_epcoll_program_trim(mca_coll_epcoll_program_t *program)
{
    trim_steps(program);
    for (uint32_t i = 0; i < EPCOLL_PROGRAM_ROOMS; ++i) {
        mca_coll_epcoll_room_trim(&program->room[i], ROOM_KEPT);
    }
}

void mca_coll_epcoll_program_end(mca_coll_epcoll_program_t *program)
{
    for (uint32_t i = 0; i < EPCOLL_PROGRAM_ROOMS; ++i) {
        free(program->room[i].memory);
    }
    free(program->step);
    free(program->part);
}
