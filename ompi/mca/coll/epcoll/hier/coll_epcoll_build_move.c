/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of barrier, bcast and allgather.
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

_Static_assert(sizeof(mca_coll_epcoll_slicing_t) <= EPCOLL_SCHEDULE_STATE, "a builder's state");

static mca_coll_epcoll_slicing_t *slices_of(mca_coll_epcoll_schedule_t *schedule)
{
    return (mca_coll_epcoll_slicing_t *) schedule->state;
}

static bool build_move_has_several(const mca_coll_epcoll_schedule_t *schedule)
{
    return 1 < schedule->handle->view.member.count;
}

/* ---- barrier --------------------------------------------------------------------------------- */

static int begin_barrier(mca_coll_epcoll_schedule_t *schedule)
{
    mca_coll_epcoll_slicing_begin(slices_of(schedule), schedule->handle, schedule->call, 0);
    schedule->locals = build_move_has_several(schedule) ? 2 : 0;
    return MPI_SUCCESS;
}

/** The leader waits for all members, then for the other processes, and releases its members. */
static void append_barrier(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_slicing_t *slices = slices_of(schedule);
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_GATHER,
                                   .root = (int) slices->leader,
                                   .send_type = MPI_BYTE,
                                   .recv_type = MPI_BYTE};

    if (build_move_has_several(schedule)) {
        mca_coll_epcoll_schedule_local(schedule, &part, NULL);
    }
    if (slices->has_slice) {
        mca_coll_epcoll_phase_barrier(schedule, &slices->partners);
    }
    if (build_move_has_several(schedule)) {
        part.kind = EPCOLL_BCAST;
        mca_coll_epcoll_schedule_local(schedule, &part, NULL);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_barrier = {.begin = begin_barrier,
                                                                 .round = append_barrier};

/* ---- bcast ----------------------------------------------------------------------------------- */

static int begin_bcast(mca_coll_epcoll_schedule_t *schedule)
{
    mca_coll_epcoll_slicing_begin(slices_of(schedule), schedule->handle, schedule->call,
                                  schedule->call->bytes);
    schedule->locals = build_move_has_several(schedule) ? 1 : 0;
    return MPI_SUCCESS;
}

static mca_coll_epcoll_buffer_t buffer_of(const mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    const bool is_root = mca_coll_epcoll_rank(schedule->handle) == call->root;

    return (mca_coll_epcoll_buffer_t){.address = is_root ? (void *) (uintptr_t) call->send
                                                         : call->recv,
                                      .count = is_root ? call->send_count : call->recv_count,
                                      .type = is_root ? call->send_type : call->recv_type};
}

/** From the leader to the members of its process. */
static void append_within(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_slicing_t *slices = slices_of(schedule);
    const mca_coll_epcoll_buffer_t buffer = buffer_of(schedule);
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_BCAST,
                                   .root = (int) slices->leader,
                                   .bytes = schedule->call->bytes};

    if (schedule->handle->view.member.index == slices->leader) {
        part.send = buffer.address;
        part.send_count = buffer.count;
        part.send_type = buffer.type;
    } else {
        part.recv = buffer.address;
        part.recv_count = buffer.count;
        part.recv_type = buffer.type;
    }
    if (build_move_has_several(schedule)) {
        mca_coll_epcoll_schedule_local(schedule, &part, NULL);
    }
}

/** A slice's range of packed bytes, from where they lie, or by way of a scratch buffer. */
static void append_slice(mca_coll_epcoll_schedule_t *schedule, const mca_coll_epcoll_plan_t *plan)
{
    const mca_coll_epcoll_slicing_t *slices = slices_of(schedule);
    const mca_coll_epcoll_buffer_t buffer = buffer_of(schedule);
    const size_t first = mca_coll_epcoll_plan_begin(plan, slices->partners.offset);
    const size_t size = mca_coll_epcoll_plan_begin(plan, slices->partners.offset + 1) - first;
    const bool is_root_process = slices->partners.root_process
                                 == mca_coll_epcoll_layout(schedule->handle)->own;
    char *flat = mca_coll_epcoll_flat(&buffer), *scratch = NULL;
    mca_coll_epcoll_vector_t vector = {.count = size, .type = MPI_BYTE};
    mca_coll_epcoll_buffer_t packed = {.count = first + size, .type = MPI_BYTE};

    if (NULL == flat) {
        scratch = mca_coll_epcoll_schedule_scratch(schedule, 0, MPI_BYTE, size);
    }
    vector.address = NULL == flat ? scratch : flat + first;
    packed.address = (void *) ((uintptr_t) scratch - first);
    if (NULL == flat && is_root_process) {
        mca_coll_epcoll_schedule_copy(schedule, &packed, &buffer, first, size);
    }
    mca_coll_epcoll_phase_bcast(schedule, &slices->partners, &vector);
    if (NULL == flat && !is_root_process) {
        mca_coll_epcoll_schedule_copy(schedule, &buffer, &packed, first, size);
    }
}

