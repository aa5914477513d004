/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Blocks in the node's memory for persistent operations: some that are made one after the other
 * have theirs in one partition of memory, a group, which is got with the first of them and goes
 * with the last.
 *
 * Whether all members have it nobody knows before an operation that all have come to is over: its
 * first start is such a one.  So that goes by messages, and those behind it through the block, or
 * none does.
 */

#ifndef MCA_COLL_EPCOLL_SEGMENT_POOL_H
#define MCA_COLL_EPCOLL_SEGMENT_POOL_H

#include "ompi_config.h"

#include "../hier/hier.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_pool_t mca_coll_epcoll_pool_t;

/** The group that the next operation is in. */
typedef struct mca_coll_epcoll_pools_t {
    mca_coll_epcoll_pool_t *last; /**< NULL: none, or it is without memory */
    uint32_t inits;               /**< that have asked for a block */
} mca_coll_epcoll_pools_t;

/** May an operation have a block there?  The same answer at all members. */
bool mca_coll_epcoll_pool_serves(const mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call);

/** One that may is made: a hold on its group, and the member's view of its block.
 * @return NULL: we have none, so nobody uses it */
mca_coll_epcoll_pool_t *mca_coll_epcoll_pool_get(mca_coll_epcoll_handle_t *handle,
                                                 mca_coll_epcoll_pools_t *pools,
                                                 epcoll_member_t *member);

/** Do all members have it?  After the first start. */
bool mca_coll_epcoll_pool_is_complete(const mca_coll_epcoll_pool_t *pool);

/** Let go of one.  Any thread.  @param group  NULL: nothing */
void mca_coll_epcoll_pool_put(mca_coll_epcoll_pool_t *pool);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_SEGMENT_POOL_H */
