/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Leaders of a node's processes, in its memory: by coll_epcoll_leaders_reduce.h.
 *
 * Up to EPCOLL_FANOUT processes are put together as the tree of messages does it
 * (coll_epcoll_phase.c).  Of more, what shows in which order it was put together goes by messages.
 *
 * Called by coll_epcoll_hier_small.c.
 *
 * Tests: coll_nodes, coll_order, coll_late
 */

#include "ompi_config.h"

#include "../segment/segment.h"
#include "../local/local.h"
#include "coll_epcoll_node_leaders.h"
#include "coll_epcoll_node_segment.h"
#include "coll_epcoll_nodes.h"

#include "mpi.h"

mca_coll_epcoll_node_leaders_t mca_coll_epcoll_node_leaders(
    const mca_coll_epcoll_partners_t *partners, const mca_coll_epcoll_call_t *call)
{
    const mca_coll_epcoll_node_leaders_t by_messages = {.node_segment = NULL};
    mca_coll_epcoll_hier_t *hier = mca_coll_epcoll_hier(partners->handle);
    mca_coll_epcoll_tree_t across, within;
    mca_coll_epcoll_nodes_t nodes;

    if (hier->is_on_node || (hier->node_cutover.is_settled && !hier->node_cutover.is_used)) {
        return by_messages;
    }
    nodes = mca_coll_epcoll_nodes_of(partners->handle, call->op);
    if (nodes.is_flat
        || (mca_coll_epcoll_component.fanout < nodes.size && NULL != call->op
            && mca_coll_epcoll_order_matters(call))
        || !mca_coll_epcoll_node_segment_has_leaders(hier)) {
        return by_messages;
    }
    mca_coll_epcoll_trees_of(&nodes, mca_coll_epcoll_partners_top(partners, call->op), &across,
                             &within);
    return (mca_coll_epcoll_node_leaders_t){.node_segment = &hier->node_segment->view,
                                            .node_leader = within.turn};
}
