/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Schedules of MPI_Scan and MPI_Exscan, where ranks of a process follow each other.  Members
 * combine the data of their process, by slices, at the slices' owners; each owner gets the combined
 * slice of all preceding processes; then members scan, starting from that.
 *
 * Between processes each sends what it has of those before it and its own to the process that is 1,
 * 2, 4 ... behind it: no process waits for later ones, and the first for none.
 *
 * The vector is processed in parts, one in a round, so that combined slices stay in caches, and
 * later processes work at an earlier part.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll_hier.h"
#include "coll_epcoll_build.h"
#include "coll_epcoll_slicing.h"

#include "mpi.h"

/** Scratch buffers: the data of our process and those just before it; received data; the data of
 * all before us. */
enum { SCRATCH_OWN, SCRATCH_RECV, SCRATCH_BEFORE };

/** What the schedule knows. */
typedef struct scan_t {
    mca_coll_epcoll_slicing_t slices;
    size_t each; /**< elements of a part */
} scan_t;

static scan_t *state_of(mca_coll_epcoll_schedule_t *schedule)
{
    return (scan_t *) schedule->state;
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

static int build_scan_begin(mca_coll_epcoll_schedule_t *schedule)
{
    const mca_coll_epcoll_call_t *call = schedule->call;
    scan_t *state = state_of(schedule);

    _Static_assert(sizeof(*state) <= EPCOLL_SCHEDULE_STATE, "more than a builder has");
    mca_coll_epcoll_slicing_begin(&state->slices, schedule->handle, call, call->bytes);
    state->each = mca_coll_epcoll_scratch_elements(call->recv_type) * state->slices.slices;
    schedule->rounds = (call->recv_count + state->each - 1) / state->each;
    schedule->locals = schedule->rounds
                       * (is_last(mca_coll_epcoll_layout(schedule->handle)) ? 1 : 2);
    return MPI_SUCCESS;
}

/** A room of our slice, of element 0 of which it has the address. */
static mca_coll_epcoll_vector_t scan_scratch(mca_coll_epcoll_schedule_t *schedule, uint32_t which,
                                             const mca_coll_epcoll_vector_t *slice)
{
    mca_coll_epcoll_vector_t scratch = *slice;

    scratch.address = mca_coll_epcoll_schedule_scratch(schedule, which, slice->type, slice->count);
    return scratch;
}

/** Receive the data of preceding processes into a scratch buffer; send ours, combined with these,
 * to later ones. */
static void build_scan_across(mca_coll_epcoll_schedule_t *schedule,
                              const mca_coll_epcoll_vector_t *slice)
{
    const mca_coll_epcoll_partners_t *partners = &state_of(schedule)->slices.partners;
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(schedule->handle);
    const uint32_t count = layout->processes, own = layout->own;
    const mca_coll_epcoll_vector_t mine = scan_scratch(schedule, SCRATCH_OWN, slice);
    const mca_coll_epcoll_vector_t before = scan_scratch(schedule, SCRATCH_BEFORE, slice);
    mca_coll_epcoll_vector_t received = before;

    for (uint32_t step = 1; step < count; step *= 2) {
        if (own + step < count) {
            mca_coll_epcoll_schedule_send(schedule, &mine,
                                          mca_coll_epcoll_partners_rank(partners, own + step));
        }
        if (own < step) {
            continue; /* nothing more is received */
        }
        if (1 < step) {
            received = scan_scratch(schedule, SCRATCH_RECV, slice);
        }
        mca_coll_epcoll_schedule_receive(schedule, &received,
                                         mca_coll_epcoll_partners_rank(partners, own - step));
        mca_coll_epcoll_schedule_wait(schedule);
        if (1 < step) {
            mca_coll_epcoll_schedule_reduce(schedule, &received, &before);
        }
        if (own + 2 * step < count) {
            mca_coll_epcoll_schedule_reduce(schedule, &received, &mine);
        }
    }
}

/** An address as if all of a part were there, of what has our slice of it. */
static void *as_part(mca_coll_epcoll_schedule_t *schedule, uint32_t which,
                     const mca_coll_epcoll_vector_t *slice)
{
    const mca_coll_epcoll_vector_t scratch = scan_scratch(schedule, which, slice);

    return NULL == scratch.address
               ? NULL
               : mca_coll_epcoll_away(scratch.address, -(intptr_t) slice->address);
}

static void round_of(mca_coll_epcoll_schedule_t *schedule)
{
    const scan_t *state = state_of(schedule);
    const mca_coll_epcoll_layout_t *layout = mca_coll_epcoll_layout(schedule->handle);
    const size_t first = schedule->round * state->each;
    mca_coll_epcoll_call_t part = *schedule->call;
    const ptrdiff_t away = (ptrdiff_t) first * mca_coll_epcoll_extent(part.recv_type);
    const size_t left = part.recv_count - first;
    mca_coll_epcoll_vector_t slice = {.count = 0};
    mca_coll_epcoll_call_t total;
    mca_coll_epcoll_plan_t plan;

    part.recv_count = left < state->each ? left : state->each;
    part.recv = mca_coll_epcoll_away(part.recv, away);
    part.send = part.in_place ? NULL : mca_coll_epcoll_away(part.send, away);
    plan = mca_coll_epcoll_slicing_plan(&state->slices, part.recv_type->super.size,
                                        part.recv_count);
    plan.ops = &mca_coll_epcoll_reduce_ops;
    if (state->slices.has_slice) { /* address: how far from the part's beginning */
        slice = mca_coll_epcoll_own_slice(&state->slices, &plan, NULL, part.recv_type);
    }
    if (!is_last(layout)) {
        total = part;
        total.send = part.in_place ? part.recv : part.send;
        total.in_place = false;
        total.recv = state->slices.has_slice ? as_part(schedule, SCRATCH_OWN, &slice) : NULL;
        mca_coll_epcoll_schedule_local(schedule, &total, &plan);
    }
    if (state->slices.has_slice) {
        build_scan_across(schedule, &slice);
    }
    if (0 == layout->own) {
        mca_coll_epcoll_schedule_local(schedule, &part, NULL);
        return;
    }
    plan.is_scan = true;
    plan.from = state->slices.has_slice ? as_part(schedule, SCRATCH_BEFORE, &slice) : NULL;
    mca_coll_epcoll_schedule_local(schedule, &part, &plan);
}

const mca_coll_epcoll_builder_t mca_coll_epcoll_build_scan = {.serves = build_scan_serves,
                                                              .begin = build_scan_begin,
                                                              .round = round_of};
