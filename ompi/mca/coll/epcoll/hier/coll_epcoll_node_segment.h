/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Segments in the node's memory.  Where all members are on one node: segments of all of them, by
 * rank, for blocking and for nonblocking calls, and rings for calls whose members run ahead.  Where
 * they are on several nodes: a segment of the processes of each node that has several of them
 * (coll_epcoll_node_leaders.h).
 *
 * To make and map a file in memory takes as long as to make a communicator.  So a communicator gets
 * a node segment when it has been in use for a while, and rings after a number of calls that could
 * use them.  From which call on all use it, members agree by a word in it (coll_epcoll_cutover.h).
 */

#ifndef MCA_COLL_EPCOLL_NODE_SEGMENT_H
#define MCA_COLL_EPCOLL_NODE_SEGMENT_H

#include "ompi_config.h"

#include "../local/local.h"

BEGIN_C_DECLS

/** Which of these may there be?  In the client's make.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_node_segment_init(mca_coll_epcoll_hier_t *hier);

/** Blocks in the node's memory. */
enum { EPCOLL_NODE_SEGMENT_BLOCKING, EPCOLL_NODE_SEGMENT_NONBLOCKING, EPCOLL_NODE_SEGMENTS };

/** mca_coll_epcoll_node_segment_next, as long as it is not settled. */
void mca_coll_epcoll_node_segment_settle(mca_coll_epcoll_hier_t *hier,
                                         const mca_coll_epcoll_call_t *call);

/** A call begins, blocking or not, of a handle whose members live in several processes: once in
 * each.  Afterwards the two below are the same at all members. */
static inline void mca_coll_epcoll_node_segment_next(mca_coll_epcoll_handle_t *handle,
                                                     const mca_coll_epcoll_call_t *call)
{
    if (mca_coll_epcoll_is_on_node(handle)
        && OPAL_UNLIKELY(!mca_coll_epcoll_hier(handle)->ring_cutover.is_settled)) {
        mca_coll_epcoll_node_segment_settle(mca_coll_epcoll_hier(handle), call);
    }
}

/** Does a call go through slots of the node's memory?  A bcast does not: by messages its root may
 * be further ahead of the others. */
bool mca_coll_epcoll_uses_node_slots(const mca_coll_epcoll_hier_t *hier,
                                     const mca_coll_epcoll_call_t *call);

/** Does a blocking call of a kind that has rings go through them?  Also one that might go through
 * slots. */
bool mca_coll_epcoll_uses_node_rings(const mca_coll_epcoll_hier_t *hier,
                                     const mca_coll_epcoll_call_t *call);

/** All of a blocking call that does one of them.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_node_slots_run(mca_coll_epcoll_hier_t *hier,
                                   const mca_coll_epcoll_call_t *call);
int mca_coll_epcoll_node_rings_run(mca_coll_epcoll_hier_t *hier,
                                   const mca_coll_epcoll_call_t *call);

/** Does a call fit in slots of the node's memory, of as many members as that, and may it go there?
 * What it gives must not change when it goes there for the first time. */
bool mca_coll_epcoll_node_segment_fits(const mca_coll_epcoll_handle_t *handle,
                                       const epcoll_member_t *member,
                                       const mca_coll_epcoll_call_t *call);

/** The member's view of one of the blocks there, by rank; all break together. */
void mca_coll_epcoll_node_segment_view(const mca_coll_epcoll_hier_t *hier, uint32_t which,
                                       epcoll_member_t *member);

/** Members are on several nodes, and a call begins in which leaders of processes could use our
 * node's memory: do they?  Once in each such call, at each member; the same answer at all on the
 * node. */
bool mca_coll_epcoll_node_segment_has_leaders(mca_coll_epcoll_hier_t *hier);

/** Release the node segment. */
void mca_coll_epcoll_node_segment_put(mca_coll_epcoll_hier_t *hier);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_NODE_SEGMENT_H */
