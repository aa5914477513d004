/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Where members are on several nodes, the leaders of a node's processes meet in its memory, in
 * small calls: their data go up to the member that stands for the node, and the result comes down,
 * without a message.  Between nodes it goes by messages, whether nodes meet so or not.
 *
 * A place in that block (coll_epcoll_node_segment.h) is a process's: coll_epcoll_leaders_reduce.h.
 * Who leads a process comes there when it has heard from all its members, by the block of the
 * process.
 */

#ifndef MCA_COLL_EPCOLL_NODE_LEADERS_H
#define MCA_COLL_EPCOLL_NODE_LEADERS_H

#include "ompi_config.h"

#include "coll_epcoll_partners.h"

BEGIN_C_DECLS

/** Where leaders of a node meet in a call. */
typedef struct mca_coll_epcoll_node_leaders_t {
    mca_coll_epcoll_handle_t
        *node_segment;    /**< the block of the node's processes; NULL: by messages */
    uint32_t node_leader; /**< the place of the process that stands for the node */
} mca_coll_epcoll_node_leaders_t;

/**
 * A barrier, or a reduction of what fits in a slot, begins: do leaders meet in memory?  Once in a
 * call at each member, whether it leads or not; the same answer on all of a node.
 *
 * If so, the leader calls epcoll_leaders_reduce, and epcoll_leaders_bcast unless only a root gets
 * the result; the other members call epcoll_leaders_skip.
 */
mca_coll_epcoll_node_leaders_t mca_coll_epcoll_node_leaders(
    const mca_coll_epcoll_partners_t *partners, const mca_coll_epcoll_call_t *call);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_NODE_LEADERS_H */