/** Of one slice: typed, as the user has it; members of its process copy it while it is sent on. */
static void append_bcast(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_slicing_t *slices = slices_of(schedule);
    const mca_coll_epcoll_call_t *call = schedule->call;
    const mca_coll_epcoll_buffer_t buffer = buffer_of(schedule);
    const bool is_root_process = slices->partners.root_process
                                 == mca_coll_epcoll_layout(schedule->handle)->own;
    const mca_coll_epcoll_vector_t vector = {buffer.address, buffer.count, buffer.type};
    mca_coll_epcoll_plan_t plan;

    if (1 == slices->slices) {
        if (slices->has_slice) {
            mca_coll_epcoll_phase_bcast(schedule, &slices->partners, &vector);
        }
        append_within(schedule);
        return;
    }
    if (is_root_process) {
        append_within(schedule);
    }
    plan = mca_coll_epcoll_slicing_plan(slices, 1, call->bytes);
    if (slices->has_slice) {
        append_slice(schedule, &plan);
    }
    if (is_root_process) {
        return;
    }
    plan.wants = true;
    plan.from = plan.into = buffer.address;
    plan.from_count = plan.into_count = buffer.count;
    plan.from_type = plan.into_type = buffer.type;
    mca_coll_epcoll_schedule_local(schedule,
                                   &(mca_coll_epcoll_call_t){.kind = EPCOLL_BCAST,
                                                             .root = call->root,
                                                             .bytes = call->bytes},
                                   &plan);
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_bcast = {.begin = begin_bcast,
                                                               .round = append_bcast};

/* ---- allgather ------------------------------------------------------------------------------- */

static int begin_allgather(mca_coll_epcoll_schedule_t *schedule)
{
    mca_coll_epcoll_slicing_t *slices = slices_of(schedule);

    mca_coll_epcoll_slicing_begin(slices, schedule->handle, schedule->call,
                                  (uint64_t) schedule->call->bytes
                                      * mca_coll_epcoll_size(schedule->handle));
    schedule->locals = (slices->slices < schedule->handle->view.member.count)
                       + build_move_has_several(schedule);
    return MPI_SUCCESS;
}

/** Our own block to where it belongs. */
static void append_own(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    ompi_datatype_t *type = call->recv_type;
    const mca_coll_epcoll_buffer_t from = {.address = (void *) (uintptr_t) call->send,
                                           .count = call->send_count,
                                           .type = call->send_type};
    const size_t first = (size_t) mca_coll_epcoll_rank(schedule->handle) * call->recv_count;
    const mca_coll_epcoll_buffer_t into = {
        .address = mca_coll_epcoll_away(call->recv,
                                        (ptrdiff_t) first * mca_coll_epcoll_extent(type)),
        .count = call->recv_count,
        .type = type};

    if (!call->in_place) {
        mca_coll_epcoll_schedule_copy(schedule, &into, &from, 0, call->bytes);
    }
}

static void append_allgather(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_slicing_t *slices = slices_of(schedule);
    const mca_coll_epcoll_call_t *call = schedule->call;
    const mca_coll_epcoll_call_t part = {.kind = EPCOLL_ALLGATHER, .bytes = call->bytes};
    mca_coll_epcoll_plan_t plan;

    append_own(schedule);
    if (slices->slices < schedule->handle->view.member.count) {
        plan = mca_coll_epcoll_slicing_collect(slices);
        mca_coll_epcoll_schedule_local(schedule, &part, &plan);
    }
    if (slices->has_slice) {
        mca_coll_epcoll_phase_allgather(schedule, &slices->partners, call->recv, call->recv_count,
                                        call->recv_type, slices->slices);
    }
    if (build_move_has_several(schedule)) {
        plan = mca_coll_epcoll_slicing_spread(slices);
        mca_coll_epcoll_schedule_local(schedule, &part, &plan);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allgather = {.begin = begin_allgather,
                                                                   .round = append_allgather};
