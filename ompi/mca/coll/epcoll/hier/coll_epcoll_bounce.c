/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The memory of bounce buffers: which calls use them, and their creation and release.
 *
 * Called by coll_epcoll_hier.c.
 *
 * Tests: coll_layout, coll_nomem (own), death_coll
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "coll_epcoll_bounce.h"

#include "mpi.h"

#include <stdlib.h>

/** Bytes of a member's chunk of a section, at least. */
#define BOUNCE_SECTION_MIN ((size_t) 1024)

/** Members, at most: each reads a line of each other in a round, and has a bounce buffer. */
#define BOUNCE_MEMBERS 64

/** The block's bytes, before the first bounce buffer. */
static size_t bounce_segment_size(uint32_t members)
{
    const size_t size = epcoll_segment_size(members, mca_coll_epcoll_component.fanout);

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

bool mca_coll_epcoll_bounce_fits(const mca_coll_epcoll_handle_t *handle,
                                 const mca_coll_epcoll_call_t *call)
{
    const size_t section = mca_coll_epcoll_bounce_section(mca_coll_epcoll_size(handle));

    if (!mca_coll_epcoll_is_on_node(handle) || mca_coll_epcoll_component.bounce_min > call->bytes
        || BOUNCE_SECTION_MIN > section || BOUNCE_MEMBERS < mca_coll_epcoll_size(handle)) {
        return false;
    }
    switch (call->kind) {
    case EPCOLL_ALLGATHER:
    case EPCOLL_BCAST:
    case EPCOLL_GATHER:
        return true;
    case EPCOLL_ALLTOALL:
    case EPCOLL_SCATTER:
        return BOUNCE_SECTION_MIN <= section / (mca_coll_epcoll_size(handle) - 1);
    case EPCOLL_EXSCAN:
    case EPCOLL_SCAN:
        return BOUNCE_SCAN_MEMBERS >= mca_coll_epcoll_size(handle)
               && section >= call->recv_type->super.size
               && mca_coll_epcoll_is_as_packed(call->recv_type)
               && (!mca_coll_epcoll_order_matters(call)
                   || (!is_maximum(call)
                       && mca_coll_epcoll_order_serves(mca_coll_epcoll_layout(handle), call)));
    default:
        return false;
    }
}

bool mca_coll_epcoll_bounce_is_chain(const mca_coll_epcoll_handle_t *handle,
                                     const mca_coll_epcoll_call_t *call)
{
    if (EPCOLL_EXSCAN != call->kind && EPCOLL_SCAN != call->kind) {
        return false;
    }
    return !mca_coll_epcoll_order_matters(call)
           || (!is_maximum(call) && mca_coll_epcoll_order_is_chain(mca_coll_epcoll_layout(handle)));
}

char *mca_coll_epcoll_bounce_at(const epcoll_member_t *member, uint32_t index, uint64_t seq)
{
    const size_t section = index * (size_t) EPCOLL_WINDOW + seq % EPCOLL_WINDOW;

    return (char *) member->segment + bounce_segment_size(member->count)
           + section * mca_coll_epcoll_bounce_section(member->count);
}

void mca_coll_epcoll_bounce_begin(mca_coll_epcoll_hier_t *hier)
{
    const mpix_endpoints_engine_t *engine = mca_coll_epcoll_component.engine;
    const mca_coll_epcoll_handle_t *handle = &hier->super;
    const uint32_t members = mca_coll_epcoll_size(handle);
    const size_t size = bounce_segment_size(members)
                        + members * EPCOLL_WINDOW * mca_coll_epcoll_bounce_section(members);
    mca_coll_epcoll_bounce_t *bounce = calloc(1, sizeof(*bounce));

    if (NULL == bounce
        || MPI_SUCCESS
               != engine->memory_get(handle->view.comm, MPIX_ENDPOINTS_SCOPE_NODE,
                                     mca_coll_epcoll_component.client, EPCOLL_KEY_BOUNCE, size,
                                     &bounce->memory)) {
        free(bounce); /* so not all members have it */
        return;
    }
    bounce->view.comm = handle->view.comm;
    epcoll_member_init(&bounce->view.member, bounce->memory->base, members,
                       (uint32_t) mca_coll_epcoll_rank(handle), mca_coll_epcoll_component.fanout);
    bounce->view.member.oversubscribed = engine->is_oversubscribed();
    bounce->view.member.aux = &hier->layout->aux;
    hier->bounce = bounce; /* sequentially consistent; partner: break_shared */
    /* Relaxed: a member that reads it has been in a barrier with all others since; see
     * mca_coll_epcoll_bounce_made. */
    atomic_fetch_add_explicit(&bounce->view.member.segment->users, 1, memory_order_relaxed);
    mca_coll_epcoll_break_late(handle, &bounce->view);
}

void mca_coll_epcoll_bounce_made(mca_coll_epcoll_hier_t *hier)
{
    mca_coll_epcoll_bounce_t *bounce = hier->bounce;

    hier->bounce_is_known = true;
    /* Relaxed: all members that have it have counted before they arrived at the barrier that we
     * have left. */
    hier->bounce_is_used = NULL != bounce
                           && mca_coll_epcoll_size(&hier->super)
                                  == atomic_load_explicit(&bounce->view.member.segment->users,
                                                          memory_order_relaxed)
                           && mca_coll_epcoll_component.engine->memory_is_complete(bounce->memory);
}

void mca_coll_epcoll_bounce_put(mca_coll_epcoll_hier_t *hier)
{
    mca_coll_epcoll_bounce_t *bounce = hier->bounce;

    if (NULL != bounce) {
        epcoll_end_at(&bounce->view.member, UINT64_MAX); /* we call nothing there any more */
        mca_coll_epcoll_component.engine->memory_put(bounce->memory);
        free(bounce);
        hier->bounce = NULL;
    }
}
