/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The steps of a schedule.
 *
 * Called by coll_epcoll_schedule.c.
 *
 * Tests: coll_layout, coll_pending
 */

#include "ompi_config.h"

#include "coll_epcoll_step.h"

#include "mpi.h"

/** Bytes that are copied or reduced at a time, when another thread may be the one that
 * progresses. */
#define STEP_BYTES ((size_t) 64 * 1024)

/** Less than that is done together with other steps. */
#define STEP_BYTES_LITTLE ((size_t) 4096)

/* ---- among the members of the process -------------------------------------------------------- */

/** May it be published now? */
static int may_publish(mca_coll_epcoll_schedule_t *schedule)
{
    return mca_coll_epcoll_sequence_may_begin(schedule->sequence, schedule->member->seq)
               ? MPI_SUCCESS
               : EPCOLL_NOTHING;
}

/** They see it no more. */
static void local_over(mca_coll_epcoll_schedule_t *schedule)
{
    epcoll_member_t *member = schedule->member;
    const bool all_arrived = schedule->running.seen == member->count;

    schedule->is_published = false;
    mca_coll_epcoll_sequence_complete(schedule->sequence, member->seq++, all_arrived);
}

static int step_local(mca_coll_epcoll_schedule_t *schedule, const mca_coll_epcoll_step_t *step,
                      uint32_t most)
{
    mca_coll_epcoll_part_t *part = &schedule->part[step->first];
    int rc;

    if (!schedule->is_published) {
        rc = may_publish(schedule);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
        part->call.plan = part->has_plan ? &part->plan : NULL;
        if (part->has_plan) {
            mca_coll_epcoll_chunks_publish(&schedule->running, schedule->member, &part->call);
        } else {
            mca_coll_epcoll_local_publish(&schedule->running, schedule->member, &part->call);
        }
        schedule->is_published = true;
    }
    rc = mca_coll_epcoll_local_step(&schedule->running, most);
    if (NULL != schedule->running.ops && EPCOLL_NOTHING != rc) {
        schedule->is_enough = true;
    }
    if (MPI_SUCCESS == rc) {
        local_over(schedule);
    }
    return rc;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int step_message(mca_coll_epcoll_schedule_t *schedule, mca_coll_epcoll_step_t *step)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    ompi_communicator_t *comm = schedule->handle->view.comm;
    const int client = mca_coll_epcoll_component.client;

    return EPCOLL_STEP_SEND == step->kind
               ? engine->isend(comm, client, step->from.address, step->from.count, step->from.type,
                               step->rank, schedule->tag, &step->request)
               : engine->irecv(comm, client, step->into.address, step->into.count, step->into.type,
                               step->rank, schedule->tag, &step->request);
}

int mca_coll_epcoll_step_messages(mca_coll_epcoll_schedule_t *schedule)
{
    int rc = MPI_SUCCESS;

    for (; schedule->open < schedule->at; ++schedule->open) {
        ompi_request_t **request = &schedule->step[schedule->open].request;

        if (!mca_coll_epcoll_is_complete(*request)) {
            return EPCOLL_NOTHING;
        }
        rc = mca_coll_epcoll_wait_for(schedule->handle, request, MPI_SUCCESS);
        if (MPI_SUCCESS != rc) {
            return rc;
        }
    }
    return MPI_SUCCESS;
}

void mca_coll_epcoll_step_cancel(mca_coll_epcoll_schedule_t *schedule)
{
    for (uint32_t i = schedule->open; i < schedule->steps; ++i) {
        mca_coll_epcoll_step_t *step = &schedule->step[i];

        if (!mca_coll_epcoll_is_complete(step->request)) {
            (void) ompi_request_cancel(step->request);
        }
    }
}

/* ---- what is done alone ---------------------------------------------------------------------- */

/** How much of it is done now?  So little that another thread that progresses this endpoint
 * continues soon.
 * @param each  bytes of one */
static size_t step_now(mca_coll_epcoll_schedule_t *schedule, size_t all, size_t each, uint32_t most)
{
    const size_t left = all - schedule->done, limit = STEP_BYTES / (0 == each ? 1 : each) + 1;

    if (left * each < STEP_BYTES_LITTLE) {
        return left;
    }
    schedule->is_enough = true;
    return 0 == most ? 0 : left < limit ? left : limit;
}

static int step_reduce(mca_coll_epcoll_schedule_t *schedule, const mca_coll_epcoll_step_t *step,
                       uint32_t most)
{
    ompi_datatype_t *type = step->into.type;
    const size_t count = step_now(schedule, step->into.count, type->super.size, most);
    const ptrdiff_t away = (ptrdiff_t) schedule->done * mca_coll_epcoll_extent(type);

    if (0 < count) {
        ompi_op_reduce(schedule->call->op, mca_coll_epcoll_away(step->from.address, away),
                       mca_coll_epcoll_away(step->into.address, away),
                       (mca_coll_epcoll_count_t) count, type);
    }
    schedule->done += count;
    return schedule->done < step->into.count ? EPCOLL_SOME : MPI_SUCCESS;
}

static int step_copy(mca_coll_epcoll_schedule_t *schedule, const mca_coll_epcoll_step_t *step,
                     uint32_t most)
{
    const size_t size = step_now(schedule, step->size, 1, most);
    const int rc = mca_coll_epcoll_copy_part(&step->into, &step->from, step->first + schedule->done,
                                             size);

    schedule->done += size;
    return MPI_SUCCESS == rc && schedule->done < step->size ? EPCOLL_SOME : rc;
}

/* ---- all of them ----------------------------------------------------------------------------- */

int mca_coll_epcoll_step_progress(mca_coll_epcoll_schedule_t *schedule, uint32_t most)
{
    mca_coll_epcoll_step_t *step = &schedule->step[schedule->at];

    switch (step->kind) {
    case EPCOLL_STEP_LOCAL:
        return step_local(schedule, step, most);
    case EPCOLL_STEP_WAIT:
        return mca_coll_epcoll_step_messages(schedule);
    case EPCOLL_STEP_REDUCE:
        return step_reduce(schedule, step, most);
    case EPCOLL_STEP_COPY:
        return step_copy(schedule, step, most);
    default:
        return step_message(schedule, step);
    }
}
