/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of MPI_Reduce_scatter and MPI_Reduce_scatter_block.
 *
 * For each block of another process, one member combines the data of its process and sends them to
 * the block's owner, which combines them with those of its own process.  That member is the one with
 * the same index as the owner, modulo the number of members of its process.  So all members of both
 * processes have slices, and nothing is left to be scattered.
 *
 * Blocks are processed in parts that fit in a scratch buffer: a round is about a part of all
 * blocks, and the process that is so many behind ours.
 *
 * The order: of ops that commute, that of rounds, the same in each call.  Else blocks of processes
 * before ours come first, from the nearest one's on, then those behind, from the last to the
 * nearest one's: both are combined towards us.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_hier.h"
#include "coll_epcoll_build.h"

#include "mpi.h"

/** Scratch buffers. */
enum { SCRATCH_RECV, SCRATCH_SEND, SCRATCH_BEHIND };

/** What the schedule knows. */
typedef struct scatter_t {
    size_t each;         /**< elements of a part */
    uint64_t parts;      /**< of the longest block */
    uint32_t turns;      /**< of the process with the most members */
    size_t first, count; /**< of our own block */
    bool commutes;
} scatter_t;

static scatter_t *state_of(mca_coll_epcoll_schedule_t *schedule)
{
    return (scatter_t *) schedule->state;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static size_t count_of(const mca_coll_epcoll_call_t *call, uint32_t rank)
{
    return EPCOLL_REDUCE_SCATTER == call->kind ? EPCOLL_COUNT(call->recv_counts, rank)
                                               : call->send_count;
}

static size_t first_of(const mca_coll_epcoll_call_t *call, uint32_t rank)
{
    size_t first = 0;

    if (EPCOLL_REDUCE_SCATTER_BLOCK == call->kind) {
        return rank * call->send_count;
    }
    for (uint32_t i = 0; i < rank; ++i) {
        first += EPCOLL_COUNT(call->recv_counts, i);
    }
    return first;
}

/** A part of a rank's block, as elements of the vector. */
static mca_coll_epcoll_range_t range_in(const mca_coll_epcoll_call_t *call, uint32_t rank,
                                        mca_coll_epcoll_range_t part)
{
    const size_t count = count_of(call, rank);

    if (count <= part.first) {
        return (mca_coll_epcoll_range_t){0, 0};
    }
    return (mca_coll_epcoll_range_t){.first = first_of(call, rank) + part.first,
                                     .count = count - part.first < part.count ? count - part.first
                                                                              : part.count};
}

/** The block that a member of our process combines, by its owner.  @return its rank, or -1: there
 * is none */
static int stood_for(const mca_coll_epcoll_layout_t *layout, uint32_t process, uint32_t turn,
                     uint32_t index)
{
    const uint32_t there = turn * mca_coll_epcoll_layout_count(layout, layout->own) + index;

    return there < mca_coll_epcoll_layout_count(layout, process)
               ? (int) mca_coll_epcoll_layout_rank(layout, process, there)
               : -1;
}

/** What a partition is of the vector: see mca_coll_epcoll_plan_t. */
static mca_coll_epcoll_range_t partition_of(const mca_coll_epcoll_running_t *running,
                                            uint32_t partition)
{
    const mca_coll_epcoll_plan_t *plan = running->call->plan;
    const int rank = stood_for(plan->layout, plan->process, plan->turn, partition);

    return 0 > rank ? (mca_coll_epcoll_range_t){0, 0}
                    : range_in(running->call, (uint32_t) rank, plan->part);
}

/** An address as if it were that of element 0 of a vector: of its element first. */
static char *as_vector(void *address, size_t first, const ompi_datatype_t *type)
{
    return mca_coll_epcoll_away(address, -(ptrdiff_t) first * mca_coll_epcoll_extent(type));
}

/* ---- steps ----------------------------------------------------------------------------------- */

/** An op that does not commute needs ranks in order. */
static bool build_scatter_serves(const mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_layout(handle)->is_ordered || ompi_op_is_commute(call->op);
}

static int build_scatter_begin(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);
    const mca_coll_epcoll_call_t *call = schedule->call;
    const uint32_t own = (uint32_t) mca_coll_epcoll_rank(handle),
                   members = handle->view.member.count;
    scatter_t *state = state_of(schedule);
    uint64_t turns = 0;
    uint32_t most = 1;
    size_t longest = 0;

    for (uint32_t rank = 0; rank < mca_coll_epcoll_size(handle); ++rank) {
        const size_t count = count_of(call, rank);

        longest = count > longest ? count : longest;
    }
    /* The same parts everywhere: what fits in a scratch buffer of the member that combines most
     * blocks. */
    for (uint32_t i = 0; i < layout->processes; ++i) {
        const uint32_t there = mca_coll_epcoll_layout_count(layout, i);

        turns += i != layout->own ? (there + members - 1) / members : 1;
        most = there > most ? there : most;
    }
    state->turns = (most + layout->slices - 1) / layout->slices;
    state->each = mca_coll_epcoll_scratch_elements(call->recv_type) / state->turns;
    state->each = 0 == state->each ? 1 : state->each;
    state->each = longest < state->each ? longest : state->each;
    state->parts = (longest + state->each - 1) / state->each;
    state->first = first_of(call, own);
    state->count = count_of(call, own);
    state->commutes = ompi_op_is_commute(call->op);
    schedule->locals = state->parts * turns;
    schedule->rounds = state->parts * (layout->processes - 1);
    if (call->in_place) { /* and our block goes to where it belongs */
        schedule->rounds += state->parts;
    }
    return MPI_SUCCESS;
}

