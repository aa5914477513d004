/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Programs of reduce and allreduce.  Each rail has a slice of the vector: within the process its
 * part is put together in its own buffer, from where its messages go to the same rail of other
 * processes; in the end members copy from the rails' buffers.  What fits in a slot goes to the
 * leader, and back; blocking calls have coll_epcoll_short.c for that.
 *
 * Called by coll_epcoll_program.c.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_between.h"
#include "coll_epcoll_program.h"
#include "coll_epcoll_rails.h"
#include "coll_epcoll_stage.h"

#include "mpi.h"

/** Rooms: of what comes in messages, and of what a rail puts together. */
enum { ROOM_COME, ROOM_CALL };

typedef struct fold_t {
    mca_coll_epcoll_rails_t rails;
    size_t most; /**< elements of a round */
    bool is_short;
} fold_t;

_Static_assert(sizeof(fold_t) <= EPCOLL_PROGRAM_STATE, "a builder's state");

static fold_t *fold_of(mca_coll_epcoll_program_t *program)
{
    return (fold_t *) program->state;
}

static void party_fold(mca_coll_epcoll_program_t *program, const mca_coll_epcoll_vector_t *vector)
{
    const mca_coll_epcoll_party_t *party = &fold_of(program)->rails.party;

    if (EPCOLL_REDUCE == program->call->kind) {
        mca_coll_epcoll_stage_reduce(program, party, vector, ROOM_COME);
    } else {
        mca_coll_epcoll_stage_allreduce(program, party, vector, ROOM_COME);
        mca_coll_epcoll_program_wait(program);
    }
}

/* ---- what fits in a slot --------------------------------------------------------------------- */

/** From the leader to all of the process. */
static void build_fold_broadcast(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_call_t *call = program->call;
    const fold_t *fold = fold_of(program);
    const bool leads = fold->rails.leader == program->handle->member.index;
    const mca_coll_epcoll_call_t part = {.kind = EPCOLL_BCAST,
                                         .root = (int) fold->rails.leader,
                                         .bytes = call->bytes,
                                         .send = leads ? call->recv : NULL,
                                         .send_count = leads ? call->recv_count : 0,
                                         .send_type = leads ? call->recv_type : NULL,
                                         .recv = leads ? NULL : call->recv,
                                         .recv_count = leads ? 0 : call->recv_count,
                                         .recv_type = leads ? NULL : call->recv_type};

    mca_coll_epcoll_program_local(program, &part, NULL);
}

static void short_round(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_handle_t *handle = program->handle;
    const mca_coll_epcoll_call_t *call = program->call;
    const fold_t *fold = fold_of(program);
    const bool leads = fold->rails.leader == handle->member.index;
    const bool keeps = EPCOLL_ALLREDUCE == call->kind || mca_coll_epcoll_rank(handle) == call->root;
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_REDUCE,
                                   .root = (int) fold->rails.leader,
                                   .send = call->in_place ? call->recv : call->send,
                                   .recv_count = call->recv_count,
                                   .recv_type = call->recv_type,
                                   .op = call->op,
                                   .bytes = call->bytes};
    mca_coll_epcoll_vector_t vector = {.count = call->recv_count, .type = call->recv_type};

    if (leads) {
        vector.address = part.recv = keeps ? call->recv
                                           : mca_coll_epcoll_program_room(program, ROOM_CALL,
                                                                          call->recv_type,
                                                                          call->recv_count);
    }
    if (1 < handle->member.count) {
        mca_coll_epcoll_program_local(program, &part, NULL);
    } else {
        mca_coll_epcoll_stage_settle(program, (void *) (uintptr_t) part.send, &vector);
    }
    if (leads) {
        party_fold(program, &vector);
    }
    if (EPCOLL_ALLREDUCE == call->kind && 1 < handle->member.count) {
        build_fold_broadcast(program);
    }
}

/* ---- what is longer -------------------------------------------------------------------------- */

