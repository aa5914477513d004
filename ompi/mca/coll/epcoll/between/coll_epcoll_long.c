/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls whose data do not fit in a slot.  Each rail has a slice of the vector: within the process
 * its part is put together in its own buffer, from where its messages go to the same rail of other
 * processes; in the end members copy from the rails' buffers.
 *
 * Tests: coll_layout, coll_told
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_between.h"
#include "coll_epcoll_rails.h"

#include "mpi.h"

/** A call, as a member has it. */
typedef mca_coll_epcoll_rails_t long_t;

/* ---- slices ---------------------------------------------------------------------------------- */

/** Members do what a plan says with part of a call.  @return MPI_SUCCESS or an error code */
static int run_plan(const long_t *longer, mca_coll_epcoll_call_t *part,
                    const mca_coll_epcoll_plan_t *plan)
{
    part->kind = longer->call->kind;
    part->root = longer->call->root;
    part->said = mca_coll_epcoll_word_of(longer->call);
    part->plan = plan;
    return mca_coll_epcoll_pieces_run(longer->handle, part);
}

/** Each rail has its slice; those that want it copy the others'.  @param vector  where they are */
static int long_spread(const long_t *longer, mca_coll_epcoll_plan_t *plan, void *address,
                       size_t count, ompi_datatype_t *type, bool wants)
{
    mca_coll_epcoll_call_t part = {.bytes = plan->unit * plan->units};

    if (1 == longer->handle->member.count) {
        return MPI_SUCCESS;
    }
    plan->family = &mca_coll_epcoll_carry;
    plan->wants = wants;
    plan->from = plan->into = address;
    plan->from_count = plan->into_count = count;
    plan->from_type = plan->into_type = type;
    return run_plan(longer, &part, plan);
}

/* ---- reductions ------------------------------------------------------------------------------ */

/** Part of a vector: its slices, put together at their rails in this process, then in all.
 * @param recv  where that is, of a rail: element 0 of the part */
static int fold_part(long_t *longer, mca_coll_epcoll_plan_t *plan, const void *send, void *recv,
                     size_t count)
{
    const mca_coll_epcoll_call_t *call = longer->call;
    mca_coll_epcoll_call_t part = {.send = send,
                                   .recv = recv,
                                   .recv_count = count,
                                   .recv_type = call->recv_type,
                                   .op = call->op,
                                   .bytes = count * call->recv_type->super.size};
    mca_coll_epcoll_vector_t slice;
    int rc;

    plan->family = &mca_coll_epcoll_fold;
    rc = run_plan(longer, &part, plan);
    if (MPI_SUCCESS != rc || !longer->is_rail) {
        return rc;
    }
    slice = mca_coll_epcoll_own_slice(longer, plan, recv, call->recv_type);
    return EPCOLL_REDUCE == call->kind
               ? mca_coll_epcoll_party_reduce(&longer->party, &slice, call->op)
               : mca_coll_epcoll_party_allreduce(&longer->party, &slice, call->op);
}

/** Where a rail that is not the root puts its slice of a part together, as if all were there. */
static char *own_room(const long_t *longer, const mca_coll_epcoll_plan_t *plan,
                      ompi_datatype_t *type)
{
    const mca_coll_epcoll_vector_t slice = mca_coll_epcoll_own_slice(longer, plan, NULL, type);
    char *room = mca_coll_epcoll_room(longer->handle, EPCOLL_ROOM_CALL, type,
                                      0 == slice.count ? 1 : slice.count);

    return NULL == room ? NULL : room - (intptr_t) slice.address;
}

static int reduce_part(long_t *longer, const void *send, void *recv, size_t count)
{
    const mca_coll_epcoll_call_t *call = longer->call;
    const bool is_root = mca_coll_epcoll_rank(longer->handle) == call->root;
    mca_coll_epcoll_plan_t plan = mca_coll_epcoll_slices(longer, call->recv_type->super.size,
                                                         count);
    int rc;

    if (EPCOLL_REDUCE == call->kind && !is_root && longer->is_rail) {
        recv = own_room(longer, &plan, call->recv_type);
        if (NULL == recv) {
            return mca_coll_epcoll_ended(longer->handle, MPI_ERR_NO_MEM);
        }
    }
    rc = fold_part(longer, &plan, send, recv, count);
    rc = mca_coll_epcoll_ended(longer->handle, rc);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    if (EPCOLL_ALLREDUCE == call->kind) {
        return long_spread(longer, &plan, recv, count, call->recv_type, true);
    }
    if (longer->party.home == mca_coll_epcoll_layout(longer->handle)->own && 1 < longer->rails) {
        return long_spread(longer, &plan, recv, count, call->recv_type, is_root);
    }
    return MPI_SUCCESS;
}

/** In parts, so that what rails put together stays in their caches. */
static int long_reduce(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    const ptrdiff_t extent = mca_coll_epcoll_extent(call->recv_type);
    const void *send = call->in_place ? call->recv : call->send;
    long_t longer;
    size_t most;
    int rc = MPI_SUCCESS;

    mca_coll_epcoll_rails_begin(&longer, handle, call, call->bytes);
    most = mca_coll_epcoll_room_elements(call->recv_type) * longer.rails;
    for (size_t done = 0; done < call->recv_count && MPI_SUCCESS == rc; done += most) {
        const ptrdiff_t away = (ptrdiff_t) done * extent;
        const size_t left = call->recv_count - done;

        rc = reduce_part(&longer, mca_coll_epcoll_away(send, away),
                         mca_coll_epcoll_away(call->recv, away), left < most ? left : most);
    }
    return rc;
}

