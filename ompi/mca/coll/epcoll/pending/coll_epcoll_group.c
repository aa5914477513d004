/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Groups of blocks in the node's memory.
 *
 * Called by coll_epcoll_persistent.c.
 *
 * Tests: coll_pending
 */

#include "ompi_config.h"

#include "coll_epcoll_group.h"

#include "mpi.h"

#include <stdlib.h>

/** Operations of a group: a file in memory takes as long as a communicator to be made. */
#define GROUP 16

/** Keys of their memory: far behind all others. */
#define GROUP_KEYS UINT32_C(0x80000000)

struct mca_coll_epcoll_group_t {
    mpix_endpoints_memory_t *memory;
    uint32_t size;          /**< of the communicator */
    _Atomic uint32_t users; /**< operations, and the handle while it is the last */
};

/** In it, users counts the members that have the group. */
static epcoll_segment_t *first_block(const mca_coll_epcoll_group_t *group)
{
    return group->memory->base;
}

/** Who wants nothing may be through before all have come. */
static bool all_want_some(const mca_coll_epcoll_handle_t *handle,
                          const mca_coll_epcoll_call_t *call)
{
    for (uint32_t i = 0; EPCOLL_REDUCE_SCATTER == call->kind && i < mca_coll_epcoll_size(handle);
         ++i) {
        if (0 == EPCOLL_COUNT(call->recv_counts, i)) {
            return false;
        }
    }
    return true;
}

bool mca_coll_epcoll_group_serves(const mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call)
{
    const epcoll_member_t all = {.count = mca_coll_epcoll_size(handle),
                                 .levels = mca_coll_epcoll_size(handle)
                                           > mca_coll_epcoll_component.fanout};

    switch (call->kind) {
    case EPCOLL_BARRIER:
        return mca_coll_epcoll_is_on_node(handle);
    case EPCOLL_ALLGATHER:
    case EPCOLL_ALLREDUCE:
    case EPCOLL_ALLTOALL:
    case EPCOLL_REDUCE_SCATTER:
    case EPCOLL_REDUCE_SCATTER_BLOCK:
        return mca_coll_epcoll_is_on_node(handle) && all_want_some(handle, call)
               && mca_coll_epcoll_node_segment_fits(handle, &all, call);
    default:
        return false; /* not all have come when it is over */
    }
}

static size_t size_of(const mca_coll_epcoll_handle_t *handle)
{
    return epcoll_segment_size(mca_coll_epcoll_size(handle), mca_coll_epcoll_component.fanout);
}

/** A new one.  @return NULL: no memory */
static mca_coll_epcoll_group_t *group_new(mca_coll_epcoll_handle_t *handle, uint32_t number)
{
    mca_coll_epcoll_group_t *group = malloc(sizeof(*group));

    if (NULL == group
        || MPI_SUCCESS
               != mca_coll_epcoll_component.engine->memory_get(
                   handle->comm, MPIX_ENDPOINTS_SCOPE_NODE, mca_coll_epcoll_component.client,
                   GROUP_KEYS + number, GROUP * size_of(handle), &group->memory)) {
        free(group);
        return NULL;
    }
    atomic_init(&group->users, 1);
    group->size = mca_coll_epcoll_size(handle);
    /* Relaxed: a thread that looks at it has left an operation that all have come to since. */
    atomic_fetch_add_explicit(&first_block(group)->users, 1, memory_order_relaxed);
    return group;
}

mca_coll_epcoll_group_t *mca_coll_epcoll_group_get(mca_coll_epcoll_handle_t *handle,
                                                   mca_coll_epcoll_groups_t *groups,
                                                   epcoll_member_t *member)
{
    const uint32_t init = groups->inits++, place = init % GROUP;
    mca_coll_epcoll_group_t *group;
    char *base;

    if (0 == place) {
        mca_coll_epcoll_group_put(groups->last);
        groups->last = group_new(handle, init / GROUP);
    }
    group = groups->last;
    if (NULL == group) {
        return NULL;
    }
    base = group->memory->base;
    epcoll_member_init(member, base + place * size_of(handle), mca_coll_epcoll_size(handle),
                       (uint32_t) mca_coll_epcoll_rank(handle), mca_coll_epcoll_component.fanout);
    member->aux = &mca_coll_epcoll_layout(handle)->aux;
    /* The node's block is used, or not, by the same calls at all members. */
    member->broken = mca_coll_epcoll_hier(handle)->blocks.is_used
                         ? mca_coll_epcoll_hier(handle)->node_segment->super.member.broken
                         : &first_block(group)->broken;
    /* Relaxed: a thread that adds one has one. */
    atomic_fetch_add_explicit(&group->users, 1, memory_order_relaxed);
    return group;
}

bool mca_coll_epcoll_group_is_whole(const mca_coll_epcoll_group_t *group)
{
    /* Relaxed: as above.  A member without memory for its group may have neighbours in its process
     * that have mapped what is shared. */
    return group->size == atomic_load_explicit(&first_block(group)->users, memory_order_relaxed)
           && mca_coll_epcoll_component.engine->memory_is_complete(group->memory);
}

void mca_coll_epcoll_group_put(mca_coll_epcoll_group_t *group)
{
    /* Release: our uses of it; acquire: the others'.  Partner: this one, of other operations. */
    if (NULL != group && 1 == atomic_fetch_sub_explicit(&group->users, 1, memory_order_acq_rel)) {
        mca_coll_epcoll_component.engine->memory_put(group->memory);
        free(group);
    }
}