/** Do members get their result from the rails? */
static bool build_fold_spreads(const mca_coll_epcoll_program_t *program,
                               const mca_coll_epcoll_rails_t *rails)
{
    return EPCOLL_ALLREDUCE == program->call->kind
               ? 1 < program->handle->member.count
               : rails->party.home == mca_coll_epcoll_layout(program->handle)->own
                     && 1 < rails->rails;
}

/** Where a member's part of a round is put together, as if all of the round's elements were
 * there. */
static char *build_fold_place(mca_coll_epcoll_program_t *program,
                              const mca_coll_epcoll_plan_t *plan, ptrdiff_t away)
{
    const mca_coll_epcoll_call_t *call = program->call;
    const mca_coll_epcoll_rails_t *rails = &fold_of(program)->rails;
    mca_coll_epcoll_vector_t slice;

    if (EPCOLL_ALLREDUCE == call->kind || mca_coll_epcoll_rank(program->handle) == call->root) {
        return mca_coll_epcoll_away(call->recv, away);
    }
    if (!rails->is_rail) {
        return NULL;
    }
    slice = mca_coll_epcoll_own_slice(rails, plan, NULL, call->recv_type);
    return (char *) mca_coll_epcoll_program_room(program, ROOM_CALL, call->recv_type, slice.count)
           - (intptr_t) slice.address;
}

static void long_round(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_call_t *call = program->call;
    const fold_t *fold = fold_of(program);
    const mca_coll_epcoll_rails_t *rails = &fold->rails;
    ompi_datatype_t *type = call->recv_type;
    const size_t done = program->round * fold->most, left = call->recv_count - done;
    const size_t count = left < fold->most ? left : fold->most;
    const ptrdiff_t away = (ptrdiff_t) done * mca_coll_epcoll_extent(type);
    mca_coll_epcoll_plan_t plan = mca_coll_epcoll_slices(rails, type->super.size, count);
    char *recv = build_fold_place(program, &plan, away);
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
    mca_coll_epcoll_program_local(program, &part, &plan);
    if (rails->is_rail) {
        const mca_coll_epcoll_vector_t slice = mca_coll_epcoll_own_slice(rails, &plan, recv, type);

        party_fold(program, &slice);
    }
    if (!build_fold_spreads(program, rails)) {
        return;
    }
    plan.family = &mca_coll_epcoll_carry;
    plan.wants = EPCOLL_ALLREDUCE == call->kind
                 || mca_coll_epcoll_rank(program->handle) == call->root;
    plan.from = plan.into = recv;
    plan.from_count = plan.into_count = count;
    plan.from_type = plan.into_type = type;
    mca_coll_epcoll_program_local(program,
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

static int build_fold_begin(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_call_t *call = program->call;
    const bool shares = 1 < program->handle->member.count;
    fold_t *fold = fold_of(program);

    fold->is_short = mca_coll_epcoll_is_short(call);
    mca_coll_epcoll_rails_begin(&fold->rails, program->handle, call,
                                fold->is_short ? 0 : call->bytes);
    if (fold->is_short) {
        program->locals = shares ? (EPCOLL_ALLREDUCE == call->kind ? 2 : 1) : 0;
        return MPI_SUCCESS;
    }
    fold->most = mca_coll_epcoll_room_elements(call->recv_type) * fold->rails.rails;
    program->rounds = (call->recv_count + fold->most - 1) / fold->most;
    program->locals = program->rounds * (1 + build_fold_spreads(program, &fold->rails));
    return MPI_SUCCESS;
}

static void append_round(mca_coll_epcoll_program_t *program)
{
    if (fold_of(program)->is_short) {
        short_round(program);
    } else {
        long_round(program);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allreduce = {.serves = build_fold_serves,
                                                                   .begin = build_fold_begin,
                                                                   .round = append_round};
const mca_coll_epcoll_builder_t mca_coll_epcoll_build_reduce = {.serves = build_fold_serves,
                                                                .begin = build_fold_begin,
                                                                .round = append_round};
