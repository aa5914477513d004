/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Collectives by messages, of one member of each process.
 *
 * Reductions put processes together in one order for a layout, whichever message comes first.  Those
 * that may be used for ops that do not commute (recursive doubling, and a tree to process 0) keep the
 * order of processes: x0 op x1 op ...
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_party.h"

#include "mpi.h"
#include "ompi/op/op.h"

/** Requests that wait together. */
#define BATCH 16

/* ---- barrier and bcast ----------------------------------------------------------------------- */

/** Waits for those below us in the tree of the node's processes, and tells the one above.
 * @return how many processes that one is before us; of the node's first one: how many there are */
static uint32_t barrier_up(const mca_coll_epcoll_party_t *party, int *rc)
{
    const uint32_t on_node = mca_coll_epcoll_layout(party->handle)->on_node,
                   own = mca_coll_epcoll_layout(party->handle)->own;
    const mca_coll_epcoll_vector_t nothing = {.type = MPI_BYTE};
    uint32_t step;

    for (step = 1; step < on_node && 0 == (own % on_node & step); step *= 2) {
        if (MPI_SUCCESS == *rc) {
            *rc = mca_coll_epcoll_receive_one(party, &nothing, own + step);
        }
    }
    if (step < on_node && MPI_SUCCESS == *rc) {
        *rc = mca_coll_epcoll_send_one(party, &nothing, own - step);
    }
    return step;
}

int mca_coll_epcoll_party_barrier(const mca_coll_epcoll_party_t *party)
{
    const uint32_t on_node = mca_coll_epcoll_layout(party->handle)->on_node,
                   own = mca_coll_epcoll_layout(party->handle)->own;
    const uint32_t count = mca_coll_epcoll_layout(party->handle)->processes;
    const mca_coll_epcoll_vector_t nothing = {.type = MPI_BYTE};
    int rc = MPI_SUCCESS;
    uint32_t place = barrier_up(party, &rc);

    if (place < on_node && MPI_SUCCESS == rc) {
        rc = mca_coll_epcoll_receive_one(party, &nothing, own - place);
    }
    for (uint32_t step = on_node; place == on_node && step < count && MPI_SUCCESS == rc;
         step *= 2) {
        rc = mca_coll_epcoll_exchange(party, &nothing, (own + step) % count, &nothing,
                                      (own + count - step) % count);
    }
    for (place /= 2; 0 < place && MPI_SUCCESS == rc; place /= 2) {
        rc = mca_coll_epcoll_send_one(party, &nothing, own + place);
    }
    return rc;
}

/** Who is in a tree of a bcast: of nodes, or of the processes of ours. */
typedef struct tree_t {
    uint32_t count, own;  /**< the root, or who stands for it on our node, is 0 */
    uint32_t home, first; /**< the root's number; of the node's processes the first one */
    uint32_t root;        /**< the root's process */
    uint32_t stride;      /**< processes from one to the next */
} tree_t;

/** The process of a number in a tree.  The root stands for its node, for others the first one. */
static uint32_t process_in(const tree_t *tree, uint32_t number)
{
    return 0 == number ? tree->root
                       : tree->first + (number + tree->home) % tree->count * tree->stride;
}

/** From above us in a tree, and on to those below. */
static int bcast_tree(const mca_coll_epcoll_party_t *party, const tree_t *tree,
                      const mca_coll_epcoll_vector_t *vector, ompi_request_t **requests,
                      uint32_t *begun)
{
    uint32_t step = 1;
    int rc = MPI_SUCCESS;

    while (step < tree->count && 0 == (tree->own & step)) {
        step *= 2;
    }
    if (0 != tree->own) {
        rc = mca_coll_epcoll_receive_one(party, vector, process_in(tree, tree->own ^ step));
    }
    for (step /= 2; 0 < step && MPI_SUCCESS == rc; step /= 2) {
        if (tree->own + step < tree->count) {
            rc = mca_coll_epcoll_send_to(
                party, vector,
                mca_coll_epcoll_party_rank(party, process_in(tree, tree->own + step)),
                &requests[(*begun)++]);
        }
    }
    return rc;
}

