/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Programs of MPI_Scan and MPI_Exscan, where ranks of a process follow each other: members put
 * together what all of their process have, by slices at the rails; of these each rail gets that of
 * all processes before; behind that members scan.
 *
 * Between processes each sends what it has of those before it and its own to one that is 1, 2, 4
 * ... processes behind: nobody waits for those behind, and the first for nobody.
 *
 * The vector is worked on in parts, one in a round, so that what rails put together stays in their
 * caches, and later processes are at an earlier part.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_between.h"
#include "coll_epcoll_build.h"
#include "coll_epcoll_rails.h"

#include "mpi.h"

/** Rooms: what our process has, and those just before it; what comes; all that is before us. */
enum { ROOM_OWN, ROOM_COME, ROOM_BEFORE };

/** What the program knows. */
typedef struct scan_t {
    mca_coll_epcoll_rails_t rails;
    size_t each; /**< elements of a part */
} scan_t;

static scan_t *state_of(mca_coll_epcoll_program_t *program)
{
    return (scan_t *) program->state;
}

static bool is_last(const mca_coll_epcoll_layout_t *layout)
{
    return layout->processes - 1 == layout->own;
}

static bool build_scan_serves(const mca_coll_epcoll_handle_t *handle,
                              const mca_coll_epcoll_call_t *call)
{
    (void) call;
    return mca_coll_epcoll_layout(handle)->is_ordered;
}

static int build_scan_begin(mca_coll_epcoll_program_t *program)
{
    const mca_coll_epcoll_call_t *call = program->call;
    scan_t *state = state_of(program);

    _Static_assert(sizeof(*state) <= EPCOLL_PROGRAM_STATE, "more than a builder has");
    mca_coll_epcoll_rails_begin(&state->rails, program->handle, call, call->bytes);
    state->each = mca_coll_epcoll_room_elements(call->recv_type) * state->rails.rails;
    program->rounds = (call->recv_count + state->each - 1) / state->each;
    program->locals = program->rounds * (is_last(mca_coll_epcoll_layout(program->handle)) ? 1 : 2);
    return MPI_SUCCESS;
}

/** A room of our slice, of element 0 of which it has the address. */
static mca_coll_epcoll_vector_t room_of(mca_coll_epcoll_program_t *program, uint32_t which,
                                        const mca_coll_epcoll_vector_t *slice)
{
    mca_coll_epcoll_vector_t room = *slice;

    room.address = mca_coll_epcoll_program_room(program, which, slice->type, slice->count);
    return room;
}

/** What is before us comes to a room; ours, and what is before it, goes to those behind. */
static void build_scan_across(mca_coll_epcoll_program_t *program,
                              const mca_coll_epcoll_vector_t *slice)
{
    const mca_coll_epcoll_party_t *party = &state_of(program)->rails.party;
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(program->handle);
    const uint32_t count = layout->processes, own = layout->own;
    const mca_coll_epcoll_vector_t mine = room_of(program, ROOM_OWN, slice);
    const mca_coll_epcoll_vector_t before = room_of(program, ROOM_BEFORE, slice);
    mca_coll_epcoll_vector_t come = before;

    for (uint32_t step = 1; step < count; step *= 2) {
        if (own + step < count) {
            mca_coll_epcoll_program_send(program, &mine,
                                         mca_coll_epcoll_party_rank(party, own + step));
        }
        if (own < step) {
            continue; /* nothing comes any more */
        }
        if (1 < step) {
            come = room_of(program, ROOM_COME, slice);
        }
        mca_coll_epcoll_program_receive(program, &come,
                                        mca_coll_epcoll_party_rank(party, own - step));
        mca_coll_epcoll_program_wait(program);
        if (1 < step) {
            mca_coll_epcoll_program_reduce(program, &come, &before);
        }
        if (own + 2 * step < count) {
            mca_coll_epcoll_program_reduce(program, &come, &mine);
        }
    }
}

/** An address as if all of a part were there, of what has our slice of it. */
static void *as_part(mca_coll_epcoll_program_t *program, uint32_t which,
                     const mca_coll_epcoll_vector_t *slice)
{
    const mca_coll_epcoll_vector_t room = room_of(program, which, slice);

    return NULL == room.address ? NULL
                                : mca_coll_epcoll_away(room.address, -(intptr_t) slice->address);
}

static void round_of(mca_coll_epcoll_program_t *program)
{
    const scan_t *state = state_of(program);
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(program->handle);
    const size_t first = program->round * state->each;
    mca_coll_epcoll_call_t part = *program->call;
    const ptrdiff_t away = (ptrdiff_t) first * mca_coll_epcoll_extent(part.recv_type);
    const size_t left = part.recv_count - first;
    mca_coll_epcoll_vector_t slice = {.count = 0};
    mca_coll_epcoll_call_t total;
    mca_coll_epcoll_plan_t plan;

    part.recv_count = left < state->each ? left : state->each;
    part.recv = mca_coll_epcoll_away(part.recv, away);
    part.send = part.in_place ? NULL : mca_coll_epcoll_away(part.send, away);
    plan = mca_coll_epcoll_slices(&state->rails, part.recv_type->super.size, part.recv_count);
    plan.family = &mca_coll_epcoll_fold;
    if (state->rails.is_rail) { /* address: how far from the part's beginning */
        slice = mca_coll_epcoll_own_slice(&state->rails, &plan, NULL, part.recv_type);
    }
    if (!is_last(layout)) {
        total = part;
        total.send = part.in_place ? part.recv : part.send;
        total.in_place = false;
        total.recv = state->rails.is_rail ? as_part(program, ROOM_OWN, &slice) : NULL;
        mca_coll_epcoll_program_local(program, &total, &plan);
    }
    if (state->rails.is_rail) {
        build_scan_across(program, &slice);
    }
    if (0 == layout->own) {
        mca_coll_epcoll_program_local(program, &part, NULL);
        return;
    }
    plan.is_scan = true;
    plan.from = state->rails.is_rail ? as_part(program, ROOM_BEFORE, &slice) : NULL;
    mca_coll_epcoll_program_local(program, &part, &plan);
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_scan = {.serves = build_scan_serves,
                                                              .begin = build_scan_begin,
                                                              .round = round_of};
