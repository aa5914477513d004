/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The inter-process phase of hierarchical collectives: messages of one member of each process, by
 * the operations of a schedule.  A blocking call executes them at once, another one appends them to
 * its steps.
 *
 * First processes of a node exchange messages, then the node leaders (coll_epcoll_nodes.h).
 * Reductions combine processes in one order for a layout, whichever message arrives first.  Those
 * for ops that do not commute (recursive doubling, and a tree to process 0) keep the order of
 * processes: x0 op x1 op ...
 *
 * Called by builders and coll_epcoll_hier_small.c.
 *
 * Tests: coll_layout, coll_nodes
 */

#include "ompi_config.h"

#include "coll_epcoll_nodes.h"
#include "coll_epcoll_phase.h"

#include "mpi.h"
#include "ompi/op/op.h"

/** Messages that are under way together, or some more. */
#define BATCH 32

/** The nodes of the partners' call; where node leaders have combined the data of their nodes, each
 * with its leader only. */
static mca_coll_epcoll_nodes_t phase_nodes(const mca_coll_epcoll_partners_t *partners,
                                           ompi_op_t *op)
{
    mca_coll_epcoll_nodes_t nodes = mca_coll_epcoll_nodes_of(partners->handle, op);

    nodes.size = partners->node_reduced ? 1 : nodes.size;
    return nodes;
}

static void phase_swap(mca_coll_epcoll_vector_t *a, mca_coll_epcoll_vector_t *b)
{
    const mca_coll_epcoll_vector_t c = *a;

    *a = *b;
    *b = c;
}

void mca_coll_epcoll_phase_settle(mca_coll_epcoll_schedule_t *schedule, void *result,
                                  const mca_coll_epcoll_vector_t *vector)
{
    const mca_coll_epcoll_buffer_t from = {result, vector->count, vector->type};
    const mca_coll_epcoll_buffer_t into = {vector->address, vector->count, vector->type};

    if (result != vector->address) {
        mca_coll_epcoll_schedule_copy(schedule, &into, &from, 0,
                                      vector->count * vector->type->super.size);
    }
}

static void send_to(mca_coll_epcoll_schedule_t *schedule,
                    const mca_coll_epcoll_partners_t *partners,
                    const mca_coll_epcoll_vector_t *vector, uint32_t to)
{
    mca_coll_epcoll_schedule_send(schedule, vector, mca_coll_epcoll_partners_rank(partners, to));
}

static void receive_from(mca_coll_epcoll_schedule_t *schedule,
                         const mca_coll_epcoll_partners_t *partners,
                         const mca_coll_epcoll_vector_t *vector, uint32_t from)
{
    mca_coll_epcoll_schedule_receive(schedule, vector,
                                     mca_coll_epcoll_partners_rank(partners, from));
}

static void phase_exchange(mca_coll_epcoll_schedule_t *schedule,
                           const mca_coll_epcoll_partners_t *partners,
                           const mca_coll_epcoll_vector_t *out, uint32_t to,
                           const mca_coll_epcoll_vector_t *in, uint32_t from)
{
    receive_from(schedule, partners, in, from);
    send_to(schedule, partners, out, to);
    mca_coll_epcoll_schedule_wait(schedule);
}

/* ---- barrier and bcast ----------------------------------------------------------------------- */

/** From above us in a tree, and on to those below. */
static void bcast_down(mca_coll_epcoll_schedule_t *schedule,
                       const mca_coll_epcoll_partners_t *partners,
                       const mca_coll_epcoll_tree_t *tree, const mca_coll_epcoll_vector_t *vector)
{
    uint32_t step = mca_coll_epcoll_step_up(tree);

    if (0 != tree->own) {
        receive_from(schedule, partners, vector, mca_coll_epcoll_in_tree(tree, tree->own - step));
        mca_coll_epcoll_schedule_wait(schedule);
    }
    for (step /= 2; 0 < step; step /= 2) {
        if (tree->own + step < tree->count) {
            send_to(schedule, partners, vector, mca_coll_epcoll_in_tree(tree, tree->own + step));
        }
    }
}

