/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives by messages, of one member of each process.
 *
 * Processes of a node meet first, then one of each (coll_epcoll_nodes.h).
 *
 * Reductions put processes together in one order for a layout, whichever message comes first.
 * Those that may be used for ops that do not commute (recursive doubling, and a tree to process 0)
 * keep the order of processes: x0 op x1 op ...
 *
 * Tests: coll_layout, coll_nodes
 */

#include "ompi_config.h"

#include "coll_epcoll_nodes.h"
#include "coll_epcoll_party.h"

#include "mpi.h"
#include "ompi/op/op.h"

/** The nodes of a party's call: of one that has met, each with the member that stands for it. */
static mca_coll_epcoll_nodes_t nodes_of(const mca_coll_epcoll_party_t *party, ompi_op_t *op)
{
    mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(party->handle, op);

    nodes.size = party->has_met ? 1 : nodes.size;
    return nodes;
}

/* ---- barrier and bcast ----------------------------------------------------------------------- */

/** From above us in a tree, and on to those below. */
static int bcast_tree(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_tree_t *tree,
                      const mca_coll_epcoll_vector_t *vector, ompi_request_t **requests,
                      uint32_t *begun)
{
    uint32_t step = mca_coll_epcoll_step_up(tree);
    int rc = MPI_SUCCESS;

    if (0 != tree->own) {
        rc = mca_coll_epcoll_receive_one(party, vector,
                                         mca_coll_epcoll_in_tree(tree, tree->own - step));
    }
    for (step /= 2; 0 < step && MPI_SUCCESS == rc; step /= 2) {
        if (tree->own + step < tree->count) {
            rc = mca_coll_epcoll_send_to(
                party, vector,
                mca_coll_epcoll_party_rank(party, mca_coll_epcoll_in_tree(tree, tree->own + step)),
                &requests[(*begun)++]);
        }
    }
    return rc;
}

/** Likewise, and wait until it has gone. */
static int bcast_down(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_tree_t *tree,
                      const mca_coll_epcoll_vector_t *vector)
{
    ompi_request_t *requests[32];
    uint32_t begun = 0;
    int rc = bcast_tree(party, tree, vector, requests, &begun);

    while (0 < begun) {
        rc = mca_coll_epcoll_wait_for(party->handle, &requests[--begun], rc);
    }
    return rc;
}

/** Hear all below us in a tree, and tell the one above. */
static int barrier_up(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_tree_t *tree)
{
    const uint32_t up = mca_coll_epcoll_step_up(tree);
    const mca_coll_epcoll_vector_t nothing = {.type = MPI_BYTE};
    int rc = MPI_SUCCESS;

    for (uint32_t step = 1; step < up && tree->own + step < tree->count && MPI_SUCCESS == rc;
         step *= 2) {
        rc = mca_coll_epcoll_receive_one(party, &nothing,
                                         mca_coll_epcoll_in_tree(tree, tree->own + step));
    }
    return 0 == tree->own || MPI_SUCCESS != rc
               ? rc
               : mca_coll_epcoll_send_one(party, &nothing,
                                          mca_coll_epcoll_in_tree(tree, tree->own - up));
}

int mca_coll_epcoll_party_barrier(const mca_coll_epcoll_party_t *party)
{
    const mca_coll_epcoll_nodes_t nodes = nodes_of(party, NULL);
    const mca_coll_epcoll_vector_t nothing = {.type = MPI_BYTE};
    mca_coll_epcoll_tree_t across, within;
    int rc;

    mca_coll_epcoll_trees_of(&nodes, 0, &across, &within);
    rc = barrier_up(party, &within);
    for (uint32_t step = 1; step < across.count && MPI_SUCCESS == rc; step *= 2) {
        const uint32_t to = (nodes.own + step) % nodes.count,
                       from = (nodes.own + nodes.count - step) % nodes.count;

        rc = mca_coll_epcoll_exchange(party, &nothing, mca_coll_epcoll_process_of(&nodes, to, 0),
                                      &nothing, mca_coll_epcoll_process_of(&nodes, from, 0));
    }
    return MPI_SUCCESS == rc ? bcast_down(party, &within, &nothing) : rc;
}

