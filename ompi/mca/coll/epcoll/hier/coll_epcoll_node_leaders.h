/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reduction among the leaders of a node's processes, in its memory, in small calls of members on
 * several nodes: their data go up to the node leader, and the result comes down, without a message.
 * Between nodes there are messages in any case.
 *
 * A member of that segment (coll_epcoll_node_segment.h) is a process: coll_epcoll_leaders_reduce.h.
 * A process's leader arrives there when all members of its process have arrived in the process's
 * segment.
 */

#ifndef MCA_COLL_EPCOLL_NODE_LEADERS_H
#define MCA_COLL_EPCOLL_NODE_LEADERS_H

#include "ompi_config.h"

#include "coll_epcoll_partners.h"

BEGIN_C_DECLS

/** The node leader's place, and the segment of its processes, in a call. */
typedef struct mca_coll_epcoll_node_leaders_t {
    mca_coll_epcoll_view_t
        *node_segment;    /**< the segment of the node's processes; NULL: by messages */
    uint32_t node_leader; /**< the place of the node leader's process */
} mca_coll_epcoll_node_leaders_t;

/**
 * A barrier, or a reduction of data that fit in a slot, begins: do the leaders of the node's
 * processes use its memory?  Once in a call at each member, whether it leads or not; the same
 * answer on all of a node.
 *
 * If so, the leader calls epcoll_leaders_reduce, and epcoll_leaders_bcast unless only a root gets
 * the result; the other members call epcoll_leaders_skip.
 */
mca_coll_epcoll_node_leaders_t mca_coll_epcoll_node_leaders(
    const mca_coll_epcoll_partners_t *partners, const mca_coll_epcoll_call_t *call);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_NODE_LEADERS_H */
