/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The node's memory: which members get it and when, which of them use it from which call on, and
 * calls that go through it.
 *
 * Called by the layers calls, between and pending.
 *
 * Tests: coll_late, coll_nodes, coll_nomem (own), coll_pending, death_coll, coll_order
 */

#include "ompi_config.h"

#include "coll_epcoll_near.h"
#include "coll_epcoll_nodes.h"

#include "mpi.h"

#include <stdlib.h>

/** The call, of those that are counted, in which one gets its memory. */
#define NEAR_CALLS 8

/** The one in which it gives up: it is one that has not got it that the others wait for. */
#define NEAR_CALLS_MOST 4096

/** What comes before blocks and rings: the word by which members agree. */
#define FRONT ((size_t) 64)

/* ---- whose it is ----------------------------------------------------------------------------- */

/** Who has a place in a block: all members, by rank, or our node's processes. */
static uint32_t near_count(const mca_coll_epcoll_wide_t *wide, uint32_t *index)
{
    const mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(&wide->super, NULL);

    if (wide->may_be_near) {
        *index = (uint32_t) mca_coll_epcoll_rank(&wide->super);
        return mca_coll_epcoll_size(&wide->super);
    }
    *index = nodes.place;
    return nodes.size;
}

/** It is for all members on the node. */
static uint32_t near_members(const mca_coll_epcoll_wide_t *wide)
{
    const mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(&wide->super, NULL);
    uint32_t members = 0;

    if (wide->may_be_near) {
        return mca_coll_epcoll_size(&wide->super);
    }
    for (uint32_t i = 0; i < nodes.size; ++i) {
        members += mca_coll_epcoll_layout_count(wide->layout,
                                                mca_coll_epcoll_process_of(&nodes, nodes.own, i));
    }
    return members;
}

/** Does our node have several processes, and are they those with which we share memory?  (Where the
 * launcher has all on one node, each stands for one.)
 * @param reached  processes whose memory is within reach, ours among them */
static bool leaders_may_meet(const mca_coll_epcoll_wide_t *wide, int reached)
{
    const mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(&wide->super, NULL);

    for (uint32_t i = 0; i < nodes.size; ++i) {
        const uint32_t process = mca_coll_epcoll_process_of(&nodes, nodes.own, i);
        const int first = (int) mca_coll_epcoll_layout_rank(wide->layout, process, 0);
        mpix_endpoints_locality_t place;

        if (!mca_coll_epcoll_component.engine->locality(wide->super.comm, first, &place)
            || !place.on_node) {
            return false;
        }
    }
    return 1 < nodes.size && reached == (int) nodes.size;
}

int mca_coll_epcoll_near_find(mca_coll_epcoll_wide_t *wide)
{
    mpix_endpoints_members_t on_node;
    const int rc = mca_coll_epcoll_component.engine->members(wide->super.comm,
                                                             MPIX_ENDPOINTS_SCOPE_NODE, &on_node);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    wide->may_be_near = ompi_comm_size(wide->super.comm) == on_node.count;
    wide->blocks.is_settled = !wide->may_be_near && !leaders_may_meet(wide, on_node.processes);
    return MPI_SUCCESS;
}

/** Bytes of one of its blocks. */
static size_t near_size(const mca_coll_epcoll_wide_t *wide)
{
    uint32_t index;

    return epcoll_segment_size(near_count(wide, &index), mca_coll_epcoll_component.fan);
}

/* ---- when it is used ------------------------------------------------------------------------- */

/** Nobody ever uses it.  What we have of it stays: somebody may be about to break it. */
static void common_refuse(mca_coll_epcoll_common_t *common)
{
    common->is_used = false;
    common->is_settled = true;
}

/** Get it, and say so.  Without memory the others learn nothing, and go on as they are.
 * @return NULL: no memory */
static mpix_endpoints_memory_t *common_get(const mca_coll_epcoll_handle_t *handle,
                                           mca_coll_epcoll_common_t *common, uint32_t key,
                                           size_t size)
{
    mpix_endpoints_memory_t *memory;

    if (MPI_SUCCESS
        == mca_coll_epcoll_component.engine->memory_get(handle->comm, MPIX_ENDPOINTS_SCOPE_NODE,
                                                        mca_coll_epcoll_component.client, key,
                                                        FRONT + size, &memory)) {
        epcoll_cutover_join(memory->base);
        return memory;
    }
    common_refuse(common);
    return NULL;
}

/** A call begins that might use it.  @return whether it is to be got in this one */
static bool common_wants(mca_coll_epcoll_common_t *common)
{
    return NEAR_CALLS == ++common->calls;
}

/** Likewise, of another call: does it use it? */
static void common_next(const mca_coll_epcoll_wide_t *wide, mca_coll_epcoll_common_t *common,
                        const mpix_endpoints_memory_t *memory)
{
    if (NEAR_CALLS > common->calls) {
        return;
    }
    common->is_used = common->is_settled = epcoll_cutover_uses(memory->base, near_members(wide),
                                                               NEAR_CALLS_MOST > common->calls
                                                                   ? common->calls
                                                                   : EPCOLL_NEVER);
    if (common->is_used) {
        /* All have mapped it: its file need not stay open. */
        (void) mca_coll_epcoll_component.engine->memory_is_complete(memory);
    } else if (NEAR_CALLS_MOST == common->calls) {
        common_refuse(common);
    }
}

/* ---- the node's block, and rings ------------------------------------------------------------- */

static void view_of(const mca_coll_epcoll_wide_t *wide, const mpix_endpoints_memory_t *memory,
                    uint32_t block, epcoll_member_t *member)
{
    char *base = (char *) memory->base + FRONT;
    uint32_t index;
    const uint32_t count = near_count(wide, &index);

    epcoll_member_init(member, base + block * near_size(wide), count, index,
                       mca_coll_epcoll_component.fan);
    member->broken = &((epcoll_segment_t *) base)->broken;
    member->aux = &wide->layout->aux;
}

