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
 * Called by the layers calls, hier and pending.
 *
 * Tests: coll_late, coll_nodes, coll_nomem (own), coll_pending, death_coll, coll_order
 */

#include "ompi_config.h"

#include "coll_epcoll_node_segment.h"
#include "coll_epcoll_nodes.h"

#include "mpi.h"

#include <stdlib.h>

/** The call, of those that are counted, in which one gets its memory. */
#define CUTOVER_CALLS 8

/** The one in which it gives up: it is one that has not got it that the others wait for. */
#define CUTOVER_CALLS_MAX 4096

/** What precedes segments and rings: the word of the cutover. */
#define FRONT ((size_t) 64)

/* ---- members --------------------------------------------------------------------------------- */

/** The members of a segment: all members, by rank, or our node's processes. */
static uint32_t node_segment_count(const mca_coll_epcoll_hier_t *hier, uint32_t *index)
{
    const mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(&hier->super, NULL);

    if (hier->is_on_node) {
        *index = (uint32_t) mca_coll_epcoll_rank(&hier->super);
        return mca_coll_epcoll_size(&hier->super);
    }
    *index = nodes.place;
    return nodes.size;
}

/** It is for all members on the node. */
static uint32_t node_segment_members(const mca_coll_epcoll_hier_t *hier)
{
    const mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(&hier->super, NULL);
    uint32_t members = 0;

    if (hier->is_on_node) {
        return mca_coll_epcoll_size(&hier->super);
    }
    for (uint32_t i = 0; i < nodes.size; ++i) {
        members += mca_coll_epcoll_layout_count(hier->layout,
                                                mca_coll_epcoll_process_of(&nodes, nodes.own, i));
    }
    return members;
}

/** Does our node have several processes, and are they those with which we share memory?  (Where the
 * launcher has all on one node, each counts as one.)
 * @param reached  processes whose memory is within reach, ours among them */
static bool has_node_leaders(const mca_coll_epcoll_hier_t *hier, int reached)
{
    const mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(&hier->super, NULL);

    for (uint32_t i = 0; i < nodes.size; ++i) {
        const uint32_t process = mca_coll_epcoll_process_of(&nodes, nodes.own, i);
        const int first = (int) mca_coll_epcoll_layout_rank(hier->layout, process, 0);
        mpix_endpoints_locality_t place;

        if (!mca_coll_epcoll_component.engine->locality(hier->super.view.comm, first, &place)
            || !place.on_node) {
            return false;
        }
    }
    return 1 < nodes.size && reached == (int) nodes.size;
}

int mca_coll_epcoll_node_segment_init(mca_coll_epcoll_hier_t *hier)
{
    mpix_endpoints_members_t on_node;
    const int rc = mca_coll_epcoll_component.engine->members(hier->super.view.comm,
                                                             MPIX_ENDPOINTS_SCOPE_NODE, &on_node);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    hier->is_on_node = ompi_comm_size(hier->super.view.comm) == on_node.count;
    hier->node_cutover.is_settled = !hier->is_on_node && !has_node_leaders(hier, on_node.processes);
    return MPI_SUCCESS;
}

/** Bytes of one of its blocks. */
static size_t node_segment_size(const mca_coll_epcoll_hier_t *hier)
{
    uint32_t index;

    return epcoll_segment_size(node_segment_count(hier, &index), mca_coll_epcoll_component.fanout);
}

/* ---- when it is used ------------------------------------------------------------------------- */

/** It is never used.  What we have of it stays: another thread may be about to break it. */
static void cutover_refuse(mca_coll_epcoll_cutover_t *cutover)
{
    cutover->is_used = false;
    cutover->is_settled = true;
}

/** Get it, and join.  Without memory the others learn nothing, and continue as they are.
 * @return NULL: no memory */
