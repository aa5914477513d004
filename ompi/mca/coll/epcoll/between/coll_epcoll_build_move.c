/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Programs of barrier, bcast and allgather.
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

_Static_assert(sizeof(mca_coll_epcoll_rails_t) <= EPCOLL_PROGRAM_STATE, "a builder's state");

static mca_coll_epcoll_rails_t *rails_of(mca_coll_epcoll_program_t *program)
{
    return (mca_coll_epcoll_rails_t *) program->state;
}

static bool build_move_shares(const mca_coll_epcoll_program_t *program)
{
    return 1 < program->handle->member.count;
}

/* ---- barrier --------------------------------------------------------------------------------- */

static int begin_barrier(mca_coll_epcoll_program_t *program)
{
    mca_coll_epcoll_rails_begin(rails_of(program), program->handle, program->call, 0);
    program->locals = build_move_shares(program) ? 2 : 0;
    return MPI_SUCCESS;
}

/** The leader hears all members, and tells them of all processes'. */
static void append_barrier(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_rails_t *rails = rails_of(program);
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_GATHER,
                                   .root = (int) rails->leader,
                                   .send_type = MPI_BYTE,
                                   .recv_type = MPI_BYTE};

    if (build_move_shares(program)) {
        mca_coll_epcoll_program_local(program, &part, NULL);
    }
    if (rails->is_rail) {
        mca_coll_epcoll_stage_barrier(program, &rails->party);
    }
    if (build_move_shares(program)) {
        part.kind = EPCOLL_BCAST;
        mca_coll_epcoll_program_local(program, &part, NULL);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_barrier = {.begin = begin_barrier,
                                                                 .round = append_barrier};

/* ---- bcast ----------------------------------------------------------------------------------- */

static int begin_bcast(mca_coll_epcoll_program_t *program)
{
    mca_coll_epcoll_rails_begin(rails_of(program), program->handle, program->call,
                                program->call->bytes);
    program->locals = build_move_shares(program) ? 1 : 0;
    return MPI_SUCCESS;
}

static mca_coll_epcoll_buffer_t buffer_of(const mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_call_t *call = program->call;
    const bool is_root = mca_coll_epcoll_rank(program->handle) == call->root;

    return (mca_coll_epcoll_buffer_t){.address = is_root ? (void *) (uintptr_t) call->send
                                                         : call->recv,
                                      .count = is_root ? call->send_count : call->recv_count,
                                      .type = is_root ? call->send_type : call->recv_type};
}

/** From the leader to the members of its process. */
static void append_within(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_rails_t *rails = rails_of(program);
    const mca_coll_epcoll_buffer_t buffer = buffer_of(program);
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_BCAST,
                                   .root = (int) rails->leader,
                                   .bytes = program->call->bytes};

    if (program->handle->member.index == rails->leader) {
        part.send = buffer.address;
        part.send_count = buffer.count;
        part.send_type = buffer.type;
    } else {
        part.recv = buffer.address;
        part.recv_count = buffer.count;
        part.recv_type = buffer.type;
    }
    if (build_move_shares(program)) {
        mca_coll_epcoll_program_local(program, &part, NULL);
    }
}

/** A rail's range of packed bytes, from where they lie, or by way of a room. */
static void append_slice(mca_coll_epcoll_program_t *program, const mca_coll_epcoll_plan_t *plan)
{
    const mca_coll_epcoll_rails_t *rails = rails_of(program);
    const mca_coll_epcoll_buffer_t buffer = buffer_of(program);
    const size_t first = mca_coll_epcoll_plan_begin(plan, rails->party.rail);
    const size_t size = mca_coll_epcoll_plan_begin(plan, rails->party.rail + 1) - first;
    const bool is_home = rails->party.home == mca_coll_epcoll_layout(program->handle)->own;
    char *flat = mca_coll_epcoll_flat(&buffer), *room = NULL;
    mca_coll_epcoll_vector_t vector = {.count = size, .type = MPI_BYTE};
    mca_coll_epcoll_buffer_t packed = {.count = first + size, .type = MPI_BYTE};

    if (NULL == flat) {
        room = mca_coll_epcoll_program_room(program, 0, MPI_BYTE, size);
    }
    vector.address = NULL == flat ? room : flat + first;
    packed.address = (void *) ((uintptr_t) room - first);
    if (NULL == flat && is_home) {
        mca_coll_epcoll_program_copy(program, &packed, &buffer, first, size);
    }
    mca_coll_epcoll_stage_bcast(program, &rails->party, &vector);
    if (NULL == flat && !is_home) {
        mca_coll_epcoll_program_copy(program, &buffer, &packed, first, size);
    }
}

