/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The memory of shelves: which calls want it, and how it comes and goes.
 *
 * Called by coll_epcoll_between.c.
 *
 * Tests: coll_layout, coll_nomem (own), death_coll
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_shelf.h"

#include "mpi.h"

#include <stdlib.h>

/** Bytes of a member's share of a section, at least. */
#define SHELF_SHARE_LEAST ((size_t) 1024)

/** Members, at most: each reads a line of each other in a round, and has a shelf. */
#define SHELF_MEMBERS 64

/** The block's bytes, before the first shelf. */
static size_t block_size(const mca_coll_epcoll_handle_t *handle)
{
    const size_t size = epcoll_segment_size(mca_coll_epcoll_size(handle),
                                            mca_coll_epcoll_component.fan);

    return (size + 4095) & ~(size_t) 4095;
}

/** Of what does not compare it shows by how many elements a kernel is called, and where these
 * begin. */
static bool is_maximum(const mca_coll_epcoll_call_t *call)
{
    switch (call->op->o_f_to_c_index) {
    case OMPI_OP_BASE_FORTRAN_MAX:
    case OMPI_OP_BASE_FORTRAN_MAXLOC:
    case OMPI_OP_BASE_FORTRAN_MIN:
    case OMPI_OP_BASE_FORTRAN_MINLOC:
        return true;
    default:
        return false;
    }
}

bool mca_coll_epcoll_shelf_fits(const mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_call_t *call)
{
    const size_t section = mca_coll_epcoll_shelf_section(mca_coll_epcoll_size(handle));

    if (!mca_coll_epcoll_may_be_near(handle) || mca_coll_epcoll_component.shelf_least > call->bytes
        || SHELF_SHARE_LEAST > section || SHELF_MEMBERS < mca_coll_epcoll_size(handle)) {
        return false;
    }
    switch (call->kind) {
    case EPCOLL_ALLGATHER:
    case EPCOLL_BCAST:
    case EPCOLL_GATHER:
        return true;
    case EPCOLL_ALLTOALL:
    case EPCOLL_SCATTER:
        return SHELF_SHARE_LEAST <= section / (mca_coll_epcoll_size(handle) - 1);
    case EPCOLL_EXSCAN:
    case EPCOLL_SCAN:
        return SHELF_SCAN_MEMBERS >= mca_coll_epcoll_size(handle)
               && section >= call->recv_type->super.size
               && mca_coll_epcoll_is_as_packed(call->recv_type)
               && (!mca_coll_epcoll_shows_order(call)
                   || (!is_maximum(call)
                       && mca_coll_epcoll_order_serves(mca_coll_epcoll_layout(handle), call)));
    default:
        return false;
    }
}

bool mca_coll_epcoll_shelf_is_chain(const mca_coll_epcoll_handle_t *handle,
                                    const mca_coll_epcoll_call_t *call)
{
    if (EPCOLL_EXSCAN != call->kind && EPCOLL_SCAN != call->kind) {
        return false;
    }
    return !mca_coll_epcoll_shows_order(call)
           || (!is_maximum(call) && mca_coll_epcoll_order_is_chain(mca_coll_epcoll_layout(handle)));
}

char *mca_coll_epcoll_shelf_at(const mca_coll_epcoll_handle_t *shelf, uint32_t index, uint64_t seq)
{
    const size_t section = index * (size_t) EPCOLL_WINDOW + seq % EPCOLL_WINDOW;

    return (char *) shelf->member.segment + block_size(shelf)
           + section * mca_coll_epcoll_shelf_section(mca_coll_epcoll_size(shelf));
}

void mca_coll_epcoll_shelf_begin(mca_coll_epcoll_wide_t *wide)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    const mca_coll_epcoll_handle_t *handle = &wide->super;
    const uint32_t members = mca_coll_epcoll_size(handle);
    const size_t size = block_size(handle)
                        + members * EPCOLL_WINDOW * mca_coll_epcoll_shelf_section(members);
    mca_coll_epcoll_shelf_t *shelf = calloc(1, sizeof(*shelf));

    if (NULL == shelf
        || MPI_SUCCESS
               != engine->memory_get(handle->comm, MPIX_ENDPOINTS_SCOPE_NODE,
                                     mca_coll_epcoll_component.client, EPCOLL_KEY_SHELF, size,
                                     &shelf->memory)) {
        free(shelf); /* so nobody has all of it */
        return;
    }
    shelf->super.comm = handle->comm;
    epcoll_member_init(&shelf->super.member, shelf->memory->base, members,
                       (uint32_t) mca_coll_epcoll_rank(handle), mca_coll_epcoll_component.fan);
    shelf->super.member.oversubscribed = engine->is_oversubscribed();
    shelf->super.member.aux = &wide->layout->aux;
    wide->shelf = shelf; /* sequentially consistent; partner: break_shared */
    /* Relaxed: a member that looks at it has met all others since; see
     * mca_coll_epcoll_shelf_made. */
    atomic_fetch_add_explicit(&shelf->super.member.segment->users, 1, memory_order_relaxed);
    mca_coll_epcoll_break_late(handle, &shelf->super);
}

void mca_coll_epcoll_shelf_made(mca_coll_epcoll_wide_t *wide)
{
    mca_coll_epcoll_shelf_t *shelf = wide->shelf;

    wide->shelf_is_known = true;
    /* Relaxed: all members that have it have counted before they came to the barrier that we have
     * left. */
    wide->shelf_is_used = NULL != shelf
                          && mca_coll_epcoll_size(&wide->super)
                                 == atomic_load_explicit(&shelf->super.member.segment->users,
                                                         memory_order_relaxed)
                          && mca_coll_epcoll_component.engine->memory_is_complete(shelf->memory);
}

void mca_coll_epcoll_shelf_put(mca_coll_epcoll_wide_t *wide)
{
    mca_coll_epcoll_shelf_t *shelf = wide->shelf;

    if (NULL != shelf) {
        epcoll_end_at(&shelf->super.member, UINT64_MAX); /* we call nothing there any more */
        mca_coll_epcoll_component.engine->memory_put(shelf->memory);
        free(shelf);
        wide->shelf = NULL;
    }
}
