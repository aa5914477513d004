/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pools of segments in the node's memory.
 *
 * Called by coll_epcoll_persistent.c.
 *
 * Tests: coll_pending
 */

#include "ompi_config.h"

#include "coll_epcoll_segment_pool.h"

#include "mpi.h"

#include <stdlib.h>

/** Operations of a group: a file in memory takes as long as a communicator to be made. */
#define POOL_SIZE 16

/** Keys of their memory: far behind all others. */
#define POOL_KEYS UINT32_C(0x80000000)

struct mca_coll_epcoll_pool_t {
    mpix_endpoints_memory_t *memory;
    uint32_t size;          /**< of the communicator */
    _Atomic uint32_t users; /**< operations, and the handle while it is the last */
};

/** In it, users counts the members that have the group. */
static epcoll_segment_t *first_segment(const mca_coll_epcoll_pool_t *pool)
{
    return pool->memory->base;
}

/** A member that receives nothing may be done before all have arrived. */
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

bool mca_coll_epcoll_pool_serves(const mca_coll_epcoll_handle_t *handle,
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
        return false; /* not all have arrived when it is over */
    }
}

static size_t size_of(const mca_coll_epcoll_handle_t *handle)
{
    return epcoll_segment_size(mca_coll_epcoll_size(handle), mca_coll_epcoll_component.fanout);
}

/** A new one.  @return NULL: no memory */
static mca_coll_epcoll_pool_t *pool_new(mca_coll_epcoll_handle_t *handle, uint32_t number)
{
    mca_coll_epcoll_pool_t *pool = malloc(sizeof(*pool));

    if (NULL == pool
        || MPI_SUCCESS
               != mca_coll_epcoll_component.engine->memory_get(
                   handle->view.comm, MPIX_ENDPOINTS_SCOPE_NODE, mca_coll_epcoll_component.client,
                   POOL_KEYS + number, POOL_SIZE * size_of(handle), &pool->memory)) {
        free(pool);
        return NULL;
    }
    atomic_init(&pool->users, 1);
    pool->size = mca_coll_epcoll_size(handle);
    /* Relaxed: a thread that reads it has left an operation at which all have arrived since. */
    atomic_fetch_add_explicit(&first_segment(pool)->users, 1, memory_order_relaxed);
    return pool;
}

mca_coll_epcoll_pool_t *mca_coll_epcoll_pool_get(mca_coll_epcoll_handle_t *handle,
                                                 mca_coll_epcoll_pools_t *pools,
                                                 epcoll_member_t *member)
{
    const uint32_t init = pools->inits++, place = init % POOL_SIZE;
    mca_coll_epcoll_pool_t *pool;
    char *base;

    if (0 == place) {
        mca_coll_epcoll_pool_put(pools->last);
        pools->last = pool_new(handle, init / POOL_SIZE);
    }
    pool = pools->last;
    if (NULL == pool) {
        return NULL;
    }
    base = pool->memory->base;
    epcoll_member_init(member, base + place * size_of(handle), mca_coll_epcoll_size(handle),
                       (uint32_t) mca_coll_epcoll_rank(handle), mca_coll_epcoll_component.fanout);
    member->aux = &mca_coll_epcoll_layout(handle)->aux;
    /* The node's block is used, or not, by the same calls at all members. */
    member->broken = mca_coll_epcoll_hier(handle)->node_cutover.is_used
                         ? mca_coll_epcoll_hier(handle)->node_segment->view.member.broken
                         : &first_segment(pool)->broken;
    /* Relaxed: a thread that adds one has one. */
    atomic_fetch_add_explicit(&pool->users, 1, memory_order_relaxed);
    return pool;
}

bool mca_coll_epcoll_pool_is_complete(const mca_coll_epcoll_pool_t *pool)
{
    /* Relaxed: as above.  A member without memory for its group may share its process with others
     * that have mapped what is shared. */
    return pool->size == atomic_load_explicit(&first_segment(pool)->users, memory_order_relaxed)
           && mca_coll_epcoll_component.engine->memory_is_complete(pool->memory);
}

void mca_coll_epcoll_pool_put(mca_coll_epcoll_pool_t *pool)
{
    /* Release: our uses of it; acquire: the others'.  Partner: this one, of other operations. */
    if (NULL != pool && 1 == atomic_fetch_sub_explicit(&pool->users, 1, memory_order_acq_rel)) {
        mca_coll_epcoll_component.engine->memory_put(pool->memory);
        free(pool);
    }
}