/** Receive from all below us in a tree, and send to the one above. */
static void barrier_up(mca_coll_epcoll_schedule_t *schedule,
                       const mca_coll_epcoll_partners_t *partners,
                       const mca_coll_epcoll_tree_t *tree)
{
    const uint32_t up = mca_coll_epcoll_step_up(tree);
    const mca_coll_epcoll_vector_t nothing = {.type = MPI_BYTE};

    for (uint32_t step = 1; step < up && tree->own + step < tree->count; step *= 2) {
        receive_from(schedule, partners, &nothing, mca_coll_epcoll_in_tree(tree, tree->own + step));
    }
    mca_coll_epcoll_schedule_wait(schedule);
    if (0 != tree->own) {
        send_to(schedule, partners, &nothing, mca_coll_epcoll_in_tree(tree, tree->own - up));
    }
}

void mca_coll_epcoll_phase_barrier(mca_coll_epcoll_schedule_t *schedule,
                                   const mca_coll_epcoll_partners_t *partners)
{
    const mca_coll_epcoll_nodes_t nodes = phase_nodes(partners, NULL);
    const mca_coll_epcoll_vector_t nothing = {.type = MPI_BYTE};
    mca_coll_epcoll_tree_t across, within;

    mca_coll_epcoll_trees_of(&nodes, 0, &across, &within);
    if (1 < within.count) {
        barrier_up(schedule, partners, &within);
    }
    for (uint32_t step = 1; step < across.count; step *= 2) {
        const uint32_t to = (nodes.own + step) % nodes.count,
                       from = (nodes.own + nodes.count - step) % nodes.count;

        phase_exchange(schedule, partners, &nothing, mca_coll_epcoll_process_of(&nodes, to, 0),
                       &nothing, mca_coll_epcoll_process_of(&nodes, from, 0));
    }
    bcast_down(schedule, partners, &within, &nothing);
}

void mca_coll_epcoll_phase_bcast(mca_coll_epcoll_schedule_t *schedule,
                                 const mca_coll_epcoll_partners_t *partners,
                                 const mca_coll_epcoll_vector_t *vector)
{
    const mca_coll_epcoll_nodes_t nodes = phase_nodes(partners, NULL);
    mca_coll_epcoll_tree_t across, within;

    mca_coll_epcoll_trees_of(&nodes, partners->root_process, &across, &within);
    bcast_down(schedule, partners, &across, vector);
    bcast_down(schedule, partners, &within, vector);
}

/* ---- allgather ------------------------------------------------------------------------------- */

/** An allgather, as a member of the partners has it. */
typedef struct gather_t {
    mca_coll_epcoll_schedule_t *schedule;
    const mca_coll_epcoll_partners_t *partners;
    mca_coll_epcoll_nodes_t nodes;
    mca_coll_epcoll_vector_t all;
    size_t count;    /**< elements of a block */
    uint32_t slices; /**< how many there are */
    uint32_t begun;  /**< messages that have not been waited for */
} gather_t;

/** A message to or from a process, with the partners' blocks of a process; or, where ranks of a
 * process do not follow each other, one for each. */
static void phase_blocks(gather_t *gather, uint32_t whose, uint32_t process,
                         void (*message)(mca_coll_epcoll_schedule_t *schedule,
                                         const mca_coll_epcoll_partners_t *partners,
                                         const mca_coll_epcoll_vector_t *vector, uint32_t process))
{
    const mca_coll_epcoll_layout_t *layout = gather->nodes.layout;
    const uint32_t members = mca_coll_epcoll_layout_count(layout, whose),
                   slice = gather->partners->offset;
    const uint32_t begin = mca_coll_epcoll_slice_begin(members, gather->slices, slice),
                   end = mca_coll_epcoll_slice_begin(members, gather->slices, slice + 1);
    const uint32_t together = layout->is_ordered ? end - begin : 1;

    for (uint32_t i = begin; i < end; i += together) {
        const uint32_t rank = mca_coll_epcoll_layout_rank(layout, whose, i);
        const mca_coll_epcoll_vector_t part = mca_coll_epcoll_part_of(&gather->all,
                                                                      rank * gather->count,
                                                                      together * gather->count);

        message(gather->schedule, gather->partners, &part, process);
        ++gather->begun;
    }
}