int mca_coll_epcoll_party_bcast(const mca_coll_epcoll_party_t *party,
                                const mca_coll_epcoll_vector_t *vector,
                                int (*meanwhile)(void *context), void *context)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(party->handle);
    const uint32_t on_node = layout->on_node, count = layout->processes / on_node;
    const uint32_t node = layout->own / on_node, home = party->home / on_node;
    const uint32_t stands = node == home ? party->home : node * on_node;
    const tree_t nodes = {.count = count,
                          .own = (node + count - home) % count,
                          .home = home,
                          .root = party->home,
                          .stride = on_node};
    const tree_t own_node = {.count = on_node,
                             .own = (layout->own + on_node - stands % on_node) % on_node,
                             .home = stands % on_node,
                             .first = node * on_node,
                             .root = stands,
                             .stride = 1};
    ompi_request_t *requests[32];
    uint32_t begun = 0;
    int rc = MPI_SUCCESS;

    if (stands == layout->own) {
        rc = bcast_tree(party, &nodes, vector, requests, &begun);
    }
    rc = MPI_SUCCESS == rc ? bcast_tree(party, &own_node, vector, requests, &begun) : rc;
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
static void combine(ompi_op_t *op, const mca_coll_epcoll_vector_t *from,
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

static void swap(mca_coll_epcoll_vector_t *a, mca_coll_epcoll_vector_t *b)
{
    const mca_coll_epcoll_vector_t c = *a;

    *a = *b;
    *b = c;
}

/** The result, wherever it has come to be, to where it belongs. */
static int settle(const mca_coll_epcoll_vector_t *result, const mca_coll_epcoll_vector_t *vector)
{
    if (result->address == vector->address) {
        return MPI_SUCCESS;
    }
    return 0 > ompi_datatype_copy_content_same_ddt(vector->type, vector->count, vector->address,
                                                   result->address)
               ? MPI_ERR_INTERN
               : MPI_SUCCESS;
}

/** Of the first process of each node. */
static int doubling(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *vector,
                    mca_coll_epcoll_vector_t room, ompi_op_t *op)
{
    const uint32_t on_node = mca_coll_epcoll_layout(party->handle)->on_node;
    const uint32_t count = mca_coll_epcoll_layout(party->handle)->processes / on_node;
    const uint32_t own = mca_coll_epcoll_layout(party->handle)->own / on_node;
    mca_coll_epcoll_vector_t result = *vector;
    uint32_t places = 1, pairs, place;
    int rc = MPI_SUCCESS;

    while (2 * places <= count) {
        places *= 2;
    }
    pairs = count - places;
    if (own < 2 * pairs && 0 == own % 2) {
        rc = mca_coll_epcoll_send_one(party, vector, (own + 1) * on_node);
        return MPI_SUCCESS == rc ? mca_coll_epcoll_receive_one(party, vector, (own + 1) * on_node)
                                 : rc;
    }
    if (own < 2 * pairs) {
        rc = mca_coll_epcoll_receive_one(party, &room, (own - 1) * on_node);
        if (MPI_SUCCESS == rc) {
            combine(op, &room, &result);
        }
    }
    place = own < 2 * pairs ? own / 2 : own - pairs;
    for (uint32_t step = 1; step < places && MPI_SUCCESS == rc; step *= 2) {
        const uint32_t other = mca_coll_epcoll_process_at(place ^ step, pairs);

        rc = mca_coll_epcoll_exchange(party, &result, other * on_node, &room, other * on_node);
        if (MPI_SUCCESS == rc && other < own) {
            combine(op, &room, &result);
        } else if (MPI_SUCCESS == rc) {
            combine(op, &result, &room);
            swap(&result, &room);
        }
    }
    rc = MPI_SUCCESS == rc ? settle(&result, vector) : rc;
    if (MPI_SUCCESS == rc && own < 2 * pairs) {
        rc = mca_coll_epcoll_send_one(party, vector, (own - 1) * on_node);
    }
    return rc;
}

/**
 * By nodes: their processes at the first of them, these by doubling, and back.  As long as nodes have 2, 4,
 * 8 ... processes, doubling of all would put the same together in the same order, so the result has the same
 * bits.
 */
static int by_nodes(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *vector,
                    mca_coll_epcoll_vector_t room, ompi_op_t *op)
{
    const uint32_t on_node = mca_coll_epcoll_layout(party->handle)->on_node,
                   own = mca_coll_epcoll_layout(party->handle)->own;
    const uint32_t place = own % on_node;
    mca_coll_epcoll_vector_t result = *vector;
    uint32_t step;
    int rc = MPI_SUCCESS;

    for (step = 1; step < on_node && 0 == (place & step) && MPI_SUCCESS == rc; step *= 2) {
        rc = mca_coll_epcoll_receive_one(party, &room, own + step);
        if (MPI_SUCCESS == rc) {
            combine(op, &result, &room);
            swap(&result, &room);
        }
    }
    if (MPI_SUCCESS == rc && 0 == place) {
        rc = doubling(party, &result, room, op);
        rc = MPI_SUCCESS == rc ? settle(&result, vector) : rc;
    } else if (MPI_SUCCESS == rc) {
        rc = mca_coll_epcoll_send_one(party, &result, own - step);
        rc = MPI_SUCCESS == rc ? mca_coll_epcoll_receive_one(party, vector, own - step) : rc;
    }
    for (step /= 2; 0 < step && MPI_SUCCESS == rc; step /= 2) {
        rc = mca_coll_epcoll_send_one(party, vector, own + step);
    }
    return rc;
}

/** In a ring each process's part of the vector goes once round, and is put together on its way; then
 * again, to be told to all. */
static int ring(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *vector,
                void *room, ompi_op_t *op)
{
    const uint32_t count = mca_coll_epcoll_layout(party->handle)->processes,
                   own = mca_coll_epcoll_layout(party->handle)->own;
    const uint32_t next = (own + 1) % count, before = (own + count - 1) % count;
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
            combine(op, &recv, &mine);
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
        rc = whole ? by_nodes(party, &part, room, op) : ring(party, &part, room.address, op);
        done += now;
    }
    return rc;
}