int mca_coll_epcoll_party_bcast(const mca_coll_epcoll_party_t *party,
                                const mca_coll_epcoll_vector_t *vector,
                                int (*meanwhile)(void *context), void *context)
{
    const mca_coll_epcoll_nodes_t nodes = nodes_of(party, NULL);
    mca_coll_epcoll_tree_t across, within;
    ompi_request_t *requests[64];
    uint32_t begun = 0;
    int rc;

    mca_coll_epcoll_trees_of(&nodes, party->home, &across, &within);
    rc = bcast_tree(party, &across, vector, requests, &begun);
    rc = MPI_SUCCESS == rc ? bcast_tree(party, &within, vector, requests, &begun) : rc;
    if (MPI_SUCCESS == rc && NULL != meanwhile) {
        rc = meanwhile(context);
    }
    while (0 < begun) {
        rc = mca_coll_epcoll_wait_for(party->handle, &requests[--begun], rc);
    }
    return rc;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/** into = from op into */
static void party_combine(ompi_op_t *op, const mca_coll_epcoll_vector_t *from,
                          const mca_coll_epcoll_vector_t *into)
{
    if (0 < into->count) {
        ompi_op_reduce(op, from->address, into->address, (mca_coll_epcoll_count_t) into->count,
                       into->type);
    }
}

mca_coll_epcoll_vector_t mca_coll_epcoll_share_of(const mca_coll_epcoll_vector_t *vector,
                                                  uint32_t process, uint32_t processes)
{
    const size_t first = vector->count / processes * process
                         + vector->count % processes * process / processes;
    const size_t end = vector->count / processes * (process + 1)
                       + vector->count % processes * (process + 1) / processes;

    return mca_coll_epcoll_part_of(vector, first, end - first);
}

static void party_swap(mca_coll_epcoll_vector_t *a, mca_coll_epcoll_vector_t *b)
{
    const mca_coll_epcoll_vector_t c = *a;

    *a = *b;
    *b = c;
}

/** The result, wherever it has come to be, to where it belongs. */
static int party_settle(const mca_coll_epcoll_vector_t *result,
                        const mca_coll_epcoll_vector_t *vector)
{
    if (result->address == vector->address) {
        return MPI_SUCCESS;
    }
    return 0 > ompi_datatype_copy_content_same_ddt(vector->type, vector->count, vector->address,
                                                   result->address)
               ? MPI_ERR_INTERN
               : MPI_SUCCESS;
}

/** A vector to or from the process that stands for a node. */
static int send_node(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_nodes_t *nodes,
                     const mca_coll_epcoll_vector_t *vector, uint32_t node)
{
    return mca_coll_epcoll_send_one(party, vector, mca_coll_epcoll_process_of(nodes, node, 0));
}

static int receive_node(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_nodes_t *nodes,
                        const mca_coll_epcoll_vector_t *vector, uint32_t node)
{
    return mca_coll_epcoll_receive_one(party, vector, mca_coll_epcoll_process_of(nodes, node, 0));
}

/** Of the first process of each node. */
static int party_doubling(const mca_coll_epcoll_party_t *party,
                          const mca_coll_epcoll_nodes_t *nodes,
                          const mca_coll_epcoll_vector_t *vector, mca_coll_epcoll_vector_t room,
                          ompi_op_t *op)
{
    const uint32_t count = nodes->count, own = nodes->own;
    mca_coll_epcoll_vector_t result = *vector;
    uint32_t places = 1, pairs, place;
    int rc = MPI_SUCCESS;

    while (2 * places <= count) {
        places *= 2;
    }
    pairs = count - places;
    if (own < 2 * pairs && 0 == own % 2) {
        rc = send_node(party, nodes, vector, own + 1);
        return MPI_SUCCESS == rc ? receive_node(party, nodes, vector, own + 1) : rc;
    }
    if (own < 2 * pairs) {
        rc = receive_node(party, nodes, &room, own - 1);
        if (MPI_SUCCESS == rc) {
            party_combine(op, &room, &result);
        }
    }
    place = own < 2 * pairs ? own / 2 : own - pairs;
    for (uint32_t step = 1; step < places && MPI_SUCCESS == rc; step *= 2) {
        const uint32_t other = mca_coll_epcoll_process_at(place ^ step, pairs);
        const uint32_t process = mca_coll_epcoll_process_of(nodes, other, 0);

        rc = mca_coll_epcoll_exchange(party, &result, process, &room, process);
        if (MPI_SUCCESS == rc && other < own) {
            party_combine(op, &room, &result);
        } else if (MPI_SUCCESS == rc) {
            party_combine(op, &result, &room);
            party_swap(&result, &room);
        }
    }
    rc = MPI_SUCCESS == rc ? party_settle(&result, vector) : rc;
    return MPI_SUCCESS == rc && own < 2 * pairs ? send_node(party, nodes, vector, own - 1) : rc;
}

/**
 * To the root of a tree, in the order of numbers.
 *
 * @param result  what we have; becomes what it is together with all below us, and may change places
 *                with the room
 */
static int reduce_up(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_tree_t *tree,
                     mca_coll_epcoll_vector_t *result, mca_coll_epcoll_vector_t *room,
                     ompi_op_t *op)
{
    const uint32_t up = mca_coll_epcoll_step_up(tree);
    int rc = MPI_SUCCESS;

    for (uint32_t step = 1; step < up && tree->own + step < tree->count && MPI_SUCCESS == rc;
         step *= 2) {
        rc = mca_coll_epcoll_receive_one(party, room,
                                         mca_coll_epcoll_in_tree(tree, tree->own + step));
        if (MPI_SUCCESS == rc) {
            party_combine(op, result, room);
            party_swap(result, room);
        }
    }
    return 0 == tree->own || MPI_SUCCESS != rc
               ? rc
               : mca_coll_epcoll_send_one(party, result,
                                          mca_coll_epcoll_in_tree(tree, tree->own - up));
}

/** By nodes: their processes at the first of them, these by doubling, and back. */
static int by_nodes(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *vector,
                    mca_coll_epcoll_vector_t room, ompi_op_t *op)
{
    const mca_coll_epcoll_nodes_t nodes = nodes_of(party, op);
    mca_coll_epcoll_tree_t across, within;
    mca_coll_epcoll_vector_t result = *vector;
    int rc;

    mca_coll_epcoll_trees_of(&nodes, 0, &across, &within);
    rc = reduce_up(party, &within, &result, &room, op);
    if (MPI_SUCCESS == rc && 0 == nodes.place) {
        rc = party_doubling(party, &nodes, &result, room, op);
        rc = MPI_SUCCESS == rc ? party_settle(&result, vector) : rc;
    }
    return MPI_SUCCESS == rc ? bcast_down(party, &within, vector) : rc;
}

/** In a ring each process's part of the vector goes once round, and is put together on its way;
 * then again, to be told to all.  Processes of a node follow each other in it. */
static int party_ring(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *vector,
                      void *room, ompi_op_t *op)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(party->handle);
    const uint32_t count = layout->processes, own = layout->position[layout->own];
    const uint32_t next = layout->on_node[(own + 1) % count],
                   before = layout->on_node[(own + count - 1) % count];
    int rc = MPI_SUCCESS;

    for (uint32_t step = 0; step + 1 < 2 * count - 1 && MPI_SUCCESS == rc; ++step) {
        const bool puts_together = step + 1 < count;
        const mca_coll_epcoll_vector_t send
            = mca_coll_epcoll_share_of(vector, (own + 2 * count - step) % count, count);
        const mca_coll_epcoll_vector_t mine
            = mca_coll_epcoll_share_of(vector, (own + 2 * count - step - 1) % count, count);
        mca_coll_epcoll_vector_t recv = mine;

        if (puts_together) {
            recv.address = room;
        }
        rc = mca_coll_epcoll_exchange(party, &send, next, &recv, before);
        if (MPI_SUCCESS == rc && puts_together) {
            party_combine(op, &recv, &mine);
        }
    }
    return rc;
}

