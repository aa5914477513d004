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
 * Up to EPCOLL_FAN processes are put together as the tree of messages does it
 * (coll_epcoll_stage.c).  Of more, what shows in which order it was put together goes by messages.
 *
 * Called by coll_epcoll_short.c.
 *
 * Tests: coll_nodes, coll_order, coll_late
 */

#include "ompi_config.h"

#include "../segment/segment.h"
#include "../local/local.h"
#include "coll_epcoll_leaders.h"
#include "coll_epcoll_near.h"
#include "coll_epcoll_nodes.h"

#include "mpi.h"

mca_coll_epcoll_meeting_t mca_coll_epcoll_leaders_meet(const mca_coll_epcoll_party_t *party,
                                                       const mca_coll_epcoll_call_t *call)
{
    const mca_coll_epcoll_meeting_t by_messages = {.near = NULL};
    mca_coll_epcoll_wide_t *wide = mca_coll_epcoll_wide(party->handle);
    mca_coll_epcoll_tree_t across, within;
    mca_coll_epcoll_nodes_t nodes;

    if (wide->may_be_near || (wide->blocks.is_settled && !wide->blocks.is_used)) {
        return by_messages;
    }
    nodes = mca_coll_epcoll_nodes_of(party->handle, call->op);
    if (nodes.is_flat
        || (mca_coll_epcoll_component.fan < nodes.size && NULL != call->op
            && mca_coll_epcoll_shows_order(call))
        || !mca_coll_epcoll_near_meets(wide)) {
        return by_messages;
    }
    mca_coll_epcoll_trees_of(&nodes, mca_coll_epcoll_party_top(party, call->op), &across, &within);
    return (mca_coll_epcoll_meeting_t){.near = &wide->near->super, .stands = within.turn};
}