static mpix_endpoints_memory_t *cutover_get(const mca_coll_epcoll_handle_t *handle,
                                            mca_coll_epcoll_cutover_t *cutover, uint32_t key,
                                            size_t size)
{
    mpix_endpoints_memory_t *memory;

    if (MPI_SUCCESS
        == mca_coll_epcoll_component.engine->memory_get(handle->view.comm,
                                                        MPIX_ENDPOINTS_SCOPE_NODE,
                                                        mca_coll_epcoll_component.client, key,
                                                        FRONT + size, &memory)) {
        epcoll_cutover_join(memory->base);
        return memory;
    }
    cutover_refuse(cutover);
    return NULL;
}

/** A call begins that might use it.  @return whether it is to be got in this one */
static bool cutover_wants(mca_coll_epcoll_cutover_t *cutover)
{
    return CUTOVER_CALLS == ++cutover->calls;
}

/** Likewise, of another call: does it use it? */
static void cutover_next(const mca_coll_epcoll_hier_t *hier, mca_coll_epcoll_cutover_t *cutover,
                         const mpix_endpoints_memory_t *memory)
{
    if (CUTOVER_CALLS > cutover->calls) {
        return;
    }
    cutover->is_used = cutover->is_settled
        = epcoll_cutover_uses(memory->base, node_segment_members(hier),
                              CUTOVER_CALLS_MAX > cutover->calls ? cutover->calls : EPCOLL_NEVER);
    if (cutover->is_used) {
        /* All have mapped it: its file need not stay open. */
        (void) mca_coll_epcoll_component.engine->memory_is_complete(memory);
    } else if (CUTOVER_CALLS_MAX == cutover->calls) {
        cutover_refuse(cutover);
    }
}

/* ---- the node's block, and rings ------------------------------------------------------------- */

static void view_of(const mca_coll_epcoll_hier_t *hier, const mpix_endpoints_memory_t *memory,
                    uint32_t which, epcoll_member_t *member)
{
    char *base = (char *) memory->base + FRONT;
    uint32_t index;
    const uint32_t count = node_segment_count(hier, &index);

    epcoll_member_init(member, base + which * node_segment_size(hier), count, index,
                       mca_coll_epcoll_component.fanout);
    member->broken = &((epcoll_segment_t *) base)->broken;
    member->aux = &hier->layout->aux;
}

/** Get the segment: the handle's view of it, and its memory. */
static void node_segment_get(mca_coll_epcoll_hier_t *hier)
{
    mca_coll_epcoll_node_segment_t *node_segment = calloc(1, sizeof(*node_segment));

    if (NULL == node_segment) {
        cutover_refuse(&hier->node_cutover);
        return;
    }
    node_segment->memory = cutover_get(&hier->super, &hier->node_cutover, EPCOLL_KEY_NODE_SEGMENT,
                                       (hier->is_on_node ? EPCOLL_NODE_SEGMENTS : 1)
                                           * node_segment_size(hier));
    if (NULL == node_segment->memory) {
        free(node_segment);
        return;
    }
    node_segment->view.comm = hier->super.view.comm;
    node_segment->aux = hier->layout->aux;
    view_of(hier, node_segment->memory, EPCOLL_NODE_SEGMENT_BLOCKING, &node_segment->view.member);
    node_segment->view.member.aux = &node_segment->aux;
    node_segment->view.member.oversubscribed
        = mca_coll_epcoll_component.engine->is_oversubscribed();
    hier->node_segment = node_segment; /* sequentially consistent; partner: break_shared */
    mca_coll_epcoll_break_late(&hier->super, &node_segment->view);
}

/** The view of the members that have it. */
static epcoll_member_t *node_segment_member(const mca_coll_epcoll_hier_t *hier)
{
    return &hier->node_segment->view.member;
}

/** May there be rings?  With groups only a bcast would use them, and that goes along the tree. */
static bool may_have_rings(const mca_coll_epcoll_hier_t *hier)
{
    return 0 == node_segment_member(hier)->levels;
}

bool mca_coll_epcoll_node_segment_fits(const mca_coll_epcoll_handle_t *handle,
                                       const epcoll_member_t *member,
                                       const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_is_small(member, (uint32_t) mca_coll_epcoll_component.inline_limit, call)
           && (NULL == call->op || !mca_coll_epcoll_order_matters(call)
               || (0 == member->levels
                   && mca_coll_epcoll_order_serves(mca_coll_epcoll_layout(handle), call)));
}

