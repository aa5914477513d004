/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The level of nodes: node leaders, and how processes of a node and nodes reach each other.
 *
 * A phase of whole vectors between processes has two levels: a tree of the processes of a node, and
 * the node leaders.  Where all are on one node, or no two on any, the first level has nothing to
 * do.  Nodes have any number of processes, which need not follow each other.  An op that does not
 * commute needs that; where they do not, each process counts as a node.
 */

#ifndef MCA_COLL_EPCOLL_NODES_H
#define MCA_COLL_EPCOLL_NODES_H

#include "ompi_config.h"

#include "coll_epcoll_exchange.h"

BEGIN_C_DECLS

/** How processes are grouped in a call. */
typedef struct mca_coll_epcoll_nodes_t {
    const mca_coll_epcoll_layout_t *layout;
    bool is_flat;         /**< each process is a node */
    uint32_t count, own;  /**< nodes, and ours */
    uint32_t size, place; /**< processes of ours, and which of them we are */
} mca_coll_epcoll_nodes_t;

/** @param op  that puts whole vectors together; NULL: nothing does */
static inline mca_coll_epcoll_nodes_t mca_coll_epcoll_nodes_of(
    const mca_coll_epcoll_handle_t *handle, ompi_op_t *op)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);
    const uint32_t own = layout->node_of[layout->own];

    if (NULL != op && !layout->is_by_node && !ompi_op_is_commute(op)) {
        return (mca_coll_epcoll_nodes_t){.layout = layout,
                                         .is_flat = true,
                                         .count = layout->processes,
                                         .own = layout->own,
                                         .size = 1};
    }
    return (mca_coll_epcoll_nodes_t){.layout = layout,
                                     .count = layout->nodes,
                                     .own = own,
                                     .size = layout->node_first[own + 1] - layout->node_first[own],
                                     .place = layout->position[layout->own]
                                              - layout->node_first[own]};
}

/** A process, by its node and its place there. */
static inline uint32_t mca_coll_epcoll_process_of(const mca_coll_epcoll_nodes_t *nodes,
                                                  uint32_t node, uint32_t place)
{
    return nodes->is_flat ? node : nodes->layout->on_node[nodes->layout->node_first[node] + place];
}

static inline uint32_t mca_coll_epcoll_node_size(const mca_coll_epcoll_nodes_t *nodes,
                                                 uint32_t node)
{
    return nodes->is_flat ? 1
                          : nodes->layout->node_first[node + 1] - nodes->layout->node_first[node];
}

/**
 * A binomial tree, of the node leaders, or of the processes of our node.  Its root has number 0;
 * below a number are the numbers that are 1, 2, 4 ... more, up to its own lowest bit.
 */
typedef struct mca_coll_epcoll_tree_t {
    const mca_coll_epcoll_nodes_t *nodes;
    bool is_across;      /**< of the node leaders */
    uint32_t count, own; /**< numbers; ours.  Of one that we are not in: 1 and 0 */
    uint32_t root;       /**< the root's process */
    uint32_t turn;       /**< its node, or its place on ours */
} mca_coll_epcoll_tree_t;

/** Both trees to or from a process.  It is its node's leader; of another node, the first process
 * there. */
static inline void mca_coll_epcoll_trees_of(const mca_coll_epcoll_nodes_t *nodes, uint32_t root,
                                            mca_coll_epcoll_tree_t *across,
                                            mca_coll_epcoll_tree_t *within)
{
    const mca_coll_epcoll_layout_t *layout = nodes->layout;
    const uint32_t home = nodes->is_flat ? root : layout->node_of[root];
    const uint32_t node_leader = home == nodes->own && !nodes->is_flat
                                     ? layout->position[root] - layout->node_first[home]
                                     : 0;
    const bool is_in = node_leader == nodes->place;

    *across = (mca_coll_epcoll_tree_t){
        .nodes = nodes,
        .is_across = true,
        .count = is_in ? nodes->count : 1,
        .own = is_in ? (nodes->own + nodes->count - home) % nodes->count : 0,
        .root = root,
        .turn = home};
    *within = (mca_coll_epcoll_tree_t){
        .nodes = nodes,
        .count = nodes->size,
        .own = (nodes->place + nodes->size - node_leader) % nodes->size,
        .root = mca_coll_epcoll_process_of(nodes, nodes->own, node_leader),
        .turn = node_leader};
}

/** The process of a number in a tree. */
static inline uint32_t mca_coll_epcoll_in_tree(const mca_coll_epcoll_tree_t *tree, uint32_t number)
{
    const uint32_t turned = (number + tree->turn) % tree->count;

    return 0 == number       ? tree->root
           : tree->is_across ? mca_coll_epcoll_process_of(tree->nodes, turned, 0)
                             : mca_coll_epcoll_process_of(tree->nodes, tree->nodes->own, turned);
}

/** The distance from a number to the one above it; of the root: the first power of two that is not
 * below count. */
static inline uint32_t mca_coll_epcoll_step_up(const mca_coll_epcoll_tree_t *tree)
{
    uint32_t step = 1;

    while (step < tree->count && 0 == (tree->own & step)) {
        step *= 2;
    }
    return step;
}

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_NODES_H */