/** A step is over.  All have the same ones, in the same order, and wait between them only: so a
 * member that waits for messages waits only for members that have begun theirs, or are in an
 * earlier one. */
static void step_over(gather_t *gather)
{
    if (BATCH <= gather->begun) {
        mca_coll_epcoll_schedule_wait(gather->schedule);
        gather->begun = 0;
    }
}

/** Our process's blocks go to a process of each other node, from which it is as many places away as
 * there are processes. */
static void gather_across(gather_t *gather)
{
    const mca_coll_epcoll_nodes_t *nodes = &gather->nodes;

    for (uint32_t step = 1; step < nodes->count; ++step) {
        const uint32_t to = (nodes->own + step) % nodes->count,
                       from = (nodes->own + nodes->count - step) % nodes->count;

        for (uint32_t i = nodes->place; i < mca_coll_epcoll_node_size(nodes, from);
             i += nodes->size) {
            const uint32_t process = mca_coll_epcoll_process_of(nodes, from, i);

            phase_blocks(gather, process, process, receive_from);
        }
        phase_blocks(gather, nodes->layout->own,
                     mca_coll_epcoll_process_of(nodes, to,
                                                nodes->place
                                                    % mca_coll_epcoll_node_size(nodes, to)),
                     send_to);
        step_over(gather);
    }
}

/** Blocks of a node that a process of ours has go to another one, or come from there. */
static void gather_some(gather_t *gather, uint32_t node, uint32_t place, uint32_t process,
                        void (*message)(mca_coll_epcoll_schedule_t *schedule,
                                        const mca_coll_epcoll_partners_t *partners,
                                        const mca_coll_epcoll_vector_t *vector, uint32_t process))
{
    for (uint32_t i = place; i < mca_coll_epcoll_node_size(&gather->nodes, node);
         i += gather->nodes.size) {
        phase_blocks(gather, mca_coll_epcoll_process_of(&gather->nodes, node, i), process, message);
    }
}

/** What a process has, its own blocks and those of other nodes, goes to all others of its node. */
static void gather_within(gather_t *gather)
{
    const mca_coll_epcoll_nodes_t *nodes = &gather->nodes;

    for (uint32_t away = 0; away < nodes->count && 1 < nodes->size; ++away) {
        const uint32_t node = (nodes->own + away) % nodes->count;

        for (uint32_t step = 1; step < nodes->size; ++step) {
            const uint32_t to = (nodes->place + step) % nodes->size,
                           from = (nodes->place + nodes->size - step) % nodes->size;

            gather_some(gather, node, from, mca_coll_epcoll_process_of(nodes, nodes->own, from),
                        receive_from);
            gather_some(gather, node, nodes->place,
                        mca_coll_epcoll_process_of(nodes, nodes->own, to), send_to);
            step_over(gather);
        }
    }
}

void mca_coll_epcoll_phase_allgather(mca_coll_epcoll_schedule_t *schedule,
                                     const mca_coll_epcoll_partners_t *partners, void *address,
                                     size_t count, ompi_datatype_t *type, uint32_t slices)
{
    gather_t gather = {.schedule = schedule,
                       .partners = partners,
                       .nodes = phase_nodes(partners, NULL),
                       .all = {.address = address,
                               .count = count * mca_coll_epcoll_size(schedule->handle),
                               .type = type},
                       .count = count,
                       .slices = slices};

    gather_across(&gather);
    mca_coll_epcoll_schedule_wait(schedule);
    gather.begun = 0;
    gather_within(&gather);
    mca_coll_epcoll_schedule_wait(schedule);
}

/* ---- reductions ------------------------------------------------------------------------------ */

