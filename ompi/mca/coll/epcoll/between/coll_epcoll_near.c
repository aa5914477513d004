/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The node's memory: who gets it when, who uses it from which call on, and calls that go through it.
 *
 * Called by the layers calls, between and pending.
 *
 * Tests: coll_late, coll_nomem (own), coll_pending, death_coll, coll_order
 */

#include "ompi_config.h"

#include "coll_epcoll_near.h"

#include "mpi.h"

#include <stdlib.h>

/** The call, of those that are counted, in which one gets its memory. */
#define NEAR_CALLS 8

/** The one in which it gives up: it is one that has not got it that the others wait for. */
#define NEAR_CALLS_MOST 4096

/** What comes before blocks and rings: the word by which members agree. */
#define FRONT ((size_t) 64)

int mca_coll_epcoll_near_find(mca_coll_epcoll_handle_t *handle)
{
    mpix_endpoints_members_t on_node;
    const int rc = mca_coll_epcoll_component.door->members(handle->comm, MPIX_ENDPOINTS_NODE,
                                                           &on_node);

    handle->may_be_near = MPI_SUCCESS == rc && handle->size == (uint32_t) on_node.count;
    return rc;
}

/** Bytes of one of its blocks. */
static size_t near_size(const mca_coll_epcoll_handle_t *handle)
{
    return epcoll_block_size(handle->size, mca_coll_epcoll_component.fan);
}

/* ---- when it is used ------------------------------------------------------------------------- */

static void common_put(mca_coll_epcoll_common_t *common)
{
    if (NULL != common->memory) {
        mca_coll_epcoll_component.door->memory_put(common->memory);
        common->memory = NULL;
    }
}

/** Nobody ever uses it.  What we have of it stays: somebody may be about to break it. */
static void common_refuse(mca_coll_epcoll_common_t *common)
{
    common->is_used = false;
    common->is_settled = true;
}

/** Get it, and say so.  Without memory the others learn nothing, and go on as they are. */
static void common_get(mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_common_t *common,
                       uint32_t key, size_t size)
{
    if (MPI_SUCCESS
        == mca_coll_epcoll_component.door->memory_get(handle->comm, MPIX_ENDPOINTS_NODE,
                                                      mca_coll_epcoll_component.guest, key,
                                                      FRONT + size, &common->memory)) {
        epcoll_agree_join(common->memory->base);
    } else {
        common->memory = NULL;
    }
}

/** A call begins that might use it.  @return whether it is to be got in this one */
static bool common_wants(mca_coll_epcoll_common_t *common)
{
    return NEAR_CALLS == ++common->calls;
}

/** Likewise, of another call: does it use it? */
static void common_next(const mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_common_t *common)
{
    if (NEAR_CALLS > common->calls) {
        return;
    }
    common->is_used = common->is_settled = epcoll_agree_uses(common->memory->base, handle->size,
                                                             NEAR_CALLS_MOST > common->calls
                                                                 ? common->calls
                                                                 : EPCOLL_NEVER);
    if (common->is_used) {
        /* All have mapped it: its file need not stay open. */
        (void) mca_coll_epcoll_component.door->memory_is_whole(common->memory);
    } else if (NEAR_CALLS_MOST == common->calls) {
        common_refuse(common);
    }
}

/* ---- the node's block, and rings ------------------------------------------------------------- */

/** Get the block: the handle's view of it, and its memory. */
static void near_get(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_handle_t *near = calloc(1, sizeof(*near));

    if (NULL != near) {
        common_get(handle, &handle->blocks, EPCOLL_KEY_NEAR,
                   EPCOLL_NEAR_BLOCKS * near_size(handle));
    }
    if (NULL == handle->blocks.memory) {
        common_refuse(&handle->blocks);
        free(near);
        return;
    }
    near->comm = handle->comm;
    near->rank = handle->rank;
    near->size = handle->size;
    mca_coll_epcoll_near_view(handle, EPCOLL_NEAR_BLOCKING, &near->member);
    epcoll_set_crowded(&near->member, mca_coll_epcoll_component.door->is_crowded());
    near->member.turn = mca_coll_epcoll_turn;
    near->member.context = near;
    handle->near = near; /* sequentially consistent; partner: break_shared */
    mca_coll_epcoll_break_late(handle, near);
}

