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
 * Which way a call goes whose members live in several processes.
 *
 * Called by libmpi, by way of the layer calls.
 *
 * Tests: coll_layout, coll_nomem (own), death_coll
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "between.h"

#include "mpi.h"

#include <stdlib.h>

/** Calls of a communicator before it gets a block of the node. */
#define NEAR_CALLS 8

/* ---- the node's block ------------------------------------------------------------------------ */

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

/**
 * A file in memory, which is mapped, takes as long as a communicator takes to be made.  So it is made
 * when one has been in use for a while, in a call that no member leaves before all have come to it:
 * behind that the answer whether all have it does not change any more, and is the same for all.
 *
 * @return whether it is this call; then near_made follows
 */
static bool near_make(mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_kind_t kind)
{
    const mpix_endpoints_door_t *door = mca_coll_epcoll_component.door;
    mca_coll_epcoll_handle_t *near;

    if (OPAL_LIKELY(!handle->may_be_near || handle->near_is_known || NEAR_CALLS > handle->calls
                    || (EPCOLL_BARRIER != kind && EPCOLL_ALLREDUCE != kind
                        && EPCOLL_ALLGATHER != kind))) {
        return false;
    }
    near = calloc(1, sizeof(*near));
    if (NULL == near
        || MPI_SUCCESS
               != door->memory_get(handle->comm, MPIX_ENDPOINTS_NODE,
                                   mca_coll_epcoll_component.guest, EPCOLL_KEY_NEAR,
                                   EPCOLL_NEAR_BLOCKS * near_size(handle), &near->memory)) {
        free(near); /* so nobody has all of it */
        return true;
    }
    near->comm = handle->comm;
    near->rank = handle->rank;
    near->size = handle->size;
    handle->near = near;
    mca_coll_epcoll_near_view(handle, EPCOLL_NEAR_BLOCKING, &near->member);
    epcoll_set_crowded(&near->member, door->is_crowded());
    near->member.turn = mca_coll_epcoll_turn;
    near->member.context = near;
    /* Relaxed: who looks at it has had a message of all since; see near_made. */
    atomic_fetch_add_explicit(&near->member.block->users, 1, memory_order_relaxed);
    return true;
}

void mca_coll_epcoll_near_view(const mca_coll_epcoll_handle_t *handle, uint32_t block,
                               epcoll_member_t *member)
{
    char *base = handle->near->memory->base;

    epcoll_member_init(member, base + block * near_size(handle), handle->size,
                       (uint32_t) handle->rank, mca_coll_epcoll_component.fan);
    member->broken = &((epcoll_block_t *) base)->broken;
}

void mca_coll_epcoll_near_put(mca_coll_epcoll_handle_t *handle)
{
    if (NULL != handle->near) {
        epcoll_end_at(&handle->near->member, UINT64_MAX); /* as in handle_free */
        mca_coll_epcoll_component.door->memory_put(handle->near->memory);
        free(handle->near);
        handle->near = NULL;
    }
}

/** All members have tried to make it: has it been made, by each of them?  One without memory for its
 * handle may have neighbours in its process who have mapped it. */
static void near_made(mca_coll_epcoll_handle_t *handle)
{
    handle->near_is_known = true;
    if (NULL == handle->near) {
        return;
    }
    /* Relaxed: all who have it have counted before we left a call of all, whose messages order it. */
    if (handle->size
            != atomic_load_explicit(&handle->near->member.block->users, memory_order_relaxed)
        || !mca_coll_epcoll_component.door->memory_is_whole(handle->near->memory)) {
        mca_coll_epcoll_near_put(handle);
    }
}

bool mca_coll_epcoll_is_near(const mca_coll_epcoll_handle_t *handle,
                             const mca_coll_epcoll_call_t *call)
{
    const mca_coll_epcoll_handle_t *near = handle->near;

    return NULL != near && EPCOLL_BCAST != call->kind
           && (EPCOLL_BARRIER == call->kind
               || mca_coll_epcoll_is_small(&near->member,
                                           (uint32_t) mca_coll_epcoll_component.inline_limit,
                                           call));
}

static int near_run(mca_coll_epcoll_handle_t *near, const mca_coll_epcoll_call_t *call)
{
    return EPCOLL_BARRIER == call->kind ? mca_coll_epcoll_ended(near, epcoll_barrier(&near->member))
                                        : mca_coll_epcoll_small_run(near, call);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/** Has a kind functions of its own for blocking calls, beside its program? */
static bool has_own(mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_ALLGATHER:
    case EPCOLL_ALLREDUCE:
    case EPCOLL_BARRIER:
    case EPCOLL_BCAST:
    case EPCOLL_REDUCE:
        return true;
    default:
        return false;
    }
}

bool mca_coll_epcoll_between_has(const mca_coll_epcoll_handle_t *handle,
                                 mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
    case EPCOLL_GATHERV:
    case EPCOLL_SCATTERV:
        return NULL != mca_coll_epcoll_builders[kind];
    default:
        return NULL != mca_coll_epcoll_builders[kind] || handle->may_be_near;
    }
}

bool mca_coll_epcoll_between_serves(const mca_coll_epcoll_handle_t *handle,
                                    const mca_coll_epcoll_call_t *call)
{
    /* Without a layout it is a block of one process, and broken. */
    return NULL == handle->layout || mca_coll_epcoll_is_near(handle, call)
           || mca_coll_epcoll_program_serves(handle, call);
}

bool mca_coll_epcoll_is_short(const mca_coll_epcoll_call_t *call)
{
    if (call->bytes > mca_coll_epcoll_component.inline_limit || EPCOLL_ALLGATHER == call->kind) {
        return false;
    }
    return NULL == call->op || mca_coll_epcoll_is_as_packed(call->recv_type);
}

int mca_coll_epcoll_between_run(mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_call_t *call)
{
    bool makes_near;
    int rc;

    if (mca_coll_epcoll_is_near(handle, call)) {
        mca_coll_epcoll_count(handle, call->kind, EPCOLL_WAY_SMALL);
        rc = near_run(handle->near, call);
        return OPAL_LIKELY(MPI_SUCCESS == rc) ? rc : mca_coll_epcoll_ended(handle, rc);
    }
    mca_coll_epcoll_count(handle, call->kind, EPCOLL_WAY_BETWEEN);
    ++handle->calls;
    makes_near = near_make(handle, call->kind);
    rc = !has_own(call->kind)             ? mca_coll_epcoll_program_run(handle, call)
         : mca_coll_epcoll_is_short(call) ? mca_coll_epcoll_short_run(handle, call)
                                          : mca_coll_epcoll_long_run(handle, call);
    if (OPAL_UNLIKELY(makes_near)) {
        near_made(handle);
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        mca_coll_epcoll_break_all(handle, rc);
    }
    return rc;
}