/** Members combine a part of the blocks that they are responsible for.  @param recv  where ours
 * goes */
static void build_scatter_local(mca_coll_epcoll_schedule_t *schedule, uint32_t process,
                                uint32_t turn, mca_coll_epcoll_range_t part, void *recv)
{
    const mca_coll_epcoll_plan_t plan = {.ops = &mca_coll_epcoll_reduce_ops,
                                         .layout = mca_coll_epcoll_layout(schedule->handle),
                                         .range = partition_of,
                                         .process = process,
                                         .turn = turn,
                                         .part = part};
    mca_coll_epcoll_call_t call = *schedule->call;

    call.send = call.in_place ? call.recv : call.send;
    call.in_place = false;
    call.recv = recv;
    call.recv_count = part.count * schedule->handle->view.member.count;
    mca_coll_epcoll_schedule_local(schedule, &call, &plan);
}

/** Combine our blocks of another process, and send them. */
static void build_scatter_give(mca_coll_epcoll_schedule_t *schedule, uint32_t process,
                               mca_coll_epcoll_range_t part)
{
    const mca_coll_epcoll_handle_t *handle = schedule->handle;
    const uint32_t members = handle->view.member.count;
    const uint32_t turns = (mca_coll_epcoll_layout_count(mca_coll_epcoll_layout(handle), process)
                            + members - 1)
                           / members;
    ompi_datatype_t *type = schedule->call->recv_type;
    char *scratch = mca_coll_epcoll_schedule_scratch(schedule, SCRATCH_SEND, type,
                                                     turns * part.count);

    for (uint32_t turn = 0; turn < turns && NULL != scratch; ++turn) {
        const int rank = stood_for(mca_coll_epcoll_layout(handle), process, turn,
                                   handle->view.member.index);
        mca_coll_epcoll_range_t range = {0, 0};
        mca_coll_epcoll_vector_t vector = {.type = type};

        if (0 <= rank) {
            range = range_in(schedule->call, (uint32_t) rank, part);
        }
        vector.address = scratch + (ptrdiff_t) (turn * part.count) * mca_coll_epcoll_extent(type);
        vector.count = range.count;
        build_scatter_local(schedule, process, turn, part,
                            as_vector(vector.address, range.first, type));
        if (0 < range.count) {
            mca_coll_epcoll_schedule_send(schedule, &vector, rank);
        }
    }
}

/** Where the result goes, as if the vector were there.  In place it is to begin where others still
 * have to read our data: so it first goes to its position in the vector, see settle. */
static char *result_of(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;

    return call->in_place ? call->recv
                          : as_vector(call->recv, state_of(schedule)->first, call->recv_type);
}

static mca_coll_epcoll_vector_t own_part(mca_coll_epcoll_schedule_t *schedule,
                                         mca_coll_epcoll_range_t part)
{
    ompi_datatype_t *type = schedule->call->recv_type;
    const mca_coll_epcoll_range_t range
        = range_in(schedule->call, (uint32_t) mca_coll_epcoll_rank(schedule->handle), part);

    return (mca_coll_epcoll_vector_t){
        .address = result_of(schedule) + (ptrdiff_t) range.first * mca_coll_epcoll_extent(type),
        .count = range.count,
        .type = type};
}

