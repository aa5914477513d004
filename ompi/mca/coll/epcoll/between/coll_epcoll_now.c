/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations that are done at once, and blocking calls by their builders.
 *
 * Called by coll_epcoll_program.h, coll_epcoll_between.c and coll_epcoll_short.c.
 *
 * Tests: coll_layout, coll_told, coll_nodes, death_coll
 */

#include "ompi_config.h"

#include "coll_epcoll_now.h"

#include "mpi.h"

#include <stdlib.h>

/* ---- messages -------------------------------------------------------------------------------- */

/** Room for one more request.  @return NULL: no memory, and the program fails */
static ompi_request_t **now_request(mca_coll_epcoll_program_t *program)
{
    ompi_request_t **more;

    if (OPAL_LIKELY(program->open < program->request_room)) {
        return &program->request[program->open];
    }
    more = malloc(2 * (size_t) program->request_room * sizeof(*more));
    if (NULL == more) {
        program->error = MPI_ERR_NO_MEM;
        return NULL;
    }
    memcpy(more, program->request, program->open * sizeof(*more));
    if (EPCOLL_NOW_FEW < program->request_room) { /* else it is few */
        free(program->request);
    }
    program->request = more;
    program->request_room *= 2;
    return &more[program->open];
}

void mca_coll_epcoll_now_send(mca_coll_epcoll_program_t *program,
                              const mca_coll_epcoll_vector_t *vector, int rank)
{
    ompi_request_t **request;

    if (OPAL_UNLIKELY(MPI_SUCCESS != program->error) || NULL == (request = now_request(program))) {
        return;
    }
    *request = MPI_REQUEST_NULL;
    program->error = mca_coll_epcoll_component.engine->isend(program->handle->comm,
                                                             mca_coll_epcoll_component.client,
                                                             vector->address, vector->count,
                                                             vector->type, rank, program->tag,
                                                             request);
    program->open += MPI_REQUEST_NULL != *request;
}

void mca_coll_epcoll_now_receive(mca_coll_epcoll_program_t *program,
                                 const mca_coll_epcoll_vector_t *vector, int rank)
{
    ompi_request_t **request;

    if (OPAL_UNLIKELY(MPI_SUCCESS != program->error) || NULL == (request = now_request(program))) {
        return;
    }
    *request = MPI_REQUEST_NULL;
    program->error = mca_coll_epcoll_component.engine->irecv(program->handle->comm,
                                                             mca_coll_epcoll_component.client,
                                                             vector->address, vector->count,
                                                             vector->type, rank, program->tag,
                                                             request);
    program->open += MPI_REQUEST_NULL != *request;
}

void mca_coll_epcoll_now_wait(mca_coll_epcoll_program_t *program)
{
    const uint32_t begun = program->open;
    int rc = program->error;

    for (uint32_t i = 0; i < begun; ++i) {
        rc = mca_coll_epcoll_wait_for(program->handle, &program->request[i], rc);
    }
    program->open = 0;
    program->error = rc;
}

/* ---- among the members of the process -------------------------------------------------------- */

/** A part in slots.  The steps are those of nonblocking calls, as a part is called by an index, and
 * says what the whole is. */
static int now_slots(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    epcoll_member_t *member = &handle->member;
    mca_coll_epcoll_running_t running;
    uint32_t polls = 0;
    int rc = epcoll_begin(member);

    if (OPAL_UNLIKELY(0 != rc)) {
        return mca_coll_epcoll_ended(handle, rc);
    }
    mca_coll_epcoll_local_show(&running, member, call);
    while (EPCOLL_NOTHING == (rc = mca_coll_epcoll_local_step(&running, UINT32_MAX))
           || EPCOLL_SOME == rc) {
        rc = EPCOLL_SOME == rc ? 0 : epcoll_backoff(member, &polls);
        if (0 != rc) {
            break;
        }
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        rc = mca_coll_epcoll_ended(handle, rc);
        mca_coll_epcoll_local_close(&running, rc);
        return rc;
    }
    if (running.seen == member->count) {
        epcoll_all_arrived(member);
    }
    epcoll_end(member);
    return mca_coll_epcoll_ended(handle, MPI_SUCCESS);
}