/** Of the first process of each node. */
static void phase_doubling(mca_coll_epcoll_schedule_t *schedule,
                           const mca_coll_epcoll_partners_t *partners,
                           const mca_coll_epcoll_nodes_t *nodes,
                           const mca_coll_epcoll_vector_t *vector, mca_coll_epcoll_vector_t scratch)
{
    const uint32_t count = nodes->count, own = nodes->own;
    mca_coll_epcoll_vector_t result = *vector;
    uint32_t places = 1, pairs, place;

    while (2 * places <= count) {
        places *= 2;
    }
    pairs = count - places;
    if (own < 2 * pairs && 0 == own % 2) {
        send_to(schedule, partners, vector, mca_coll_epcoll_process_of(nodes, own + 1, 0));
        mca_coll_epcoll_schedule_wait(schedule);
        receive_from(schedule, partners, vector, mca_coll_epcoll_process_of(nodes, own + 1, 0));
        mca_coll_epcoll_schedule_wait(schedule);
        return;
    }
    if (own < 2 * pairs) {
        receive_from(schedule, partners, &scratch, mca_coll_epcoll_process_of(nodes, own - 1, 0));
        mca_coll_epcoll_schedule_wait(schedule);
        mca_coll_epcoll_schedule_reduce(schedule, &scratch, &result);
    }
    place = own < 2 * pairs ? own / 2 : own - pairs;
    for (uint32_t step = 1; step < places; step *= 2) {
        const uint32_t other = mca_coll_epcoll_process_at(place ^ step, pairs);
        const uint32_t process = mca_coll_epcoll_process_of(nodes, other, 0);

        phase_exchange(schedule, partners, &result, process, &scratch, process);
        if (other < own) {
            mca_coll_epcoll_schedule_reduce(schedule, &scratch, &result);
        } else {
            mca_coll_epcoll_schedule_reduce(schedule, &result, &scratch);
            phase_swap(&result, &scratch);
        }
    }
    mca_coll_epcoll_phase_settle(schedule, result.address, vector);
    if (own < 2 * pairs) {
        send_to(schedule, partners, vector, mca_coll_epcoll_process_of(nodes, own - 1, 0));
    }
}

/**
 * Reduce to the root of a tree, in the order of numbers.
 *
 * @param result  the own part; becomes the combination with all below, and may be exchanged with
 *                the scratch buffer
 */
static void reduce_up(mca_coll_epcoll_schedule_t *schedule,
                      const mca_coll_epcoll_partners_t *partners,
                      const mca_coll_epcoll_tree_t *tree, mca_coll_epcoll_vector_t *result,
                      mca_coll_epcoll_vector_t *scratch)
{
    const uint32_t up = mca_coll_epcoll_step_up(tree);

    for (uint32_t step = 1; step < up && tree->own + step < tree->count; step *= 2) {
        receive_from(schedule, partners, scratch, mca_coll_epcoll_in_tree(tree, tree->own + step));
        mca_coll_epcoll_schedule_wait(schedule);
        mca_coll_epcoll_schedule_reduce(schedule, result, scratch);
        phase_swap(result, scratch);
    }
    if (0 != tree->own) {
        send_to(schedule, partners, result, mca_coll_epcoll_in_tree(tree, tree->own - up));
    }
}

/** By nodes: their processes at the first of them, these by doubling, and back. */
static void by_nodes(mca_coll_epcoll_schedule_t *schedule,
                     const mca_coll_epcoll_partners_t *partners,
                     const mca_coll_epcoll_vector_t *vector, mca_coll_epcoll_vector_t scratch)
{
    const mca_coll_epcoll_nodes_t nodes = phase_nodes(partners, schedule->call->op);
    mca_coll_epcoll_tree_t across, within;
    mca_coll_epcoll_vector_t result = *vector;

    mca_coll_epcoll_trees_of(&nodes, 0, &across, &within);
    reduce_up(schedule, partners, &within, &result, &scratch);
    if (0 == nodes.place) {
        phase_doubling(schedule, partners, &nodes, &result, scratch);
        mca_coll_epcoll_phase_settle(schedule, result.address, vector);
    }
    mca_coll_epcoll_schedule_wait(schedule);
    bcast_down(schedule, partners, &within, vector);
}