int mca_coll_epcoll_party_allreduce(const mca_coll_epcoll_party_t *party,
                                    const mca_coll_epcoll_vector_t *vector, ompi_op_t *op)
{
    const uint32_t count = mca_coll_epcoll_layout(party->handle)->processes;
    size_t most = vector->count, done = 0;
    mca_coll_epcoll_vector_t room = *vector;
    int rc = MPI_SUCCESS;
    bool whole;

    if (0 == vector->count) {
        return MPI_SUCCESS;
    }
    whole = mca_coll_epcoll_is_whole(vector, count, op);
    if (most > mca_coll_epcoll_room_elements(vector->type) * (whole ? 1 : count)) {
        most = mca_coll_epcoll_room_elements(vector->type) * (whole ? 1 : count);
    }
    room.address = mca_coll_epcoll_room(party->handle, EPCOLL_ROOM_COME, vector->type,
                                        whole ? most : (most + count - 1) / count);
    if (NULL == room.address) {
        return MPI_ERR_NO_MEM;
    }
    while (done < vector->count && MPI_SUCCESS == rc) {
        const size_t now = vector->count - done < most ? vector->count - done : most;
        const mca_coll_epcoll_vector_t part = mca_coll_epcoll_part_of(vector, done, now);

        room.count = now;
        rc = whole ? by_nodes(party, &part, room, op) : party_ring(party, &part, room.address, op);
        done += now;
    }
    return rc;
}

