/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of MPI_Allgatherv: each block goes to one member of some process of each other node,
 * and from there, as from its own process, to one member of each other process of the node; in the
 * end members copy what they lack from the members of their process that have it.
 *
 * All know the lengths of all blocks, so sender and receiver agree on which messages there are.
 *
 * Tests: coll_layout, coll_nodes
 */

#include "ompi_config.h"

#include "coll_epcoll_hier.h"
#include "coll_epcoll_build.h"
#include "coll_epcoll_nodes.h"

#include "mpi.h"

/** Processes or nodes whose messages are under way together. */
#define BATCH 16

/* ---- within the process ---------------------------------------------------------------------- */

/** Which member of a process gets the block of a member of another one from there? */
static uint32_t receiver_of(uint32_t index, uint32_t members)
{
    return index % members;
}

/** Which member of this process has a block, before they copy? */
static uint32_t holder_of(const mca_coll_epcoll_layout_t *layout, uint32_t rank, uint32_t members)
{
    const uint32_t index = layout->index_of[rank];

    return layout->own == layout->process_of[rank] ? index : receiver_of(index, members);
}

/** Shares of a block: all blocks have as many as the longest. */
typedef struct parts_t {
    uint64_t size;
    uint32_t count;
} parts_t;

static parts_t parts_of(const mca_coll_epcoll_running_t *running, uint64_t longest)
{
    const uint64_t most = EPCOLL_CHUNKS_MAX / 2 / running->call->plan->blocks;
    parts_t parts = {.size = running->chunk_min};

    while (longest > most * parts.size) {
        parts.size *= 2;
    }
    parts.count = (uint32_t) ((longest + parts.size - 1) / parts.size);
    return parts;
}

static uint32_t build_gatherv_chunks(const mca_coll_epcoll_running_t *running, uint32_t partition)
{
    return parts_of(running, mca_coll_epcoll_longest_of(running, partition)).count
           * running->call->plan->blocks;
}

static int build_gatherv_copy(const mca_coll_epcoll_running_t *running, uint32_t partition,
                              uint32_t chunk)
{
    const parts_t parts = parts_of(running, mca_coll_epcoll_longest_of(running, partition));
    const mca_coll_epcoll_call_t *receiver = mca_coll_epcoll_call_of(running, partition), *sender;
    const uint32_t rank = chunk / parts.count;
    const uint64_t offset = chunk % parts.count * parts.size;
    const uint32_t holder = holder_of(running->call->plan->layout, rank, running->member->count);
    mca_coll_epcoll_buffer_t from, into;
    size_t bytes;

    if (holder == partition) {
        return MPI_SUCCESS;
    }
    sender = mca_coll_epcoll_call_of(running, holder);
    from = mca_coll_epcoll_received(sender, rank);
    into = mca_coll_epcoll_received(receiver, rank);
    bytes = mca_coll_epcoll_bytes(&from);
    if (bytes > mca_coll_epcoll_bytes(&into)) {
        return MPI_ERR_TRUNCATE;
    }
    return offset >= bytes ? MPI_SUCCESS
                           : mca_coll_epcoll_copy_part(&into, &from, offset,
                                                       bytes - offset < parts.size ? bytes - offset
                                                                                   : parts.size);
}

const mca_coll_epcoll_chunk_ops_t mca_coll_epcoll_copy_blocks_ops = {.chunks = build_gatherv_chunks,
                                                                     .work = build_gatherv_copy};

/* ---- between processes ----------------------------------------------------------------------- */

/** What the schedule knows. */
typedef struct gatherv_t {
    mca_coll_epcoll_nodes_t nodes;
    uint64_t longest; /**< bytes */
    uint64_t across;  /**< rounds between nodes; behind them, those within ours */
} gatherv_t;

_Static_assert(sizeof(gatherv_t) <= EPCOLL_SCHEDULE_STATE, "a builder's state");

static gatherv_t *state_of(mca_coll_epcoll_schedule_t *schedule)
{
    return (gatherv_t *) schedule->state;
}