/* ---- bcast ----------------------------------------------------------------------------------- */

/** A bcast, as a member has it. */
typedef struct bcast_t {
    long_t longer;
    mca_coll_epcoll_buffer_t buffer;
    mca_coll_epcoll_plan_t plan;
} bcast_t;

/** From the leader to the members of its process. */
static int bcast_within(void *context)
{
    const bcast_t *bcast = context;
    const mca_coll_epcoll_buffer_t *buffer = &bcast->buffer;
    mca_coll_epcoll_handle_t *handle = bcast->longer.handle;
    mca_coll_epcoll_call_t part = {.kind = EPCOLL_BCAST,
                                   .root = (int) bcast->longer.leader,
                                   .bytes = bcast->longer.call->bytes,
                                   .said = mca_coll_epcoll_word_of(bcast->longer.call)};

    if (1 == handle->member.count) {
        return MPI_SUCCESS;
    }
    if (handle->member.index == bcast->longer.leader) {
        part.send = buffer->address;
        part.send_count = buffer->count;
        part.send_type = buffer->type;
    } else {
        part.recv = buffer->address;
        part.recv_count = buffer->count;
        part.recv_type = buffer->type;
    }
    return mca_coll_epcoll_pieces_run(handle, &part);
}

/** A range of packed bytes of a member's buffer, sent or received by its rail.
 * @param is_alone  the only one: members copy it while it is sent on, if it lies there as it is */
static int bcast_slice(bcast_t *bcast, bool is_alone)
{
    const long_t *longer = &bcast->longer;
    const mca_coll_epcoll_plan_t *plan = &bcast->plan;
    const size_t first = mca_coll_epcoll_plan_begin(plan, longer->party.rail);
    const size_t size = mca_coll_epcoll_plan_begin(plan, longer->party.rail + 1) - first;
    const bool is_home = longer->party.home == mca_coll_epcoll_layout(longer->handle)->own;
    char *flat = mca_coll_epcoll_flat(&bcast->buffer);
    mca_coll_epcoll_vector_t vector = {.count = size, .type = MPI_BYTE};
    mca_coll_epcoll_buffer_t packed;
    int rc = MPI_SUCCESS;

    if (NULL != flat) {
        vector.address = flat + first;
        return mca_coll_epcoll_party_bcast(&longer->party, &vector, is_alone ? bcast_within : NULL,
                                           bcast);
    }
    vector.address = mca_coll_epcoll_room(longer->handle, EPCOLL_ROOM_CALL, MPI_BYTE,
                                          0 == size ? 1 : size);
    if (NULL == vector.address) {
        return MPI_ERR_NO_MEM;
    }
    packed = (mca_coll_epcoll_buffer_t){.address = (char *) vector.address - first,
                                        .count = first + size,
                                        .type = MPI_BYTE};
    if (is_home) {
        rc = mca_coll_epcoll_copy_part(&packed, &bcast->buffer, first, size);
    }
    rc = MPI_SUCCESS == rc ? mca_coll_epcoll_party_bcast(&longer->party, &vector, NULL, NULL) : rc;
    if (MPI_SUCCESS == rc && !is_home) {
        rc = mca_coll_epcoll_copy_part(&bcast->buffer, &packed, first, size);
    }
    mca_coll_epcoll_room_trim(&mca_coll_epcoll_has_more(longer->handle)->room[EPCOLL_ROOM_CALL],
                              2 * EPCOLL_ROOM_MOST);
    return MPI_SUCCESS == rc && is_alone ? bcast_within(bcast) : rc;
}

static int long_bcast(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    const bool is_root = mca_coll_epcoll_rank(handle) == call->root;
    bcast_t bcast = {.buffer = {.address = is_root ? (void *) (uintptr_t) call->send : call->recv,
                                .count = is_root ? call->send_count : call->recv_count,
                                .type = is_root ? call->send_type : call->recv_type}};
    const mca_coll_epcoll_buffer_t *buffer = &bcast.buffer;
    bool is_home;
    int rc = MPI_SUCCESS;

    mca_coll_epcoll_rails_begin(&bcast.longer, handle, call, call->bytes);
    bcast.plan = mca_coll_epcoll_slices(&bcast.longer, 1, call->bytes);
    is_home = bcast.longer.party.home == mca_coll_epcoll_layout(handle)->own;
    if (1 == bcast.longer.rails) {
        return mca_coll_epcoll_ended(handle, bcast.longer.is_rail ? bcast_slice(&bcast, true)
                                                                  : bcast_within(&bcast));
    }
    if (is_home) {
        rc = bcast_within(&bcast);
    }
    if (MPI_SUCCESS == rc && bcast.longer.is_rail) {
        rc = mca_coll_epcoll_ended(handle, bcast_slice(&bcast, false));
    }
    if (MPI_SUCCESS == rc && !is_home) {
        rc = long_spread(&bcast.longer, &bcast.plan, buffer->address, buffer->count, buffer->type,
                         true);
    }
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

int mca_coll_epcoll_long_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    return EPCOLL_BCAST == call->kind ? long_bcast(handle, call) : long_reduce(handle, call);
}
