/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of gather, scatter and alltoall, with v and w: each block is transferred once, from its
 * source to its destination.  Members of a process copy it (LOCAL); between processes it is a
 * message, from user's buffer to user's buffer.
 *
 * A round has as many messages as are under way together.  The process's part is in the first
 * round, after its messages have begun.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_hier.h"
#include "coll_epcoll_build.h"

#include "mpi.h"

/** Messages each way, at most, that are under way together. */
#define BATCH 16

static uint64_t rounds_of(uint64_t messages)
{
    return messages <= BATCH ? 1 : (messages + BATCH - 1) / BATCH;
}

static bool is_here(const mca_coll_epcoll_handle_t *handle, uint32_t rank)
{
    return mca_coll_epcoll_layout(handle)->own == mca_coll_epcoll_layout(handle)->process_of[rank];
}

/** Both members know of a block of no bytes: it is no message. */
static void send_block(mca_coll_epcoll_schedule_t *schedule, const mca_coll_epcoll_buffer_t *block,
                       uint32_t rank)
{
    const mca_coll_epcoll_vector_t vector = mca_coll_epcoll_vector_of(block);

    if (0 != mca_coll_epcoll_bytes(block)) {
        mca_coll_epcoll_schedule_send(schedule, &vector, (int) rank);
    }
}

static void receive_block(mca_coll_epcoll_schedule_t *schedule,
                          const mca_coll_epcoll_buffer_t *block, uint32_t rank)
{
    const mca_coll_epcoll_vector_t vector = mca_coll_epcoll_vector_of(block);

    if (0 != mca_coll_epcoll_bytes(block)) {
        mca_coll_epcoll_schedule_receive(schedule, &vector, (int) rank);
    }
}

/** The same call, among the members of this process. */
static void build_direct_local(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(schedule->handle);
    mca_coll_epcoll_call_t part = *schedule->call;

    part.ranks = layout->member + layout->first[layout->own];
    part.root = (int) layout->index_of[part.root];
    mca_coll_epcoll_schedule_local(schedule, &part, NULL);
}

/* ---- with a root ----------------------------------------------------------------------------- */

/** The root exchanges messages with all that are elsewhere, those of its process share memory. */
static int rooted_begin(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    const bool is_root_process = is_here(handle, (uint32_t) schedule->call->root);

    schedule->locals = is_root_process;
    if (mca_coll_epcoll_rank(handle) == schedule->call->root) {
        schedule->rounds = rounds_of(mca_coll_epcoll_size(handle) - handle->view.member.count);
    }
    return MPI_SUCCESS;
}

/** The root's messages of a round, with the members of other processes in the order of processes.
 * @param gathers  else it scatters */
static void root_messages(mca_coll_epcoll_schedule_t *schedule, bool gathers)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);
    const uint32_t others = mca_coll_epcoll_size(handle) - handle->view.member.count;
    const uint32_t first = (uint32_t) schedule->round * BATCH;

    for (uint32_t i = first; i < first + BATCH && i < others; ++i) {
        /* Behind our own process, and round. */
        const uint32_t at = layout->first[layout->own + 1] + i;
        const uint32_t rank
            = layout->member[at < mca_coll_epcoll_size(handle) ? at
                                                               : at - mca_coll_epcoll_size(handle)];
        mca_coll_epcoll_buffer_t block;

        if (gathers) {
            block = mca_coll_epcoll_received(schedule->call, rank);
            receive_block(schedule, &block, rank);
        } else {
            block = mca_coll_epcoll_sent(schedule->call, (uint32_t) mca_coll_epcoll_rank(handle),
                                         rank);
            send_block(schedule, &block, rank);
        }
    }
}

static void gather_round(mca_coll_epcoll_schedule_t *schedule)
{
    const uint32_t root = (uint32_t) schedule->call->root;

    if (!is_here(schedule->handle, root)) {
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_sent(
            schedule->call, (uint32_t) mca_coll_epcoll_rank(schedule->handle), root);

        send_block(schedule, &block, root);
        return;
    }
    if (mca_coll_epcoll_rank(schedule->handle) == (int) root) {
        root_messages(schedule, true);
    }
    if (0 == schedule->round) {
        build_direct_local(schedule);
    }
}

