/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Blocks of the members of a process beside their first one: one for nonblocking operations, and
 * one for each persistent one.  They are got when they are needed, and break with the first.
 *
 * A member may be through with all that it wanted of a block before another one has got it: a root
 * that broadcasts something small, for one.  What it has said there must stay, so a block is put
 * back when all members have got it.  One that cannot be put back yet is kept by the handle, and
 * when that goes by the communicator's first block, until the last of its handles goes.
 */

#ifndef MCA_COLL_EPCOLL_OP_SEGMENT_H
#define MCA_COLL_EPCOLL_OP_SEGMENT_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** A handle's hold on such a block. */
typedef struct mca_coll_epcoll_op_segment_t mca_coll_epcoll_op_segment_t;
struct mca_coll_epcoll_op_segment_t {
    mpix_endpoints_memory_t *memory;
    mca_coll_epcoll_op_segment_t *next; /**< of those that are kept */
};

/** Sides that a handle keeps. */
typedef struct mca_coll_epcoll_deferred_t {
    mca_coll_epcoll_op_segment_t *_Atomic first; /**< any thread adds some, the last one in front */
    mca_coll_epcoll_op_segment_t *oldest, *newest; /**< the handle's thread: those before them */
} mca_coll_epcoll_deferred_t;

/**
 * Get a block, and make the member's view of it.
 *
 * @param key  not 0; the same at all members for the same block, and used once
 *
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM: the other members have to be told
 */
int mca_coll_epcoll_op_segment_get(mca_coll_epcoll_handle_t *handle, uint32_t key,
                                   epcoll_member_t *member,
                                   mca_coll_epcoll_op_segment_t **segment_p);

/** Put it back, or keep it.  Any thread. */
void mca_coll_epcoll_op_segment_put(mca_coll_epcoll_deferred_t *deferred,
                                    const epcoll_member_t *member,
                                    mca_coll_epcoll_op_segment_t *segment);

/** Put back those that were kept and need not be any more.  The thread of the handle.
 * @param member  of any block of the handle's process */
void mca_coll_epcoll_deferred_put(mca_coll_epcoll_deferred_t *deferred,
                                  const epcoll_member_t *member);

/** A handle has its first block. */
void mca_coll_epcoll_deferred_begin(epcoll_member_t *member);

/** A handle goes, and is about to put back its first block.  @param kept  NULL: it has none */
void mca_coll_epcoll_deferred_end(epcoll_member_t *member, mca_coll_epcoll_deferred_t *deferred);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_OP_SEGMENT_H */
