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
 * Programs of MPI_Allgatherv: each block goes to one member of each other process; in the end members
 * copy what they have not from those of their process who have it.
 *
 * All know the lengths of all blocks, so who sends and who receives agree on which messages there are.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_between.h"
#include "coll_epcoll_build.h"

#include "mpi.h"

/** Processes whose messages are under way together. */
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
    const uint64_t most = EPCOLL_SHARES_MOST / 2 / running->call->plan->blocks;
    parts_t parts = {.size = running->least_share};

    while (longest > most * parts.size) {
        parts.size *= 2;
    }
    parts.count = (uint32_t) ((longest + parts.size - 1) / parts.size);
    return parts;
}

static uint32_t shares(const mca_coll_epcoll_running_t *running, uint32_t piece)
{
    return parts_of(running, mca_coll_epcoll_longest_of(running, piece)).count
           * running->call->plan->blocks;
}

static int carry(const mca_coll_epcoll_running_t *running, uint32_t piece, uint32_t share)
{
    const parts_t parts = parts_of(running, mca_coll_epcoll_longest_of(running, piece));
    const mca_coll_epcoll_call_t *receiver = mca_coll_epcoll_call_of(running, piece), *sender;
    const uint32_t rank = share / parts.count;
    const uint64_t offset = share % parts.count * parts.size;
    const uint32_t holder = holder_of(running->call->plan->layout, rank, running->member->count);
    mca_coll_epcoll_buffer_t from, into;
    size_t bytes;

    if (holder == piece) {
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

const mca_coll_epcoll_family_t mca_coll_epcoll_carry_blocks = {.shares = shares, .work = carry};

/* ---- between processes ----------------------------------------------------------------------- */

/** What the program knows. */
typedef struct gatherv_t {
    uint64_t longest; /**< bytes */
} gatherv_t;

static gatherv_t *state_of(mca_coll_epcoll_program_t *program)
{
    return (gatherv_t *) program->state;
}

static int begin(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_handle_t *handle = program->handle;

    state_of(program)->longest = mca_coll_epcoll_move_longest(program->call,
                                                              mca_coll_epcoll_size(handle));
    program->locals = 1 < handle->member.count;
    program->rounds = 1 + (mca_coll_epcoll_layout(handle)->processes - 1 + BATCH - 1) / BATCH;
    return MPI_SUCCESS;
}

static void receive_from(mca_coll_epcoll_program_t *program, uint32_t process)
{
    const mca_coll_epcoll_handle_t *handle = program->handle;
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);
    const uint32_t count = mca_coll_epcoll_layout_count(layout, process);

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t rank = layout->member[layout->first[process] + i];

        if (handle->member.index == receiver_of(i, handle->member.count)) {
            const mca_coll_epcoll_buffer_t block = mca_coll_epcoll_received(program->call, rank);
            const mca_coll_epcoll_vector_t vector = mca_coll_epcoll_vector_of(&block);

            if (0 != mca_coll_epcoll_bytes(&block)) {
                mca_coll_epcoll_program_receive(program, &vector, (int) rank);
            }
        }
    }
}

static void send_to(mca_coll_epcoll_program_t *program, uint32_t process)
{
    const mca_coll_epcoll_handle_t *handle = program->handle;
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(handle);
    const uint32_t index = receiver_of(handle->member.index,
                                       mca_coll_epcoll_layout_count(layout, process));
    const mca_coll_epcoll_buffer_t block
        = mca_coll_epcoll_sent(program->call, (uint32_t) mca_coll_epcoll_rank(handle), 0);
    const mca_coll_epcoll_vector_t vector = mca_coll_epcoll_vector_of(&block);

    if (0 != mca_coll_epcoll_bytes(&block)) {
        mca_coll_epcoll_program_send(program, &vector,
                                     (int) layout->member[layout->first[process] + index]);
    }
}

/** Our own block to where it belongs, from where others copy it. */
static void put_own(mca_coll_epcoll_program_t *program)
{
    const uint32_t own = (uint32_t) mca_coll_epcoll_rank(program->handle);
    const mca_coll_epcoll_buffer_t from = mca_coll_epcoll_sent(program->call, own, 0);
    const mca_coll_epcoll_buffer_t into = mca_coll_epcoll_received(program->call, own);

    if (!program->call->in_place) {
        mca_coll_epcoll_program_copy(program, &into, &from, 0, mca_coll_epcoll_bytes(&from));
    }
}

static void spread(mca_coll_epcoll_program_t *program)
{
    const gatherv_t *state = state_of(program);
    const mca_coll_epcoll_plan_t plan = {.family = &mca_coll_epcoll_carry_blocks,
                                         .blocks = mca_coll_epcoll_size(program->handle),
                                         .layout = mca_coll_epcoll_layout(program->handle),
                                         .wants = state->longest};

    mca_coll_epcoll_program_local(program, program->call, &plan);
}

static void round_of(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(program->handle);
    const uint32_t first = (uint32_t) program->round * BATCH + 1;

    if (program->round == program->rounds - 1) {
        if (1 < program->handle->member.count) {
            spread(program);
        }
        return;
    }
    for (uint32_t i = first; i < first + BATCH && i < layout->processes; ++i) {
        receive_from(program, (layout->own + layout->processes - i) % layout->processes);
    }
    for (uint32_t i = first; i < first + BATCH && i < layout->processes; ++i) {
        send_to(program, (layout->own + i) % layout->processes);
    }
    if (0 == program->round) {
        put_own(program);
    }
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_allgatherv = {.begin = begin,
                                                                    .round = round_of};
