/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Segments in the node's memory for persistent operations.  Consecutive operations have theirs in
 * one piece of memory, a pool, which is allocated with the first of them and released with the
 * last.
 *
 * Whether all members have it is known after the first operation at which all arrive: its first
 * start.  So the first start uses messages; later ones use the segment if all have it.
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

/** Make the segment of an operation: a reference to its pool, and the member's view.
 * @return NULL: we have none, so it is not used by any member */
mca_coll_epcoll_pool_t *mca_coll_epcoll_pool_get(mca_coll_epcoll_handle_t *handle,
                                                 mca_coll_epcoll_pools_t *pools,
                                                 epcoll_member_t *member);

/** Do all members have it?  After the first start. */
bool mca_coll_epcoll_pool_is_complete(const mca_coll_epcoll_pool_t *pool);

/** Let go of one.  Any thread.  @param pool  NULL: nothing */
void mca_coll_epcoll_pool_put(mca_coll_epcoll_pool_t *pool);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_SEGMENT_POOL_H */