/** Rounds of so many pairs. */
static uint64_t rounds_of(uint64_t pairs)
{
    return (pairs + BATCH - 1) / BATCH;
}

/** Within a node: each node's blocks, to each other process. */
static uint64_t pairs_within(const mca_coll_epcoll_nodes_t *nodes)
{
    return (uint64_t) nodes->count * (nodes->size - 1);
}

static int build_gatherv_begin(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    gatherv_t *state = state_of(schedule);

    state->nodes = mca_coll_epcoll_nodes_of(handle, NULL);
    state->longest = mca_coll_epcoll_move_longest(schedule->call, mca_coll_epcoll_size(handle));
    state->across = rounds_of(state->nodes.count - 1);
    schedule->locals = 1 < handle->view.member.count;
    schedule->rounds = 1 + state->across + rounds_of(pairs_within(&state->nodes));
    return MPI_SUCCESS;
}

/** A message with the block of a rank, unless it has no bytes.
 * @param other  the source or destination
 * @param message  mca_coll_epcoll_schedule_send or mca_coll_epcoll_schedule_receive */
static void build_gatherv_block(mca_coll_epcoll_schedule_t *schedule, uint32_t rank, uint32_t other,
                                void (*message)(mca_coll_epcoll_schedule_t *schedule,
                                                const mca_coll_epcoll_vector_t *vector, int rank))
{
    const bool is_own = (uint32_t) mca_coll_epcoll_rank(schedule->handle) == rank;
    const mca_coll_epcoll_buffer_t buffer = is_own ? mca_coll_epcoll_sent(schedule->call, rank, 0)
                                                   : mca_coll_epcoll_received(schedule->call, rank);
    const mca_coll_epcoll_vector_t vector = mca_coll_epcoll_vector_of(&buffer);

    if (0 != mca_coll_epcoll_bytes(&buffer)) {
        message(schedule, &vector, (int) other);
    }
}

/** Which member of a process gets a block, by the index of the block's owner. */
static uint32_t rank_for(const mca_coll_epcoll_layout_t *layout, uint32_t process, uint32_t index)
{
    const uint32_t count = mca_coll_epcoll_layout_count(layout, process);

    return mca_coll_epcoll_layout_rank(layout, process, receiver_of(index, count));
}

/** Our block to a process of a node; and to us, from all members of processes of another one which
 * are as many places from ours as ours has processes. */
static void build_gatherv_across(mca_coll_epcoll_schedule_t *schedule, uint32_t to, uint32_t from)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    const mca_coll_epcoll_nodes_t *nodes = &state_of(schedule)->nodes;
    const mca_coll_epcoll_layout_t *layout = nodes->layout;

    for (uint32_t place = nodes->place; place < mca_coll_epcoll_node_size(nodes, from);
         place += nodes->size) {
        const uint32_t process = mca_coll_epcoll_process_of(nodes, from, place);
        const uint32_t count = mca_coll_epcoll_layout_count(layout, process);

        for (uint32_t i = handle->view.member.index; i < count; i += handle->view.member.count) {
            const uint32_t rank = mca_coll_epcoll_layout_rank(layout, process, i);

            build_gatherv_block(schedule, rank, rank, mca_coll_epcoll_schedule_receive);
        }
    }
    build_gatherv_block(
        schedule, (uint32_t) mca_coll_epcoll_rank(handle),
        rank_for(layout,
                 mca_coll_epcoll_process_of(nodes, to,
                                            nodes->place % mca_coll_epcoll_node_size(nodes, to)),
                 handle->view.member.index),
        mca_coll_epcoll_schedule_send);
}

/** Blocks of a node, of those of its processes that one of ours has: from the members that have
 * them to the members of another of ours that are to have them.  What of it we send or receive.
 * @param has, gets  processes of our node; one is our own */
