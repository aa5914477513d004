/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of reduce and allreduce.  The vector is cut in slices, one for each of some members of
 * the process: members combine a slice in its owner's buffer; the owner exchanges messages with the
 * owners of the slice in other processes; in the end members copy the slices from the owners'
 * buffers.  What fits in a slot goes to the leader, and back; blocking calls have
 * coll_epcoll_hier_small.c for that.
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

/** Scratch buffers: of received vectors, and of the combined slice. */
enum { SCRATCH_RECV, SCRATCH_RESULT };

typedef struct reduce_state_t {
    mca_coll_epcoll_slicing_t slices;
    size_t most; /**< elements of a round */
    bool is_small;
} reduce_state_t;

_Static_assert(sizeof(reduce_state_t) <= EPCOLL_SCHEDULE_STATE, "a builder's state");

static reduce_state_t *reduce_state(mca_coll_epcoll_schedule_t *schedule)
{
    return (reduce_state_t *) schedule->state;
}

static void partners_reduce(mca_coll_epcoll_schedule_t *schedule,
                            const mca_coll_epcoll_vector_t *vector)
{
    const mca_coll_epcoll_partners_t *partners = &reduce_state(schedule)->slices.partners;

    if (EPCOLL_REDUCE == schedule->call->kind) {
        mca_coll_epcoll_phase_reduce(schedule, partners, vector, SCRATCH_RECV);
    } else {
        mca_coll_epcoll_phase_allreduce(schedule, partners, vector, SCRATCH_RECV);
        mca_coll_epcoll_schedule_wait(schedule);
    }
}

/* ---- what fits in a slot --------------------------------------------------------------------- */

/** From the leader to all of the process. */
static void build_reduce_bcast(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const reduce_state_t *state = reduce_state(schedule);
    const bool leads = state->slices.leader == schedule->handle->view.member.index;
    const mca_coll_epcoll_call_t part = {.kind = EPCOLL_BCAST,
                                         .root = (int) state->slices.leader,
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
    const reduce_state_t *state = reduce_state(schedule);
    const bool leads = state->slices.leader == handle->view.member.index;
    const bool keeps = EPCOLL_ALLREDUCE == call->kind || mca_coll_epcoll_rank(handle) == call->root;
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_REDUCE,
                                   .root = (int) state->slices.leader,
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
    if (1 < handle->view.member.count) {
        mca_coll_epcoll_schedule_local(schedule, &part, NULL);
    } else {
        mca_coll_epcoll_phase_settle(schedule, (void *) (uintptr_t) part.send, &vector);
    }
    if (leads) {
        partners_reduce(schedule, &vector);
    }
    if (EPCOLL_ALLREDUCE == call->kind && 1 < handle->view.member.count) {
        build_reduce_bcast(schedule);
    }
}

/* ---- what is longer -------------------------------------------------------------------------- */

/** Do members get their result from the slices? */
static bool build_reduce_spreads(const mca_coll_epcoll_schedule_t *schedule,
                                 const mca_coll_epcoll_slicing_t *slices)
{
    return EPCOLL_ALLREDUCE == schedule->call->kind
               ? 1 < schedule->handle->view.member.count
               : slices->partners.root_process == mca_coll_epcoll_layout(schedule->handle)->own
                     && 1 < slices->slices;
}

/** Where a member's part of a round is put together, as if all of the round's elements were
 * there. */
static char *build_reduce_place(mca_coll_epcoll_schedule_t *schedule,
                                const mca_coll_epcoll_plan_t *plan, ptrdiff_t away)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const mca_coll_epcoll_slicing_t *slices = &reduce_state(schedule)->slices;
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
    const reduce_state_t *state = reduce_state(schedule);
    const mca_coll_epcoll_slicing_t *slices = &state->slices;
    ompi_datatype_t *type = call->recv_type;
    const size_t done = schedule->round * state->most, left = call->recv_count - done;
    const size_t count = left < state->most ? left : state->most;
    const ptrdiff_t away = (ptrdiff_t) done * mca_coll_epcoll_extent(type);
    mca_coll_epcoll_plan_t plan = mca_coll_epcoll_slicing_plan(slices, type->super.size, count);
    char *recv = build_reduce_place(schedule, &plan, away);
    mca_coll_epcoll_call_t part = {.kind = call->kind,
                                   .root = call->root,
                                   .send = (const char *) (call->in_place ? call->recv : call->send)
                                           + away,
                                   .recv = recv,
                                   .recv_count = count,
                                   .recv_type = type,
                                   .op = call->op,
                                   .bytes = count * type->super.size};

    plan.ops = &mca_coll_epcoll_reduce_ops;
    mca_coll_epcoll_schedule_local(schedule, &part, &plan);
    if (slices->has_slice) {
        const mca_coll_epcoll_vector_t slice = mca_coll_epcoll_own_slice(slices, &plan, recv, type);

        partners_reduce(schedule, &slice);
    }
    if (!build_reduce_spreads(schedule, slices)) {
        return;
    }
    plan.ops = &mca_coll_epcoll_plan_copy_ops;
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

static bool build_reduce_serves(const mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_layout(handle)->is_ordered || ompi_op_is_commute(call->op);
}

static int build_reduce_begin(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const bool shares = 1 < schedule->handle->view.member.count;
    reduce_state_t *state = reduce_state(schedule);

    state->is_small = mca_coll_epcoll_is_hier_small(call);
    mca_coll_epcoll_slicing_begin(&state->slices, schedule->handle, call,
                                  state->is_small ? 0 : call->bytes);
    if (state->is_small) {
        schedule->locals = shares ? (EPCOLL_ALLREDUCE == call->kind ? 2 : 1) : 0;
        return MPI_SUCCESS;
    }
    state->most = mca_coll_epcoll_scratch_elements(call->recv_type) * state->slices.slices;
    schedule->rounds = (call->recv_count + state->most - 1) / state->most;
    schedule->locals = schedule->rounds * (1 + build_reduce_spreads(schedule, &state->slices));
    return MPI_SUCCESS;
}

static void append_round(mca_coll_epcoll_schedule_t *schedule)
{
    if (reduce_state(schedule)->is_small) {
        small_round(schedule);
    } else {
        long_round(schedule);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allreduce = {.serves = build_reduce_serves,
                                                                   .begin = build_reduce_begin,
                                                                   .round = append_round};
const mca_coll_epcoll_builder_t mca_coll_epcoll_build_reduce = {.serves = build_reduce_serves,
                                                                .begin = build_reduce_begin,
                                                                .round = append_round};