/** To process root; own, root and who comes after whom are those of a tree in the order of processes,
 * turned so that the root is its first. */
static int tree(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *vector,
                mca_coll_epcoll_vector_t room, ompi_op_t *op, uint32_t root)
{
    const uint32_t count = mca_coll_epcoll_layout(party->handle)->processes;
    const uint32_t own = (mca_coll_epcoll_layout(party->handle)->own + count - root) % count;
    mca_coll_epcoll_vector_t result = *vector;
    int rc = MPI_SUCCESS;

    for (uint32_t step = 1; step < count && MPI_SUCCESS == rc; step *= 2) {
        if (0 != (own & step)) {
            return mca_coll_epcoll_send_one(party, &result, (own - step + root) % count);
        }
        if (own + step < count) {
            rc = mca_coll_epcoll_receive_one(party, &room, (own + step + root) % count);
            if (MPI_SUCCESS == rc) {
                combine(op, &result, &room);
                swap(&result, &room);
            }
        }
    }
    return MPI_SUCCESS == rc ? settle(&result, vector) : rc;
}

int mca_coll_epcoll_party_reduce(const mca_coll_epcoll_party_t *party,
                                 const mca_coll_epcoll_vector_t *vector, ompi_op_t *op)
{
    const uint32_t own = mca_coll_epcoll_layout(party->handle)->own;
    const uint32_t root = ompi_op_is_commute(op) ? party->home : 0;
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
        rc = tree(party, &part, room, op, root);
        if (MPI_SUCCESS == rc && root != party->home) {
            rc = own == root          ? mca_coll_epcoll_send_one(party, &part, party->home)
                 : own == party->home ? mca_coll_epcoll_receive_one(party, &part, root)
                                      : MPI_SUCCESS;
        }
    }
    return rc;
}