/** Get the block: the handle's view of it, and its memory. */
static void near_get(mca_coll_epcoll_wide_t *wide)
{
    mca_coll_epcoll_near_t *near = calloc(1, sizeof(*near));

    if (NULL == near) {
        common_refuse(&wide->blocks);
        return;
    }
    near->memory = common_get(&wide->super, &wide->blocks, EPCOLL_KEY_NEAR,
                              (wide->may_be_near ? EPCOLL_NEAR_BLOCKS : 1) * near_size(wide));
    if (NULL == near->memory) {
        free(near);
        return;
    }
    near->super.comm = wide->super.comm;
    near->aux = wide->layout->aux;
    view_of(wide, near->memory, EPCOLL_NEAR_BLOCKING, &near->super.member);
    near->super.member.aux = &near->aux;
    near->super.member.oversubscribed = mca_coll_epcoll_component.engine->is_oversubscribed();
    wide->near = near; /* sequentially consistent; partner: break_shared */
    mca_coll_epcoll_break_late(&wide->super, &near->super);
}

/** The view of the members that have it. */
static epcoll_member_t *near_member(const mca_coll_epcoll_wide_t *wide)
{
    return &wide->near->super.member;
}

/** Few read each other's lines; of more, only a bcast would go through rings, and is told by
 * leaders. */
static bool may_be_ahead(const mca_coll_epcoll_wide_t *wide)
{
    return 0 == near_member(wide)->levels;
}

bool mca_coll_epcoll_near_fits(const mca_coll_epcoll_handle_t *handle,
                               const epcoll_member_t *member, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_is_small(member, (uint32_t) mca_coll_epcoll_component.inline_limit, call)
           && (NULL == call->op || !mca_coll_epcoll_shows_order(call)
               || (0 == member->levels
                   && mca_coll_epcoll_order_serves(mca_coll_epcoll_layout(handle), call)));
}

static bool is_small(const mca_coll_epcoll_wide_t *wide, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_near_fits(&wide->super, near_member(wide), call);
}

/** Whether blocks are used is not settled. */
static void settle_blocks(mca_coll_epcoll_wide_t *wide)
{
    if (common_wants(&wide->blocks)) {
        near_get(wide);
    } else {
        common_next(wide, &wide->blocks, NULL == wide->near ? NULL : wide->near->memory);
    }
    if (wide->blocks.is_settled) {
        wide->rings.is_settled = !mca_coll_epcoll_are_near(wide) || !may_be_ahead(wide);
    }
}

static void settle_rings(mca_coll_epcoll_wide_t *wide)
{
    mca_coll_epcoll_near_t *near = wide->near;

    if (common_wants(&wide->rings)) {
        near->ring = common_get(&wide->super, &wide->rings, EPCOLL_KEY_RINGS,
                                epcoll_ring_size(mca_coll_epcoll_size(&wide->super)));
    } else {
        common_next(wide, &wide->rings, near->ring);
    }
    if (wide->rings.is_used) {
        near->aux.ring = (epcoll_slot_t *) ((char *) near->ring->base + FRONT);
    }
}

bool mca_coll_epcoll_near_meets(mca_coll_epcoll_wide_t *wide)
{
    if (OPAL_UNLIKELY(!wide->blocks.is_settled)) {
        settle_blocks(wide);
    }
    return wide->blocks.is_used;
}

void mca_coll_epcoll_near_settle(mca_coll_epcoll_wide_t *wide, const mca_coll_epcoll_call_t *call)
{
    if (!wide->blocks.is_settled) {
        settle_blocks(wide);
    }
    if (wide->blocks.is_used && !wide->rings.is_settled
        && mca_coll_epcoll_small_has_ring(call->kind) && is_small(wide, call)) {
        settle_rings(wide);
    }
}

void mca_coll_epcoll_near_view(const mca_coll_epcoll_wide_t *wide, uint32_t block,
                               epcoll_member_t *member)
{
    view_of(wide, wide->near->memory, block, member);
}

void mca_coll_epcoll_near_put(mca_coll_epcoll_wide_t *wide)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    mca_coll_epcoll_near_t *near = wide->near;

    if (NULL == near) {
        return;
    }
    if (wide->may_be_near) { /* else others of the process may still be in a call */
        epcoll_end_at(&near->super.member, UINT64_MAX); /* as in handle_free */
    }
    if (NULL != near->ring) {
        engine->memory_put(near->ring);
    }
    engine->memory_put(near->memory);
    free(near);
    wide->near = NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

bool mca_coll_epcoll_is_near(const mca_coll_epcoll_wide_t *wide, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_are_near(wide) && EPCOLL_BCAST != call->kind
           && (EPCOLL_BARRIER == call->kind || is_small(wide, call));
}

bool mca_coll_epcoll_is_ahead(const mca_coll_epcoll_wide_t *wide,
                              const mca_coll_epcoll_call_t *call)
{
    return wide->rings.is_used && mca_coll_epcoll_small_has_ring(call->kind)
           && is_small(wide, call);
}

int mca_coll_epcoll_near_run(mca_coll_epcoll_wide_t *wide, const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_handle_t *near = &wide->near->super;

    if (EPCOLL_BARRIER == call->kind) {
        return mca_coll_epcoll_ended(near, epcoll_barrier(&near->member));
    }
    return EPCOLL_ALGORITHM_AHEAD == call->algorithm ? mca_coll_epcoll_small_ring_run(near, call)
                                                     : mca_coll_epcoll_small_run(near, call);
}