/** Few read each other's lines; of more, only a bcast would go through rings, and is told by leaders. */
static bool may_be_ahead(const mca_coll_epcoll_handle_t *handle)
{
    return 0 == handle->near->member.levels;
}

bool mca_coll_epcoll_near_fits(const mca_coll_epcoll_handle_t *handle,
                               const epcoll_member_t *member, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_is_small(member, (uint32_t) mca_coll_epcoll_component.inline_limit, call)
           && (NULL == call->op || !mca_coll_epcoll_shows_order(call)
               || (0 == member->levels && mca_coll_epcoll_order_serves(handle->layout, call)));
}

static bool is_small(const mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_near_fits(handle, &handle->near->member, call);
}

/** Whether blocks are used is not settled. */
static void settle_blocks(mca_coll_epcoll_handle_t *handle)
{
    if (common_wants(&handle->blocks)) {
        near_get(handle);
    } else {
        common_next(handle, &handle->blocks);
    }
    if (handle->blocks.is_settled) {
        handle->rings.is_settled = !handle->blocks.is_used || !may_be_ahead(handle);
    }
}

static void settle_rings(mca_coll_epcoll_handle_t *handle)
{
    if (common_wants(&handle->rings)) {
        common_get(handle, &handle->rings, EPCOLL_KEY_AHEAD, epcoll_ahead_size(handle->size));
        if (NULL == handle->rings.memory) {
            common_refuse(&handle->rings);
        }
    } else {
        common_next(handle, &handle->rings);
    }
    if (handle->rings.is_used) {
        handle->near->member.ring = (epcoll_slot_t *) ((char *) handle->rings.memory->base + FRONT);
    }
}

void mca_coll_epcoll_near_settle(mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call)
{
    if (!handle->blocks.is_settled) {
        settle_blocks(handle);
    }
    if (handle->blocks.is_used && !handle->rings.is_settled
        && mca_coll_epcoll_is_ahead_kind(call->kind) && is_small(handle, call)) {
        settle_rings(handle);
    }
}

void mca_coll_epcoll_near_view(const mca_coll_epcoll_handle_t *handle, uint32_t block,
                               epcoll_member_t *member)
{
    char *base = (char *) handle->blocks.memory->base + FRONT;

    epcoll_member_init(member, base + block * near_size(handle), handle->size,
                       (uint32_t) handle->rank, mca_coll_epcoll_component.fan);
    member->broken = &((epcoll_block_t *) base)->broken;
    member->order = handle->layout;
}

void mca_coll_epcoll_near_put(mca_coll_epcoll_handle_t *handle)
{
    if (NULL != handle->near) {
        epcoll_end_at(&handle->near->member, UINT64_MAX); /* as in handle_free */
    }
    common_put(&handle->rings);
    common_put(&handle->blocks);
    free(handle->near);
    handle->near = NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

bool mca_coll_epcoll_is_near(const mca_coll_epcoll_handle_t *handle,
                             const mca_coll_epcoll_call_t *call)
{
    return handle->blocks.is_used && EPCOLL_BCAST != call->kind
           && (EPCOLL_BARRIER == call->kind || is_small(handle, call));
}

bool mca_coll_epcoll_is_ahead(const mca_coll_epcoll_handle_t *handle,
                              const mca_coll_epcoll_call_t *call)
{
    return handle->rings.is_used && mca_coll_epcoll_is_ahead_kind(call->kind)
           && is_small(handle, call);
}

int mca_coll_epcoll_near_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_handle_t *near = handle->near;

    if (EPCOLL_BARRIER == call->kind) {
        return mca_coll_epcoll_ended(near, epcoll_barrier(&near->member));
    }
    return mca_coll_epcoll_is_ahead(handle, call) ? mca_coll_epcoll_ahead_run(near, call)
                                                  : mca_coll_epcoll_small_run(near, call);
}