/** Of one rail: typed, as the user has it; members of its process copy it while it is sent on. */
static void append_bcast(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_rails_t *rails = rails_of(program);
    const mca_coll_epcoll_call_t *call = program->call;
    const mca_coll_epcoll_buffer_t buffer = buffer_of(program);
    const bool is_home = rails->party.home == mca_coll_epcoll_layout(program->handle)->own;
    const mca_coll_epcoll_vector_t vector = {buffer.address, buffer.count, buffer.type};
    mca_coll_epcoll_plan_t plan;

    if (1 == rails->rails) {
        if (rails->is_rail) {
            mca_coll_epcoll_stage_bcast(program, &rails->party, &vector);
        }
        append_within(program);
        return;
    }
    if (is_home) {
        append_within(program);
    }
    plan = mca_coll_epcoll_slices(rails, 1, call->bytes);
    if (rails->is_rail) {
        append_slice(program, &plan);
    }
    if (is_home) {
        return;
    }
    plan.wants = true;
    plan.from = plan.into = buffer.address;
    plan.from_count = plan.into_count = buffer.count;
    plan.from_type = plan.into_type = buffer.type;
    mca_coll_epcoll_program_local(program,
                                  &(mca_coll_epcoll_call_t){.kind = EPCOLL_BCAST,
                                                            .root = call->root,
                                                            .bytes = call->bytes},
                                  &plan);
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_bcast = {.begin = begin_bcast,
                                                               .round = append_bcast};

/* ---- allgather ------------------------------------------------------------------------------- */

static int begin_allgather(mca_coll_epcoll_program_t *program)
{
    mca_coll_epcoll_rails_t *rails = rails_of(program);

    mca_coll_epcoll_rails_begin(rails, program->handle, program->call,
                                (uint64_t) program->call->bytes
                                    * mca_coll_epcoll_size(program->handle));
    program->locals = (rails->rails < program->handle->member.count) + build_move_shares(program);
    return MPI_SUCCESS;
}

/** Our own block to where it belongs. */
static void append_own(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_call_t *call = program->call;
    ompi_datatype_t *type = call->recv_type;
    const mca_coll_epcoll_buffer_t from = {.address = (void *) (uintptr_t) call->send,
                                           .count = call->send_count,
                                           .type = call->send_type};
    const size_t first = (size_t) mca_coll_epcoll_rank(program->handle) * call->recv_count;
    const mca_coll_epcoll_buffer_t into = {
        .address = mca_coll_epcoll_away(call->recv,
                                        (ptrdiff_t) first * mca_coll_epcoll_extent(type)),
        .count = call->recv_count,
        .type = type};

    if (!call->in_place) {
        mca_coll_epcoll_program_copy(program, &into, &from, 0, call->bytes);
    }
}

static void append_allgather(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_rails_t *rails = rails_of(program);
    const mca_coll_epcoll_call_t *call = program->call;
    const mca_coll_epcoll_call_t part = {.kind = EPCOLL_ALLGATHER, .bytes = call->bytes};
    mca_coll_epcoll_plan_t plan;

    append_own(program);
    if (rails->rails < program->handle->member.count) {
        plan = mca_coll_epcoll_collect(rails);
        mca_coll_epcoll_program_local(program, &part, &plan);
    }
    if (rails->is_rail) {
        mca_coll_epcoll_stage_allgather(program, &rails->party, call->recv, call->recv_count,
                                        call->recv_type, rails->rails);
    }
    if (build_move_shares(program)) {
        plan = mca_coll_epcoll_disperse(rails);
        mca_coll_epcoll_program_local(program, &part, &plan);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allgather = {.begin = begin_allgather,
                                                                   .round = append_allgather};
