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
 * Stages: what coll_epcoll_party.c does at once, as steps of a program.  Processes are put together in
 * the same order.
 *
 * Called by builders.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_stage.h"

#include "mpi.h"
#include "ompi/op/op.h"

/** Messages that are under way together, or some more. */
#define BATCH 32

static void swap(mca_coll_epcoll_vector_t *a, mca_coll_epcoll_vector_t *b)
{
    const mca_coll_epcoll_vector_t c = *a;

    *a = *b;
    *b = c;
}

void mca_coll_epcoll_stage_settle(mca_coll_epcoll_program_t *program, void *result,
                                  const mca_coll_epcoll_vector_t *vector)
{
    const mca_coll_epcoll_buffer_t from = {result, vector->count, vector->type};
    const mca_coll_epcoll_buffer_t into = {vector->address, vector->count, vector->type};

    if (result != vector->address) {
        mca_coll_epcoll_program_copy(program, &into, &from, 0,
                                     vector->count * vector->type->super.size);
    }
}

static void send_to(mca_coll_epcoll_program_t *program, const mca_coll_epcoll_party_t *party,
                    const mca_coll_epcoll_vector_t *vector, uint32_t to)
{
    mca_coll_epcoll_program_send(program, vector, mca_coll_epcoll_party_rank(party, to));
}

static void receive_from(mca_coll_epcoll_program_t *program, const mca_coll_epcoll_party_t *party,
                         const mca_coll_epcoll_vector_t *vector, uint32_t from)
{
    mca_coll_epcoll_program_receive(program, vector, mca_coll_epcoll_party_rank(party, from));
}

static void exchange(mca_coll_epcoll_program_t *program, const mca_coll_epcoll_party_t *party,
                     const mca_coll_epcoll_vector_t *out, uint32_t to,
                     const mca_coll_epcoll_vector_t *in, uint32_t from)
{
    receive_from(program, party, in, from);
    send_to(program, party, out, to);
    mca_coll_epcoll_program_wait(program);
}

/* ---- barrier, bcast, allgather --------------------------------------------------------------- */

void mca_coll_epcoll_stage_barrier(mca_coll_epcoll_program_t *program,
                                   const mca_coll_epcoll_party_t *party)
{
    const uint32_t count = mca_coll_epcoll_layout(program->handle)->processes,
                   own = mca_coll_epcoll_layout(program->handle)->own;
    const mca_coll_epcoll_vector_t nothing = {.type = MPI_BYTE};

    for (uint32_t step = 1; step < count; step *= 2) {
        exchange(program, party, &nothing, (own + step) % count, &nothing,
                 (own + count - step) % count);
    }
}

void mca_coll_epcoll_stage_bcast(mca_coll_epcoll_program_t *program,
                                 const mca_coll_epcoll_party_t *party,
                                 const mca_coll_epcoll_vector_t *vector)
{
    const uint32_t count = mca_coll_epcoll_layout(program->handle)->processes, home = party->home;
    const uint32_t own = (mca_coll_epcoll_layout(program->handle)->own + count - home) % count;
    uint32_t step = 1;

    while (step < count && 0 == (own & step)) {
        step *= 2;
    }
    if (0 != own) {
        receive_from(program, party, vector, ((own ^ step) + home) % count);
        mca_coll_epcoll_program_wait(program);
    }
    for (step /= 2; 0 < step; step /= 2) {
        if (own + step < count) {
            send_to(program, party, vector, (own + step + home) % count);
        }
    }
}

/** Blocks go to a process, and come from another one.  Of ranks in order in one message.
 * @return messages */
static uint32_t swap_blocks(mca_coll_epcoll_program_t *program,
                            const mca_coll_epcoll_party_t *party,
                            const mca_coll_epcoll_vector_t *all, size_t count, uint32_t rails,
                            uint32_t to, uint32_t from)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(program->handle);
    const bool is_ordered = layout->is_ordered;
    const mca_coll_epcoll_blocks_t out = mca_coll_epcoll_blocks_of(party, layout->own, rails);
    const mca_coll_epcoll_blocks_t in = mca_coll_epcoll_blocks_of(party, from, rails);
    const uint32_t sends = is_ordered ? 1 : out.count, receives = is_ordered ? 1 : in.count;

    for (uint32_t i = 0; i < sends || i < receives; ++i) {
        mca_coll_epcoll_vector_t part;

        if (i < receives) {
            part = mca_coll_epcoll_part_of(all, in.rank[i] * count,
                                           (is_ordered ? in.count : 1) * count);
            receive_from(program, party, &part, from);
        }
        if (i < sends) {
            part = mca_coll_epcoll_part_of(all, out.rank[i] * count,
                                           (is_ordered ? out.count : 1) * count);
            send_to(program, party, &part, to);
        }
    }
    return sends + receives;
}

