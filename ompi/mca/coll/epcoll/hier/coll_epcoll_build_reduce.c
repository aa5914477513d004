/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of reduce and allreduce.  Each slice has a slice of the vector: within the process its
 * part is put together in its own buffer, from where its messages go to the same slice of other
 * processes; in the end members copy from the slices' buffers.  What fits in a slot goes to the
 * leader, and back; blocking calls have coll_epcoll_hier_small.c for that.
 *
 * Called by coll_epcoll_schedule.c.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_hier.h"
#include "coll_epcoll_schedule.h"
#include "coll_epcoll_slicing.h"
#include "coll_epcoll_phase.h"

#include "mpi.h"

/** Scratch buffers: of what comes in messages, and of what a slice puts together. */
enum { SCRATCH_RECV, SCRATCH_RESULT };

typedef struct fold_t {
    mca_coll_epcoll_slicing_t slices;
    size_t most; /**< elements of a round */
    bool is_small;
} fold_t;

_Static_assert(sizeof(fold_t) <= EPCOLL_SCHEDULE_STATE, "a builder's state");

static fold_t *fold_of(mca_coll_epcoll_schedule_t *schedule)
{
    return (fold_t *) schedule->state;
}

static void partners_reduce(mca_coll_epcoll_schedule_t *schedule,
                            const mca_coll_epcoll_vector_t *vector)
{
    const mca_coll_epcoll_partners_t *partners = &fold_of(schedule)->slices.partners;

    if (EPCOLL_REDUCE == schedule->call->kind) {
        mca_coll_epcoll_phase_reduce(schedule, partners, vector, SCRATCH_RECV);
    } else {
        mca_coll_epcoll_phase_allreduce(schedule, partners, vector, SCRATCH_RECV);
        mca_coll_epcoll_schedule_wait(schedule);
    }
}

/* ---- what fits in a slot --------------------------------------------------------------------- */

/** From the leader to all of the process. */
static void build_fold_broadcast(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const fold_t *fold = fold_of(schedule);
    const bool leads = fold->slices.leader == schedule->handle->member.index;
    const mca_coll_epcoll_call_t part = {.kind = EPCOLL_BCAST,
                                         .root = (int) fold->slices.leader,
                                         .bytes = call->bytes,
                                         .send = leads ? call->recv : NULL,
                                         .send_count = leads ? call->recv_count : 0,
                                         .send_type = leads ? call->recv_type : NULL,
                                         .recv = leads ? NULL : call->recv,
                                         .recv_count = leads ? 0 : call->recv_count,
                                         .recv_type = leads ? NULL : call->recv_type};

    mca_coll_epcoll_schedule_local(schedule, &part, NULL);
}

static void small_round(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    const mca_coll_epcoll_call_t *call = schedule->call;
    const fold_t *fold = fold_of(schedule);
    const bool leads = fold->slices.leader == handle->member.index;
    const bool keeps = EPCOLL_ALLREDUCE == call->kind || mca_coll_epcoll_rank(handle) == call->root;
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_REDUCE,
                                   .root = (int) fold->slices.leader,
                                   .send = call->in_place ? call->recv : call->send,
                                   .recv_count = call->recv_count,
                                   .recv_type = call->recv_type,
                                   .op = call->op,
                                   .bytes = call->bytes};
    mca_coll_epcoll_vector_t vector = {.count = call->recv_count, .type = call->recv_type};

    if (leads) {
        vector.address = part.recv = keeps ? call->recv
                                           : mca_coll_epcoll_schedule_scratch(schedule,
                                                                              SCRATCH_RESULT,
                                                                              call->recv_type,
                                                                              call->recv_count);
    }
    if (1 < handle->member.count) {
        mca_coll_epcoll_schedule_local(schedule, &part, NULL);
    } else {
        mca_coll_epcoll_phase_settle(schedule, (void *) (uintptr_t) part.send, &vector);
    }
    if (leads) {
        partners_reduce(schedule, &vector);
    }
    if (EPCOLL_ALLREDUCE == call->kind && 1 < handle->member.count) {
        build_fold_broadcast(schedule);
    }
}

/* ---- what is longer -------------------------------------------------------------------------- */

/** Do members get their result from the slices? */
static bool build_fold_spreads(const mca_coll_epcoll_schedule_t *schedule,
                               const mca_coll_epcoll_slicing_t *slices)
{
    return EPCOLL_ALLREDUCE == schedule->call->kind
               ? 1 < schedule->handle->member.count
               : slices->partners.root_process == mca_coll_epcoll_layout(schedule->handle)->own
                     && 1 < slices->slices;
}