/** The member of another process that combines our block. */
static int sender_in(const mca_coll_epcoll_handle_t *handle, uint32_t process)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);
    const uint32_t count = mca_coll_epcoll_layout_count(layout, process);

    return (int) mca_coll_epcoll_layout_rank(layout, process, handle->view.member.index % count);
}

/** Our part, as another process has it, goes to ours: both in one order. */
static void build_scatter_take(mca_coll_epcoll_schedule_t *schedule, uint32_t process,
                               const mca_coll_epcoll_vector_t *own,
                               const mca_coll_epcoll_vector_t *come)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(schedule->handle);
    const bool is_last = layout->own + 1 == process;
    mca_coll_epcoll_vector_t behind = *come;
    mca_coll_epcoll_buffer_t from, into;

    if (state_of(schedule)->commutes || process < layout->own) {
        mca_coll_epcoll_schedule_reduce(schedule, come, own);
        return;
    }
    if (layout->processes - 1 != process) { /* else it is where it stays */
        behind.address = mca_coll_epcoll_schedule_scratch(schedule, SCRATCH_BEHIND, own->type,
                                                          state_of(schedule)->each);
        mca_coll_epcoll_schedule_reduce(schedule, come, &behind);
    }
    if (is_last) {
        mca_coll_epcoll_schedule_reduce(schedule, own, &behind);
        from = (mca_coll_epcoll_buffer_t){behind.address, behind.count, behind.type};
        into = (mca_coll_epcoll_buffer_t){own->address, own->count, own->type};
        mca_coll_epcoll_schedule_copy(schedule, &into, &from, 0, mca_coll_epcoll_bytes(&from));
    }
}

/** Our result to the beginning of the buffer, a part at a time: what overlaps goes by way of a
 * room. */
static void build_scatter_settle(mca_coll_epcoll_schedule_t *schedule, mca_coll_epcoll_range_t part)
{
    ompi_datatype_t *type = schedule->call->recv_type;
    const mca_coll_epcoll_vector_t own = own_part(schedule, part);
    const mca_coll_epcoll_buffer_t from = {own.address, own.count, type};
    const mca_coll_epcoll_buffer_t into = {mca_coll_epcoll_away(schedule->call->recv,
                                                                (ptrdiff_t) part.first
                                                                    * mca_coll_epcoll_extent(type)),
                                           own.count, type};
    mca_coll_epcoll_buffer_t scratch = from;

    if (0 < own.count && from.address != into.address) {
        scratch.address = mca_coll_epcoll_schedule_scratch(schedule, SCRATCH_RECV, type, own.count);
        if (NULL != scratch.address) {
            mca_coll_epcoll_schedule_copy(schedule, &scratch, &from, 0,
                                          mca_coll_epcoll_bytes(&from));
            mca_coll_epcoll_schedule_copy(schedule, &into, &scratch, 0,
                                          mca_coll_epcoll_bytes(&from));
        }
    }
}

static void round_of(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(schedule->handle);
    const scatter_t *state = state_of(schedule);
    const uint64_t others = layout->processes - 1, exchanges = state->parts * others;
    const bool settles = schedule->round >= exchanges;
    const uint64_t seq = settles ? schedule->round - exchanges : schedule->round / others;
    const uint32_t away = settles ? 0 : (uint32_t) (schedule->round % others) + 1;
    const uint32_t to = (layout->own + away) % layout->processes;
    const uint32_t from = (layout->own + layout->processes - away) % layout->processes;
    const mca_coll_epcoll_range_t part = {.first = seq * state->each, .count = state->each};
    mca_coll_epcoll_vector_t own, come;
    bool stays;

    if (settles) {
        build_scatter_settle(schedule, part);
        return;
    }
    own = come = own_part(schedule, part);
    stays = !state->commutes && from == layout->processes - 1;
    if (0 < own.count) {
        come.address = mca_coll_epcoll_schedule_scratch(schedule,
                                                        stays ? SCRATCH_BEHIND : SCRATCH_RECV,
                                                        own.type, state->each);
        mca_coll_epcoll_schedule_receive(schedule, &come, sender_in(schedule->handle, from));
    }
    build_scatter_give(schedule, to, part);
    if (1 == away) {
        build_scatter_local(schedule, layout->own, 0, part, result_of(schedule));
    }
    mca_coll_epcoll_schedule_wait(schedule);
    if (0 < own.count) {
        build_scatter_take(schedule, from, &own, &come);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_reduce_scatter = {
    .serves = build_scatter_serves, .begin = build_scatter_begin, .round = round_of};