static bool is_small(const mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_node_segment_fits(&hier->super, node_segment_member(hier), call);
}

/** Whether blocks are used is not settled. */
static void settle_node_segment(mca_coll_epcoll_hier_t *hier)
{
    if (cutover_wants(&hier->node_cutover)) {
        node_segment_get(hier);
    } else {
        cutover_next(hier, &hier->node_cutover,
                     NULL == hier->node_segment ? NULL : hier->node_segment->memory);
    }
    if (hier->node_cutover.is_settled) {
        hier->ring_cutover.is_settled = !mca_coll_epcoll_uses_node_segment(hier)
                                        || !may_have_rings(hier);
    }
}

static void settle_rings(mca_coll_epcoll_hier_t *hier)
{
    mca_coll_epcoll_node_segment_t *node_segment = hier->node_segment;

    if (cutover_wants(&hier->ring_cutover)) {
        node_segment->ring = cutover_get(&hier->super, &hier->ring_cutover, EPCOLL_KEY_RINGS,
                                         epcoll_ring_size(mca_coll_epcoll_size(&hier->super)));
    } else {
        cutover_next(hier, &hier->ring_cutover, node_segment->ring);
    }
    if (hier->ring_cutover.is_used) {
        node_segment->aux.ring = (epcoll_slot_t *) ((char *) node_segment->ring->base + FRONT);
    }
}

bool mca_coll_epcoll_node_segment_has_leaders(mca_coll_epcoll_hier_t *hier)
{
    if (OPAL_UNLIKELY(!hier->node_cutover.is_settled)) {
        settle_node_segment(hier);
    }
    return hier->node_cutover.is_used;
}

void mca_coll_epcoll_node_segment_settle(mca_coll_epcoll_hier_t *hier,
                                         const mca_coll_epcoll_call_t *call)
{
    if (!hier->node_cutover.is_settled) {
        settle_node_segment(hier);
    }
    if (hier->node_cutover.is_used && !hier->ring_cutover.is_settled
        && mca_coll_epcoll_small_has_ring(call->kind) && is_small(hier, call)) {
        settle_rings(hier);
    }
}

void mca_coll_epcoll_node_segment_view(const mca_coll_epcoll_hier_t *hier, uint32_t which,
                                       epcoll_member_t *member)
{
    view_of(hier, hier->node_segment->memory, which, member);
}

void mca_coll_epcoll_node_segment_put(mca_coll_epcoll_hier_t *hier)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    mca_coll_epcoll_node_segment_t *node_segment = hier->node_segment;

    if (NULL == node_segment) {
        return;
    }
    if (hier->is_on_node) { /* else others of the process may still be in a call */
        epcoll_end_at(&node_segment->view.member, UINT64_MAX); /* as in handle_free */
    }
    if (NULL != node_segment->ring) {
        engine->memory_put(node_segment->ring);
    }
    engine->memory_put(node_segment->memory);
    free(node_segment);
    hier->node_segment = NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

bool mca_coll_epcoll_uses_node_slots(const mca_coll_epcoll_hier_t *hier,
                                     const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_uses_node_segment(hier) && EPCOLL_BCAST != call->kind
           && (EPCOLL_BARRIER == call->kind || is_small(hier, call));
}

bool mca_coll_epcoll_uses_node_rings(const mca_coll_epcoll_hier_t *hier,
                                     const mca_coll_epcoll_call_t *call)
{
    return hier->ring_cutover.is_used && is_small(hier, call);
}

int mca_coll_epcoll_node_slots_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_view_t *node = &hier->node_segment->view;

    return EPCOLL_BARRIER == call->kind ? mca_coll_epcoll_ended(node, epcoll_barrier(&node->member))
                                        : mca_coll_epcoll_small_run(node, call);
}

int mca_coll_epcoll_node_rings_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_small_ring_run(&hier->node_segment->view, call);
}