void mca_coll_epcoll_now_local(mca_coll_epcoll_program_t *program,
                               const mca_coll_epcoll_call_t *call,
                               const mca_coll_epcoll_plan_t *plan)
{
    mca_coll_epcoll_call_t part = *call;

    if (OPAL_UNLIKELY(MPI_SUCCESS != program->error)) {
        return;
    }
    part.said = mca_coll_epcoll_word_of(program->call);
    part.plan = plan;
    program->error = NULL == plan && mca_coll_epcoll_local_fits(&program->handle->member, &part)
                         ? now_slots(program->handle, &part)
                         : mca_coll_epcoll_pieces_run(program->handle, &part);
}

/* ---- what is done alone ---------------------------------------------------------------------- */

void mca_coll_epcoll_now_reduce(mca_coll_epcoll_program_t *program,
                                const mca_coll_epcoll_vector_t *from,
                                const mca_coll_epcoll_vector_t *into)
{
    if (OPAL_LIKELY(MPI_SUCCESS == program->error) && 0 < into->count) {
        ompi_op_reduce(program->call->op, from->address, into->address,
                       (mca_coll_epcoll_count_t) into->count, into->type);
    }
}

void mca_coll_epcoll_now_copy(mca_coll_epcoll_program_t *program,
                              const mca_coll_epcoll_buffer_t *into,
                              const mca_coll_epcoll_buffer_t *from, size_t offset, size_t size)
{
    if (OPAL_LIKELY(MPI_SUCCESS == program->error)) {
        program->error = mca_coll_epcoll_copy_part(into, from, offset, size);
    }
}

mca_coll_epcoll_room_t *mca_coll_epcoll_now_rooms(const mca_coll_epcoll_program_t *program)
{
    mca_coll_epcoll_more_t *more = mca_coll_epcoll_more(program->handle);

    return NULL == more ? NULL : more->room;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/** It has failed: the others are told before messages are waited for, which may never be met. */
static void now_fail(mca_coll_epcoll_program_t *program)
{
    program->error = mca_coll_epcoll_ended(program->handle, program->error);
    mca_coll_epcoll_break_all(program->handle, program->error);
}

int mca_coll_epcoll_now_end(mca_coll_epcoll_now_t *now)
{
    mca_coll_epcoll_program_t *program = &now->program;

    if (OPAL_UNLIKELY(MPI_SUCCESS != program->error)) {
        now_fail(program);
    }
    mca_coll_epcoll_now_wait(program);
    if (OPAL_UNLIKELY(now->few != program->request)) {
        free(program->request);
    }
    return program->error;
}

int mca_coll_epcoll_now_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_now_t now;
    mca_coll_epcoll_program_t *program = &now.program;
    mca_coll_epcoll_more_t *more;
    int rc;

    mca_coll_epcoll_now_begin(&now, handle, call);
    program->builder = mca_coll_epcoll_builders[call->kind];
    program->round = program->locals = 0;
    program->rounds = 1;
    program->error = program->builder->begin(program);
    for (; program->round < program->rounds && MPI_SUCCESS == program->error; ++program->round) {
        program->builder->round(program);
        mca_coll_epcoll_now_wait(program);
    }
    rc = mca_coll_epcoll_ended(handle, mca_coll_epcoll_now_end(&now));
    more = mca_coll_epcoll_has_more(handle);
    for (uint32_t i = 0; i < EPCOLL_PROGRAM_ROOMS && NULL != more; ++i) {
        mca_coll_epcoll_room_trim(&more->room[i], 2 * EPCOLL_ROOM_MOST);
    }
    return rc;
}
