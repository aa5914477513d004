/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How what is long is divided among rails, and the plans of members that follow from it.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_between.h"
#include "coll_epcoll_rails.h"

/** As many rails as there are parts of a rail's least size. */
static uint32_t rails_of(const mca_coll_epcoll_handle_t *handle, uint64_t bytes)
{
    const uint64_t parts = bytes / mca_coll_epcoll_component.rail_size;
    uint32_t rails = mca_coll_epcoll_layout(handle)->rails;

    rails = mca_coll_epcoll_component.rails < rails ? mca_coll_epcoll_component.rails : rails;
    return parts < rails ? (0 == parts ? 1 : (uint32_t) parts) : rails;
}

void mca_coll_epcoll_rails_begin(mca_coll_epcoll_rails_t *rails, mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call, uint64_t bytes)
{
    *rails = (mca_coll_epcoll_rails_t){
        .handle = handle,
        .call = call,
        .rails = rails_of(handle, bytes),
        .party = {.handle = handle,
                  .home = mca_coll_epcoll_home(handle, call),
                  .start = mca_coll_epcoll_layout(handle)->index_of[call->root]},
        .leader = mca_coll_epcoll_leader(handle, call)};
    rails->party.rail = handle->member.index >= rails->leader
                            ? handle->member.index - rails->leader
                            : handle->member.index + handle->member.count - rails->leader;
    rails->is_rail = rails->party.rail < rails->rails;
}

/* ---- slices ---------------------------------------------------------------------------------- */

/** A slice is at its rail. */
static int slice_source(const mca_coll_epcoll_running_t *running, uint32_t block, uint32_t receiver)
{
    const uint32_t members = running->member->count;
    uint32_t index = running->call->plan->first + block;

    index = index < members ? index : index - members;
    return index == receiver ? -1 : (int) index;
}

mca_coll_epcoll_plan_t mca_coll_epcoll_slices(const mca_coll_epcoll_rails_t *rails, size_t unit,
                                              size_t units)
{
    return (mca_coll_epcoll_plan_t){.family = &mca_coll_epcoll_carry,
                                    .unit = unit,
                                    .units = units,
                                    .blocks = rails->rails,
                                    .first = rails->leader,
                                    .source = slice_source};
}

mca_coll_epcoll_vector_t mca_coll_epcoll_own_slice(const mca_coll_epcoll_rails_t *rails,
                                                   const mca_coll_epcoll_plan_t *plan,
                                                   void *address, ompi_datatype_t *type)
{
    const size_t first = mca_coll_epcoll_plan_begin(plan, rails->party.rail);

    return (mca_coll_epcoll_vector_t){
        .address = mca_coll_epcoll_away(address, (ptrdiff_t) first * mca_coll_epcoll_extent(type)),
        .count = mca_coll_epcoll_plan_begin(plan, rails->party.rail + 1) - first,
        .type = type};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/** Blocks of this process go to the rails that stand for them. */
static int collect_source(const mca_coll_epcoll_running_t *running, uint32_t block,
                          uint32_t receiver)
{
    const mca_coll_epcoll_plan_t *plan = running->call->plan;
    const uint32_t members = running->member->count, index = plan->layout->index_of[block];

    return plan->layout->process_of[block] == plan->layout->own && index != receiver
                   && mca_coll_epcoll_rail_of(members, plan->rails, index) == receiver
               ? (int) index
               : -1;
}

/** All blocks go from the rails to all; our own ones are there. */
static int spread_source(const mca_coll_epcoll_running_t *running, uint32_t block,
                         uint32_t receiver)
{
    const mca_coll_epcoll_plan_t *plan = running->call->plan;
    const mca_coll_epcoll_layout_t *layout = plan->layout;
    const uint32_t process = layout->process_of[block], index = layout->index_of[block];
    const uint32_t rail = mca_coll_epcoll_rail_of(mca_coll_epcoll_layout_count(layout, process),
                                                  plan->rails, index);

    return rail == receiver || (process == layout->own && index == receiver) ? -1 : (int) rail;
}

static mca_coll_epcoll_plan_t rails_blocks(const mca_coll_epcoll_rails_t *rails)
{
    const mca_coll_epcoll_call_t *call = rails->call;
    const uint32_t size = mca_coll_epcoll_size(rails->handle);

    return (mca_coll_epcoll_plan_t){.family = &mca_coll_epcoll_carry,
                                    .unit = call->bytes,
                                    .units = size,
                                    .blocks = size,
                                    .layout = mca_coll_epcoll_layout(rails->handle),
                                    .rails = rails->rails,
                                    .from = call->recv,
                                    .into = call->recv,
                                    .from_count = call->recv_count * size,
                                    .into_count = call->recv_count * size,
                                    .from_type = call->recv_type,
                                    .into_type = call->recv_type};
}

mca_coll_epcoll_plan_t mca_coll_epcoll_collect(const mca_coll_epcoll_rails_t *rails)
{
    mca_coll_epcoll_plan_t plan = rails_blocks(rails);

    plan.source = collect_source;
    plan.wants = rails->is_rail;
    return plan;
}

mca_coll_epcoll_plan_t mca_coll_epcoll_disperse(const mca_coll_epcoll_rails_t *rails)
{
    mca_coll_epcoll_plan_t plan = rails_blocks(rails);

    plan.source = spread_source;
    plan.wants = true;
    return plan;
}