/** Where a member's part of a round is put together, as if all of the round's elements were
 * there. */
static char *build_fold_place(mca_coll_epcoll_schedule_t *schedule,
                              const mca_coll_epcoll_plan_t *plan, ptrdiff_t away)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const mca_coll_epcoll_slicing_t *slices = &fold_of(schedule)->slices;
    mca_coll_epcoll_vector_t slice;

    if (EPCOLL_ALLREDUCE == call->kind || mca_coll_epcoll_rank(schedule->handle) == call->root) {
        return mca_coll_epcoll_away(call->recv, away);
    }
    if (!slices->has_slice) {
        return NULL;
    }
    slice = mca_coll_epcoll_own_slice(slices, plan, NULL, call->recv_type);
    return (char *) mca_coll_epcoll_schedule_scratch(schedule, SCRATCH_RESULT, call->recv_type,
                                                     slice.count)
           - (intptr_t) slice.address;
}

static void long_round(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const fold_t *fold = fold_of(schedule);
    const mca_coll_epcoll_slicing_t *slices = &fold->slices;
    ompi_datatype_t *type = call->recv_type;
    const size_t done = schedule->round * fold->most, left = call->recv_count - done;
    const size_t count = left < fold->most ? left : fold->most;
    const ptrdiff_t away = (ptrdiff_t) done * mca_coll_epcoll_extent(type);
    mca_coll_epcoll_plan_t plan = mca_coll_epcoll_slicing_plan(slices, type->super.size, count);
    char *recv = build_fold_place(schedule, &plan, away);
    mca_coll_epcoll_call_t part = {.kind = call->kind,
                                   .root = call->root,
                                   .send = (const char *) (call->in_place ? call->recv : call->send)
                                           + away,
                                   .recv = recv,
                                   .recv_count = count,
                                   .recv_type = type,
                                   .op = call->op,
                                   .bytes = count * type->super.size};

    plan.family = &mca_coll_epcoll_fold;
    mca_coll_epcoll_schedule_local(schedule, &part, &plan);
    if (slices->has_slice) {
        const mca_coll_epcoll_vector_t slice = mca_coll_epcoll_own_slice(slices, &plan, recv, type);

        partners_reduce(schedule, &slice);
    }
    if (!build_fold_spreads(schedule, slices)) {
        return;
    }
    plan.family = &mca_coll_epcoll_plan_copy;
    plan.wants = EPCOLL_ALLREDUCE == call->kind
                 || mca_coll_epcoll_rank(schedule->handle) == call->root;
    plan.from = plan.into = recv;
    plan.from_count = plan.into_count = count;
    plan.from_type = plan.into_type = type;
    mca_coll_epcoll_schedule_local(schedule,
                                   &(mca_coll_epcoll_call_t){
                                       .kind = call->kind, .root = call->root, .bytes = part.bytes},
                                   &plan);
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool build_fold_serves(const mca_coll_epcoll_handle_t *handle,
                              const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_layout(handle)->is_ordered || ompi_op_is_commute(call->op);
}

static int build_fold_begin(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const bool shares = 1 < schedule->handle->member.count;
    fold_t *fold = fold_of(schedule);

    fold->is_small = mca_coll_epcoll_is_hier_small(call);
    mca_coll_epcoll_slicing_begin(&fold->slices, schedule->handle, call,
                                  fold->is_small ? 0 : call->bytes);
    if (fold->is_small) {
        schedule->locals = shares ? (EPCOLL_ALLREDUCE == call->kind ? 2 : 1) : 0;
        return MPI_SUCCESS;
    }
    fold->most = mca_coll_epcoll_scratch_elements(call->recv_type) * fold->slices.slices;
    schedule->rounds = (call->recv_count + fold->most - 1) / fold->most;
    schedule->locals = schedule->rounds * (1 + build_fold_spreads(schedule, &fold->slices));
    return MPI_SUCCESS;
}

static void append_round(mca_coll_epcoll_schedule_t *schedule)
{
    if (fold_of(schedule)->is_small) {
        small_round(schedule);
    } else {
        long_round(schedule);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allreduce = {.serves = build_fold_serves,
                                                                   .begin = build_fold_begin,
                                                                   .round = append_round};
const mca_coll_epcoll_builder_t mca_coll_epcoll_build_reduce = {.serves = build_fold_serves,
                                                                .begin = build_fold_begin,
                                                                .round = append_round};
