/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How what is long is divided among slices, and the plans of members that follow from it.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_hier.h"
#include "coll_epcoll_slicing.h"

/** As many slices as there are parts of a slice's least size. */
static uint32_t slices_of(const mca_coll_epcoll_handle_t *handle, uint64_t bytes)
{
    const uint64_t parts = bytes / mca_coll_epcoll_component.slice_size;
    uint32_t slices = mca_coll_epcoll_layout(handle)->slices;

    slices = mca_coll_epcoll_component.slices < slices ? mca_coll_epcoll_component.slices : slices;
    return parts < slices ? (0 == parts ? 1 : (uint32_t) parts) : slices;
}

void mca_coll_epcoll_slicing_begin(mca_coll_epcoll_slicing_t *slices,
                                   mca_coll_epcoll_handle_t *handle,
                                   const mca_coll_epcoll_call_t *call, uint64_t bytes)
{
    *slices = (mca_coll_epcoll_slicing_t){
        .handle = handle,
        .call = call,
        .slices = slices_of(handle, bytes),
        .partners = {.handle = handle,
                     .root_process = mca_coll_epcoll_root_process(handle, call),
                     .root_index = mca_coll_epcoll_layout(handle)->index_of[call->root]},
        .leader = mca_coll_epcoll_leader(handle, call)};
    slices->partners.offset = handle->view.member.index >= slices->leader
                                  ? handle->view.member.index - slices->leader
                                  : handle->view.member.index + handle->view.member.count
                                        - slices->leader;
    slices->has_slice = slices->partners.offset < slices->slices;
}

/* ---- slices ---------------------------------------------------------------------------------- */

/** A slice is at its owner. */
static int slice_source(const mca_coll_epcoll_running_t *running, uint32_t block, uint32_t receiver)
{
    const uint32_t members = running->member->count;
    uint32_t index = running->call->plan->first + block;

    index = index < members ? index : index - members;
    return index == receiver ? -1 : (int) index;
}

mca_coll_epcoll_plan_t mca_coll_epcoll_slicing_plan(const mca_coll_epcoll_slicing_t *slices,
                                                    size_t unit, size_t units)
{
    return (mca_coll_epcoll_plan_t){.ops = &mca_coll_epcoll_plan_copy_ops,
                                    .unit = unit,
                                    .units = units,
                                    .blocks = slices->slices,
                                    .first = slices->leader,
                                    .source = slice_source};
}

mca_coll_epcoll_vector_t mca_coll_epcoll_own_slice(const mca_coll_epcoll_slicing_t *slices,
                                                   const mca_coll_epcoll_plan_t *plan,
                                                   void *address, ompi_datatype_t *type)
{
    const size_t first = mca_coll_epcoll_plan_begin(plan, slices->partners.offset);

    return (mca_coll_epcoll_vector_t){
        .address = mca_coll_epcoll_away(address, (ptrdiff_t) first * mca_coll_epcoll_extent(type)),
        .count = mca_coll_epcoll_plan_begin(plan, slices->partners.offset + 1) - first,
        .type = type};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/** Blocks of this process go to the owners of their slices. */
static int collect_source(const mca_coll_epcoll_running_t *running, uint32_t block,
                          uint32_t receiver)
{
    const mca_coll_epcoll_plan_t *plan = running->call->plan;
    const uint32_t members = running->member->count, index = plan->layout->index_of[block];

    return plan->layout->process_of[block] == plan->layout->own && index != receiver
                   && mca_coll_epcoll_slice_of(members, plan->slices, index) == receiver
               ? (int) index
               : -1;
}

/** All blocks go from the slices to all; our own ones are there. */
static int spread_source(const mca_coll_epcoll_running_t *running, uint32_t block,
                         uint32_t receiver)
{
    const mca_coll_epcoll_plan_t *plan = running->call->plan;
    const mca_coll_epcoll_layout_t *layout = plan->layout;
    const uint32_t process = layout->process_of[block], index = layout->index_of[block];
    const uint32_t slice = mca_coll_epcoll_slice_of(mca_coll_epcoll_layout_count(layout, process),
                                                    plan->slices, index);

    return slice == receiver || (process == layout->own && index == receiver) ? -1 : (int) slice;
}

static mca_coll_epcoll_plan_t slicing_blocks(const mca_coll_epcoll_slicing_t *slices)
{
    const mca_coll_epcoll_call_t *call = slices->call;
    const uint32_t size = mca_coll_epcoll_size(slices->handle);

    return (mca_coll_epcoll_plan_t){.ops = &mca_coll_epcoll_plan_copy_ops,
                                    .unit = call->bytes,
                                    .units = size,
                                    .blocks = size,
                                    .layout = mca_coll_epcoll_layout(slices->handle),
                                    .slices = slices->slices,
                                    .from = call->recv,
                                    .into = call->recv,
                                    .from_count = call->recv_count * size,
                                    .into_count = call->recv_count * size,
                                    .from_type = call->recv_type,
                                    .into_type = call->recv_type};
}

mca_coll_epcoll_plan_t mca_coll_epcoll_slicing_collect(const mca_coll_epcoll_slicing_t *slices)
{
    mca_coll_epcoll_plan_t plan = slicing_blocks(slices);

    plan.source = collect_source;
    plan.wants = slices->has_slice;
    return plan;
}

mca_coll_epcoll_plan_t mca_coll_epcoll_slicing_spread(const mca_coll_epcoll_slicing_t *slices)
{
    mca_coll_epcoll_plan_t plan = slicing_blocks(slices);

    plan.source = spread_source;
    plan.wants = true;
    return plan;
}
