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
 * Called by coll_epcoll_schedule.h, coll_epcoll_hier.c and coll_epcoll_hier_small.c.
 *
 * Tests: coll_layout, coll_told, coll_nodes, death_coll
 */

#include "ompi_config.h"

#include "coll_epcoll_immediate.h"

#include "mpi.h"

#include <stdlib.h>

/* ---- messages -------------------------------------------------------------------------------- */

/** Room for one more request.  @return NULL: no memory, and the schedule fails */
static ompi_request_t **immediate_request(mca_coll_epcoll_schedule_t *schedule)
{
    ompi_request_t **more;

    if (OPAL_LIKELY(schedule->open < schedule->request_capacity)) {
        return &schedule->request[schedule->open];
    }
    more = malloc(2 * (size_t) schedule->request_capacity * sizeof(*more));
    if (NULL == more) {
        schedule->error = MPI_ERR_NO_MEM;
        return NULL;
    }
    memcpy(more, schedule->request, schedule->open * sizeof(*more));
    if (EPCOLL_IMMEDIATE_REQUESTS < schedule->request_capacity) { /* else it is few */
        free(schedule->request);
    }
    schedule->request = more;
    schedule->request_capacity *= 2;
    return &more[schedule->open];
}

void mca_coll_epcoll_immediate_send(mca_coll_epcoll_schedule_t *schedule,
                                    const mca_coll_epcoll_vector_t *vector, int rank)
{
    ompi_request_t **request;

    if (OPAL_UNLIKELY(MPI_SUCCESS != schedule->error)
        || NULL == (request = immediate_request(schedule))) {
        return;
    }
    *request = MPI_REQUEST_NULL;
    schedule->error = mca_coll_epcoll_component.engine->isend(schedule->handle->view.comm,
                                                              mca_coll_epcoll_component.client,
                                                              vector->address, vector->count,
                                                              vector->type, rank, schedule->tag,
                                                              request);
    schedule->open += MPI_REQUEST_NULL != *request;
}

void mca_coll_epcoll_immediate_receive(mca_coll_epcoll_schedule_t *schedule,
                                       const mca_coll_epcoll_vector_t *vector, int rank)
{
    ompi_request_t **request;

    if (OPAL_UNLIKELY(MPI_SUCCESS != schedule->error)
        || NULL == (request = immediate_request(schedule))) {
        return;
    }
    *request = MPI_REQUEST_NULL;
    schedule->error = mca_coll_epcoll_component.engine->irecv(schedule->handle->view.comm,
                                                              mca_coll_epcoll_component.client,
                                                              vector->address, vector->count,
                                                              vector->type, rank, schedule->tag,
                                                              request);
    schedule->open += MPI_REQUEST_NULL != *request;
}

void mca_coll_epcoll_immediate_wait(mca_coll_epcoll_schedule_t *schedule)
{
    const uint32_t begun = schedule->open;
    int rc = schedule->error;

    for (uint32_t i = 0; i < begun; ++i) {
        rc = mca_coll_epcoll_wait_for(schedule->handle, &schedule->request[i], rc);
    }
    schedule->open = 0;
    schedule->error = rc;
}

/* ---- among the members of the process -------------------------------------------------------- */

void mca_coll_epcoll_immediate_local(mca_coll_epcoll_schedule_t *schedule,
                                     const mca_coll_epcoll_call_t *call,
                                     const mca_coll_epcoll_plan_t *plan)
{
    mca_coll_epcoll_call_t part = *call;

    if (OPAL_UNLIKELY(MPI_SUCCESS != schedule->error)) {
        return;
    }
    part.signature = mca_coll_epcoll_signature_of(schedule->call);
    part.plan = plan;
    /* A part has a root by index, and the signature of the whole call, so slots are written by the
     * steps of nonblocking calls. */
    schedule->error = mca_coll_epcoll_local_execute(
        schedule->handle, &part,
        NULL != plan || !mca_coll_epcoll_local_fits(&schedule->handle->view.member, &part));
}

/* ---- what is done alone ---------------------------------------------------------------------- */

void mca_coll_epcoll_immediate_reduce(mca_coll_epcoll_schedule_t *schedule,
                                      const mca_coll_epcoll_vector_t *from,
                                      const mca_coll_epcoll_vector_t *into)
{
    if (OPAL_LIKELY(MPI_SUCCESS == schedule->error) && 0 < into->count) {
        ompi_op_reduce(schedule->call->op, from->address, into->address,
                       (mca_coll_epcoll_count_t) into->count, into->type);
    }
}

void mca_coll_epcoll_immediate_copy(mca_coll_epcoll_schedule_t *schedule,
                                    const mca_coll_epcoll_buffer_t *into,
                                    const mca_coll_epcoll_buffer_t *from, size_t offset,
                                    size_t size)
{
    if (OPAL_LIKELY(MPI_SUCCESS == schedule->error)) {
        schedule->error = mca_coll_epcoll_copy_part(into, from, offset, size);
    }
}

mca_coll_epcoll_scratch_t *mca_coll_epcoll_immediate_scratches(
    const mca_coll_epcoll_schedule_t *schedule)
{
    mca_coll_epcoll_lazy_t *more = mca_coll_epcoll_lazy(schedule->handle);

    return NULL == more ? NULL : more->scratch;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/** It has failed: notify the others before messages are waited for, which may never be matched. */
static void immediate_fail(mca_coll_epcoll_schedule_t *schedule)
{
    schedule->error = mca_coll_epcoll_ended(&schedule->handle->view, schedule->error);
    mca_coll_epcoll_break_all(schedule->handle, schedule->error);
}

int mca_coll_epcoll_immediate_end(mca_coll_epcoll_immediate_t *immediate)
{
    mca_coll_epcoll_schedule_t *schedule = &immediate->schedule;

    if (OPAL_UNLIKELY(MPI_SUCCESS != schedule->error)) {
        immediate_fail(schedule);
    }
    mca_coll_epcoll_immediate_wait(schedule);
    if (OPAL_UNLIKELY(immediate->requests != schedule->request)) {
        free(schedule->request);
    }
    return schedule->error;
}

int mca_coll_epcoll_immediate_run(mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_immediate_t immediate;
    mca_coll_epcoll_schedule_t *schedule = &immediate.schedule;
    mca_coll_epcoll_lazy_t *more;
    int rc;

    mca_coll_epcoll_immediate_begin(&immediate, handle, call);
    schedule->builder = mca_coll_epcoll_builders[call->kind];
    schedule->round = schedule->locals = 0;
    schedule->rounds = 1;
    schedule->error = schedule->builder->begin(schedule);
    for (; schedule->round < schedule->rounds && MPI_SUCCESS == schedule->error;
         ++schedule->round) {
        schedule->builder->round(schedule);
        mca_coll_epcoll_immediate_wait(schedule);
    }
    rc = mca_coll_epcoll_ended(&handle->view, mca_coll_epcoll_immediate_end(&immediate));
    more = mca_coll_epcoll_lazy_if_made(handle);
    for (uint32_t i = 0; i < EPCOLL_SCHEDULE_SCRATCHES && NULL != more; ++i) {
        mca_coll_epcoll_scratch_trim(&more->scratch[i], 2 * EPCOLL_SCRATCH_MAX);
    }
    return rc;
}