static void scatter_round(mca_coll_epcoll_schedule_t *schedule)
{
    const uint32_t root = (uint32_t) schedule->call->root;

    if (!is_here(schedule->handle, root)) {
        const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_received(schedule->call, root);

        receive_block(schedule, &block, root);
        return;
    }
    if (mca_coll_epcoll_rank(schedule->handle) == (int) root) {
        root_messages(schedule, false);
    }
    if (0 == schedule->round) {
        build_direct_local(schedule);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_gather = {.begin = rooted_begin,
                                                                .round = gather_round};
const mca_coll_epcoll_builder_t mca_coll_epcoll_build_scatter = {.begin = rooted_begin,
                                                                 .round = scatter_round};

/* ---- all to all ------------------------------------------------------------------------------ */

/** In place: the member to exchange blocks with, and how much of that is done. */
typedef struct exchange_t {
    uint32_t turn;
    size_t done;
} exchange_t;

static exchange_t *state_of(mca_coll_epcoll_schedule_t *schedule)
{
    return (exchange_t *) schedule->state;
}

/** Two have each other in the same turn. */
static uint32_t other_in(const mca_coll_epcoll_handle_t *handle, uint32_t turn)
{
    const uint32_t own = (uint32_t) mca_coll_epcoll_rank(handle);

    return turn >= own ? turn - own : turn + mca_coll_epcoll_size(handle) - own;
}

/** Bytes of the block that we exchange in a turn; 0: nothing, by messages. */
static size_t bytes_in(const mca_coll_epcoll_schedule_t *schedule, uint32_t turn)
{
    const uint32_t other = other_in(schedule->handle, turn);
    const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_received(schedule->call, other);

    return is_here(schedule->handle, other) ? 0 : mca_coll_epcoll_bytes(&block);
}

static int alltoall_begin(mca_coll_epcoll_schedule_t *schedule)
{
    const uint32_t size = mca_coll_epcoll_size(schedule->handle);

    schedule->locals = 1;
    if (!schedule->call->in_place) {
        schedule->rounds = rounds_of(size - 1);
        return MPI_SUCCESS;
    }
    *state_of(schedule) = (exchange_t){.turn = 0};
    for (uint32_t turn = 0; turn < size; ++turn) { /* with the one that there is before */
        schedule->rounds += (bytes_in(schedule, turn) + EPCOLL_SCRATCH_MAX - 1)
                            / EPCOLL_SCRATCH_MAX;
    }
    return MPI_SUCCESS;
}

/** Our block goes to the member so many ranks behind us, while we get one from the member as many
 * before us: all are at the same distance at a time, so that no member is a bottleneck. */
static void alltoall_messages(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    const uint32_t size = mca_coll_epcoll_size(handle),
                   own = (uint32_t) mca_coll_epcoll_rank(handle);
    const uint32_t first = (uint32_t) schedule->round * BATCH + 1;

    for (uint32_t i = first; i < first + BATCH && i < size; ++i) {
        const uint32_t from = own >= i ? own - i : own + size - i;

        if (!is_here(handle, from)) {
            const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_received(schedule->call, from);

            receive_block(schedule, &block, from);
        }
    }
    for (uint32_t i = first; i < first + BATCH && i < size; ++i) {
        const uint32_t to = own + i < size ? own + i : own + i - size;

        if (!is_here(handle, to)) {
            const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_sent(schedule->call, own, to);

            send_block(schedule, &block, to);
        }
    }
}

/** Packed bytes of a buffer from one on, as if all before them were there. */
static mca_coll_epcoll_buffer_t packed_from(char *scratch, size_t first, size_t size)
{
    return (mca_coll_epcoll_buffer_t){.address = scratch - first,
                                      .count = first + size,
                                      .type = MPI_BYTE};
}

/** In place, two exchange a part of their blocks in a round, by way of scratch buffers. */
static void alltoall_exchange(mca_coll_epcoll_schedule_t *schedule)
{
    const uint32_t size = mca_coll_epcoll_size(schedule->handle);
    exchange_t *state = state_of(schedule);
    mca_coll_epcoll_vector_t out = {.type = MPI_BYTE}, in = {.type = MPI_BYTE};
    mca_coll_epcoll_buffer_t block, packed;
    size_t bytes = 0, now;
    int other;

    while (state->turn < size && state->done == (bytes = bytes_in(schedule, state->turn))) {
        ++state->turn;
        state->done = 0;
    }
    if (state->turn == size) {
        return;
    }
    now = bytes - state->done < EPCOLL_SCRATCH_MAX ? bytes - state->done : EPCOLL_SCRATCH_MAX;
    other = (int) other_in(schedule->handle, state->turn);
    block = mca_coll_epcoll_received(schedule->call, (uint32_t) other);
    out.address = mca_coll_epcoll_schedule_scratch(schedule, 0, MPI_BYTE, now);
    in.address = mca_coll_epcoll_schedule_scratch(schedule, 1, MPI_BYTE, now);
    if (NULL == out.address || NULL == in.address) {
        return;
    }
    out.count = in.count = now;
    packed = packed_from(out.address, state->done, now);
    mca_coll_epcoll_schedule_copy(schedule, &packed, &block, state->done, now);
    mca_coll_epcoll_schedule_receive(schedule, &in, other);
    mca_coll_epcoll_schedule_send(schedule, &out, other);
    mca_coll_epcoll_schedule_wait(schedule);
    packed = packed_from(in.address, state->done, now);
    mca_coll_epcoll_schedule_copy(schedule, &block, &packed, state->done, now);
    state->done += now;
}

static void alltoall_round(mca_coll_epcoll_schedule_t *schedule)
{
    if (schedule->call->in_place) {
        if (0 == schedule->round) { /* before anybody waits for a message: so do all */
            build_direct_local(schedule);
        }
        alltoall_exchange(schedule);
        return;
    }
    alltoall_messages(schedule);
    if (0 == schedule->round) {
        build_direct_local(schedule);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_alltoall = {.begin = alltoall_begin,
                                                                  .round = alltoall_round};