void mca_coll_epcoll_stage_allgather(mca_coll_epcoll_program_t *program,
                                     const mca_coll_epcoll_party_t *party, void *address,
                                     size_t count, ompi_datatype_t *type, uint32_t rails)
{
    const uint32_t processes = mca_coll_epcoll_layout(program->handle)->processes;
    const uint32_t own = mca_coll_epcoll_layout(program->handle)->own;
    const mca_coll_epcoll_vector_t all = {.address = address,
                                          .count = count * mca_coll_epcoll_size(program->handle),
                                          .type = type};
    uint32_t begun = 0;

    for (uint32_t step = 1; step < processes; ++step) {
        begun += swap_blocks(program, party, &all, count, rails, (own + step) % processes,
                             (own + processes - step) % processes);
        if (BATCH <= begun) {
            mca_coll_epcoll_program_wait(program);
            begun = 0;
        }
    }
    mca_coll_epcoll_program_wait(program);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void doubling(mca_coll_epcoll_program_t *program, const mca_coll_epcoll_party_t *party,
                     const mca_coll_epcoll_vector_t *vector, mca_coll_epcoll_vector_t room)
{
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(program->handle);
    const uint32_t count = layout->processes, own = layout->own;
    mca_coll_epcoll_vector_t result = *vector;
    uint32_t places = 1, pairs, place;

    while (2 * places <= count) {
        places *= 2;
    }
    pairs = count - places;
    if (own < 2 * pairs && 0 == own % 2) {
        send_to(program, party, vector, own + 1);
        mca_coll_epcoll_program_wait(program);
        receive_from(program, party, vector, own + 1);
        mca_coll_epcoll_program_wait(program);
        return;
    }
    if (own < 2 * pairs) {
        receive_from(program, party, &room, own - 1);
        mca_coll_epcoll_program_wait(program);
        mca_coll_epcoll_program_reduce(program, &room, &result);
    }
    place = own < 2 * pairs ? own / 2 : own - pairs;
    for (uint32_t step = 1; step < places; step *= 2) {
        const uint32_t other = mca_coll_epcoll_process_at(place ^ step, pairs);

        exchange(program, party, &result, other, &room, other);
        if (other < own) {
            mca_coll_epcoll_program_reduce(program, &room, &result);
        } else {
            mca_coll_epcoll_program_reduce(program, &result, &room);
            swap(&result, &room);
        }
    }
    mca_coll_epcoll_stage_settle(program, result.address, vector);
    if (own < 2 * pairs) {
        send_to(program, party, vector, own - 1);
    }
}

static void ring(mca_coll_epcoll_program_t *program, const mca_coll_epcoll_party_t *party,
                 const mca_coll_epcoll_vector_t *vector, void *room)
{
    const uint32_t count = mca_coll_epcoll_layout(program->handle)->processes,
                   own = mca_coll_epcoll_layout(program->handle)->own;

    for (uint32_t step = 0; step < 2 * count - 2; ++step) {
        const bool puts_together = step + 1 < count;
        const mca_coll_epcoll_vector_t out
            = mca_coll_epcoll_share_of(vector, (own + 2 * count - step) % count, count);
        const mca_coll_epcoll_vector_t mine
            = mca_coll_epcoll_share_of(vector, (own + 2 * count - step - 1) % count, count);
        mca_coll_epcoll_vector_t in = mine;

        if (puts_together) {
            in.address = room;
        }
        exchange(program, party, &out, (own + 1) % count, &in, (own + count - 1) % count);
        if (puts_together) {
            mca_coll_epcoll_program_reduce(program, &in, &mine);
        }
    }
}

void mca_coll_epcoll_stage_allreduce(mca_coll_epcoll_program_t *program,
                                     const mca_coll_epcoll_party_t *party,
                                     const mca_coll_epcoll_vector_t *vector, uint32_t which)
{
    const uint32_t count = mca_coll_epcoll_layout(program->handle)->processes;
    const bool whole = mca_coll_epcoll_is_whole(vector, count, program->call->op);
    mca_coll_epcoll_vector_t room = *vector;

    if (0 == vector->count) {
        return;
    }
    room.address = mca_coll_epcoll_program_room(program, which, vector->type,
                                                whole ? vector->count : vector->count / count + 1);
    if (whole) {
        doubling(program, party, vector, room);
    } else {
        ring(program, party, vector, room.address);
    }
}

/** A tree in the order of processes, turned so that the root's is its first; or, for an operation that
 * does not commute, process 0, which sends it on. */
void mca_coll_epcoll_stage_reduce(mca_coll_epcoll_program_t *program,
                                  const mca_coll_epcoll_party_t *party,
                                  const mca_coll_epcoll_vector_t *vector, uint32_t which)
{
    const uint32_t count = mca_coll_epcoll_layout(program->handle)->processes,
                   self = mca_coll_epcoll_layout(program->handle)->own;
    const uint32_t home = party->home;
    const uint32_t root = ompi_op_is_commute(program->call->op) ? home : 0;
    const uint32_t own = (self + count - root) % count;
    mca_coll_epcoll_vector_t result = *vector, room = *vector;
    uint32_t step;

    if (0 == vector->count) {
        return;
    }
    room.address = mca_coll_epcoll_program_room(program, which, vector->type, vector->count);
    for (step = 1; step < count && 0 == (own & step); step *= 2) {
        if (own + step < count) {
            receive_from(program, party, &room, (own + step + root) % count);
            mca_coll_epcoll_program_wait(program);
            mca_coll_epcoll_program_reduce(program, &result, &room);
            swap(&result, &room);
        }
    }
    if (0 != own) {
        send_to(program, party, &result, (own - step + root) % count);
    } else {
        mca_coll_epcoll_stage_settle(program, result.address, vector);
    }
    if (root != home && root == self) {
        send_to(program, party, vector, home);
    } else if (root != home && home == self) {
        mca_coll_epcoll_program_wait(program);
        receive_from(program, party, vector, root);
        mca_coll_epcoll_program_wait(program);
    }
}