/** In a ring each process's part of the vector goes once round, and is put together on its way;
 * then again, to reach all.  Processes of a node follow each other in it. */
static void phase_ring(mca_coll_epcoll_schedule_t *schedule,
                       const mca_coll_epcoll_partners_t *partners,
                       const mca_coll_epcoll_vector_t *vector, void *scratch)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(schedule->handle);
    const uint32_t count = layout->processes, own = layout->position[layout->own];
    const uint32_t next = layout->on_node[(own + 1) % count],
                   before = layout->on_node[(own + count - 1) % count];

    for (uint32_t step = 0; step < 2 * count - 2; ++step) {
        const bool puts_together = step + 1 < count;
        const mca_coll_epcoll_vector_t out
            = mca_coll_epcoll_process_part(vector, (own + 2 * count - step) % count, count);
        const mca_coll_epcoll_vector_t mine
            = mca_coll_epcoll_process_part(vector, (own + 2 * count - step - 1) % count, count);
        mca_coll_epcoll_vector_t in = mine;

        if (puts_together) {
            in.address = scratch;
        }
        phase_exchange(schedule, partners, &out, next, &in, before);
        if (puts_together) {
            mca_coll_epcoll_schedule_reduce(schedule, &in, &mine);
        }
    }
}

void mca_coll_epcoll_phase_allreduce(mca_coll_epcoll_schedule_t *schedule,
                                     const mca_coll_epcoll_partners_t *partners,
                                     const mca_coll_epcoll_vector_t *vector, uint32_t which)
{
    const uint32_t count = mca_coll_epcoll_layout(schedule->handle)->processes;
    const bool whole = mca_coll_epcoll_is_whole(vector, count, schedule->call->op);
    mca_coll_epcoll_vector_t scratch = *vector;

    if (0 == vector->count) {
        return;
    }
    scratch.address = mca_coll_epcoll_schedule_scratch(schedule, which, vector->type,
                                                       whole ? vector->count
                                                             : vector->count / count + 1);
    if (whole) {
        by_nodes(schedule, partners, vector, scratch);
    } else {
        phase_ring(schedule, partners, vector, scratch.address);
    }
}

/** To the root's process, or, for an operation that does not commute, process 0, which sends it
 * on. */
void mca_coll_epcoll_phase_reduce(mca_coll_epcoll_schedule_t *schedule,
                                  const mca_coll_epcoll_partners_t *partners,
                                  const mca_coll_epcoll_vector_t *vector, uint32_t which)
{
    const mca_coll_epcoll_nodes_t nodes = phase_nodes(partners, schedule->call->op);
    const uint32_t root_process = partners->root_process, own = nodes.layout->own;
    const uint32_t root = mca_coll_epcoll_partners_top(partners, schedule->call->op);
    mca_coll_epcoll_vector_t result = *vector, scratch = *vector;
    mca_coll_epcoll_tree_t across, within;

    if (0 == vector->count) {
        return;
    }
    scratch.address = mca_coll_epcoll_schedule_scratch(schedule, which, vector->type,
                                                       vector->count);
    mca_coll_epcoll_trees_of(&nodes, root, &across, &within);
    reduce_up(schedule, partners, &within, &result, &scratch);
    reduce_up(schedule, partners, &across, &result, &scratch);
    if (root == own) {
        mca_coll_epcoll_phase_settle(schedule, result.address, vector);
    }
    if (root != root_process && root == own) {
        send_to(schedule, partners, vector, root_process);
    } else if (root != root_process && root_process == own) {
        mca_coll_epcoll_schedule_wait(schedule);
        receive_from(schedule, partners, vector, root);
        mca_coll_epcoll_schedule_wait(schedule);
    }
}