/* ---- allgather ------------------------------------------------------------------------------- */

mca_coll_epcoll_blocks_t mca_coll_epcoll_blocks_of(const mca_coll_epcoll_party_t *party,
                                                   uint32_t process, uint32_t rails)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(party->handle);
    const uint32_t members = mca_coll_epcoll_layout_count(layout, process);
    const uint32_t begin = mca_coll_epcoll_rail_begin(members, rails, party->rail);

    return (mca_coll_epcoll_blocks_t){
        .rank = layout->member + layout->first[process] + begin,
        .count = mca_coll_epcoll_rail_begin(members, rails, party->rail + 1) - begin};
}

/** Blocks go to a process, and come from another one.  Of ranks in order in one message. */
static int swap_blocks(const mca_coll_epcoll_party_t *party, const mca_coll_epcoll_vector_t *all,
                       size_t count, uint32_t rails, uint32_t to, uint32_t from)
{
    const bool is_ordered = mca_coll_epcoll_layout(party->handle)->is_ordered;
    const mca_coll_epcoll_blocks_t out
        = mca_coll_epcoll_blocks_of(party, mca_coll_epcoll_layout(party->handle)->own, rails);
    const mca_coll_epcoll_blocks_t in = mca_coll_epcoll_blocks_of(party, from, rails);
    const uint32_t sends = is_ordered ? 1 : out.count, receives = is_ordered ? 1 : in.count;
    int rc = MPI_SUCCESS;

    for (uint32_t i = 0; (i < sends || i < receives) && MPI_SUCCESS == rc; i += BATCH) {
        ompi_request_t *requests[2 * BATCH];
        uint32_t begun = 0;

        for (uint32_t j = i; j < i + BATCH && j < receives && MPI_SUCCESS == rc; ++j) {
            const mca_coll_epcoll_vector_t part = mca_coll_epcoll_part_of(
                all, in.rank[j] * count, (is_ordered ? in.count : 1) * count);

            rc = mca_coll_epcoll_receive(party, &part, mca_coll_epcoll_party_rank(party, from),
                                         &requests[begun++]);
        }
        for (uint32_t j = i; j < i + BATCH && j < sends && MPI_SUCCESS == rc; ++j) {
            const mca_coll_epcoll_vector_t part = mca_coll_epcoll_part_of(
                all, out.rank[j] * count, (is_ordered ? out.count : 1) * count);

            rc = mca_coll_epcoll_send_to(party, &part, mca_coll_epcoll_party_rank(party, to),
                                         &requests[begun++]);
        }
        while (0 < begun) {
            rc = mca_coll_epcoll_wait_for(party->handle, &requests[--begun], rc);
        }
    }
    return rc;
}

int mca_coll_epcoll_party_allgather(const mca_coll_epcoll_party_t *party, void *address,
                                    size_t count, ompi_datatype_t *type, uint32_t rails)
{
    const uint32_t processes = mca_coll_epcoll_layout(party->handle)->processes;
    const uint32_t own = mca_coll_epcoll_layout(party->handle)->own;
    const mca_coll_epcoll_vector_t all = {.address = address,
                                          .count = count * mca_coll_epcoll_size(party->handle),
                                          .type = type};
    int rc = MPI_SUCCESS;

    for (uint32_t step = 1; step < processes && MPI_SUCCESS == rc; ++step) {
        rc = swap_blocks(party, &all, count, rails, (own + step) % processes,
                         (own + processes - step) % processes);
    }
    return rc;
}