/** To process root: those of its node in a tree of which it is the first, others at the first of
 * their node, which are in a tree of nodes. */
static int to_root(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *vector,
                   mca_coll_epcoll_vector_t room, ompi_op_t *op, uint32_t root)
{
    const mca_coll_epcoll_nodes_t nodes = nodes_of(party, op);
    mca_coll_epcoll_tree_t across, within;
    mca_coll_epcoll_vector_t result = *vector;
    int rc;

    mca_coll_epcoll_trees_of(&nodes, root, &across, &within);
    rc = reduce_up(party, &within, &result, &room, op);
    rc = MPI_SUCCESS == rc ? reduce_up(party, &across, &result, &room, op) : rc;
    return MPI_SUCCESS == rc && root == mca_coll_epcoll_layout(party->handle)->own
               ? party_settle(&result, vector)
               : rc;
}

int mca_coll_epcoll_party_reduce(const mca_coll_epcoll_party_t *party,
                                 const mca_coll_epcoll_vector_t *vector, ompi_op_t *op)
{
    const uint32_t own = mca_coll_epcoll_layout(party->handle)->own;
    const uint32_t root = mca_coll_epcoll_party_top(party, op);
    const size_t most = mca_coll_epcoll_room_elements(vector->type);
    mca_coll_epcoll_vector_t room = *vector;
    int rc = MPI_SUCCESS;

    if (0 == vector->count) {
        return MPI_SUCCESS;
    }
    room.address = mca_coll_epcoll_room(party->handle, EPCOLL_ROOM_COME, vector->type,
                                        most < vector->count ? most : vector->count);
    if (NULL == room.address) {
        return MPI_ERR_NO_MEM;
    }
    for (size_t done = 0; done < vector->count && MPI_SUCCESS == rc; done += room.count) {
        mca_coll_epcoll_vector_t part;

        room.count = vector->count - done < most ? vector->count - done : most;
        part = mca_coll_epcoll_part_of(vector, done, room.count);
        rc = to_root(party, &part, room, op, root);
        if (MPI_SUCCESS == rc && root != party->home) {
            rc = own == root          ? mca_coll_epcoll_send_one(party, &part, party->home)
                 : own == party->home ? mca_coll_epcoll_receive_one(party, &part, root)
                                      : MPI_SUCCESS;
        }
    }
    return rc;
}