static void pass_on(mca_coll_epcoll_schedule_t *schedule, uint32_t node, uint32_t place,
                    uint32_t has, uint32_t gets)
{
    const epcoll_member_t *member = &schedule->handle->view.member;
    const mca_coll_epcoll_nodes_t *nodes = &state_of(schedule)->nodes;
    const mca_coll_epcoll_layout_t *layout = nodes->layout;
    const bool sends = has == layout->own;

    for (; place < mca_coll_epcoll_node_size(nodes, node); place += nodes->size) {
        const uint32_t process = mca_coll_epcoll_process_of(nodes, node, place);
        const uint32_t count = mca_coll_epcoll_layout_count(layout, process);
        const uint32_t step = process == layout->own ? count : member->count;

        for (uint32_t i = member->index; i < count; i += step) {
            const uint32_t rank = mca_coll_epcoll_layout_rank(layout, process, i);

            if (sends) {
                build_gatherv_block(schedule, rank, rank_for(layout, gets, i),
                                    mca_coll_epcoll_schedule_send);
            } else {
                build_gatherv_block(schedule, rank,
                                    has == process ? rank : rank_for(layout, has, i),
                                    mca_coll_epcoll_schedule_receive);
            }
        }
    }
}

/** Of all such pairs the one of a number: a node, and how many places the other process is away. */
static void build_gatherv_within(mca_coll_epcoll_schedule_t *schedule, uint64_t pair)
{
    const mca_coll_epcoll_nodes_t *nodes = &state_of(schedule)->nodes;
    const uint32_t node = (uint32_t) ((nodes->own + pair / (nodes->size - 1)) % nodes->count);
    const uint32_t away = (uint32_t) (pair % (nodes->size - 1)) + 1;
    const uint32_t to = (nodes->place + away) % nodes->size,
                   from = (nodes->place + nodes->size - away) % nodes->size;

    pass_on(schedule, node, from, mca_coll_epcoll_process_of(nodes, nodes->own, from),
            nodes->layout->own);
    pass_on(schedule, node, nodes->place, nodes->layout->own,
            mca_coll_epcoll_process_of(nodes, nodes->own, to));
}

/** Our own block to where it belongs, from where others copy it. */
static void put_own(mca_coll_epcoll_schedule_t *schedule)
{
    const uint32_t own = (uint32_t) mca_coll_epcoll_rank(schedule->handle);
    const mca_coll_epcoll_buffer_t from = mca_coll_epcoll_sent(schedule->call, own, 0);
    const mca_coll_epcoll_buffer_t into = mca_coll_epcoll_received(schedule->call, own);

    if (!schedule->call->in_place) {
        mca_coll_epcoll_schedule_copy(schedule, &into, &from, 0, mca_coll_epcoll_bytes(&from));
    }
}

static void build_gatherv_spread(mca_coll_epcoll_schedule_t *schedule)
{
    const gatherv_t *state = state_of(schedule);
    const mca_coll_epcoll_plan_t plan = {.ops = &mca_coll_epcoll_copy_blocks_ops,
                                         .blocks = mca_coll_epcoll_size(schedule->handle),
                                         .layout = mca_coll_epcoll_layout(schedule->handle),
                                         .wants = state->longest};

    mca_coll_epcoll_schedule_local(schedule, schedule->call, &plan);
}

static void round_of(mca_coll_epcoll_schedule_t *schedule)
{
    const gatherv_t *state = state_of(schedule);
    const mca_coll_epcoll_nodes_t *nodes = &state->nodes;
    const uint64_t first = schedule->round * BATCH;

    if (schedule->round < state->across) {
        for (uint64_t i = first + 1; i < first + 1 + BATCH && i < nodes->count; ++i) {
            build_gatherv_across(schedule, (uint32_t) ((nodes->own + i) % nodes->count),
                                 (uint32_t) ((nodes->own + nodes->count - i) % nodes->count));
        }
    } else if (schedule->round < schedule->rounds - 1) {
        const uint64_t begin = first - state->across * BATCH;

        for (uint64_t i = begin; i < begin + BATCH && i < pairs_within(nodes); ++i) {
            build_gatherv_within(schedule, i);
        }
    } else if (1 < schedule->handle->view.member.count) {
        build_gatherv_spread(schedule);
    }
    if (0 == schedule->round) {
        put_own(schedule);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allgatherv = {.begin = build_gatherv_begin,
                                                                    .round = round_of};
