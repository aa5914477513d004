/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Blocks beside the first one.
 *
 * In a block beside, users counts the members that have got it; in the first one, the handles that
 * have not gone, and left is the list of what those that have gone could not put back.
 *
 * Tests: unit/test_epcoll_side, coll_pending, coll_late, coll_nomem
 */

#include "ompi_config.h"

#include "coll_epcoll_side.h"

#include "mpi.h"

#include <stdlib.h>

static epcoll_segment_t *block_of(const mca_coll_epcoll_side_t *side)
{
    return side->memory->base;
}

int mca_coll_epcoll_side_get(mca_coll_epcoll_handle_t *handle, uint32_t key,
                             epcoll_member_t *member, mca_coll_epcoll_side_t **side_p)
{
    const epcoll_member_t *first = &handle->member;
    mca_coll_epcoll_side_t *side = malloc(sizeof(*side));
    int rc;

    if (NULL == side) {
        return MPI_ERR_NO_MEM;
    }
    rc = mca_coll_epcoll_component.engine->memory_get(
        handle->comm, MPIX_ENDPOINTS_SCOPE_PROCESS, mca_coll_epcoll_component.client, key,
        epcoll_segment_size(first->count, first->fanout), &side->memory);
    if (MPI_SUCCESS != rc) {
        free(side);
        return rc;
    }
    epcoll_member_init(member, side->memory->base, first->count, first->index, first->fanout);
    member->broken = first->broken;
    member->aux = first->aux;
    /* Relaxed: nothing is read by it. */
    atomic_fetch_add_explicit(&member->segment->users, 1, memory_order_relaxed);
    *side_p = side;
    return MPI_SUCCESS;
}

/** Add one to a list. */
static void side_keep(mca_coll_epcoll_sides_t *kept, mca_coll_epcoll_side_t *side)
{
    side->next = atomic_load_explicit(&kept->first, memory_order_relaxed);
    /* Release pairs with the acquire in take_all. */
    while (!atomic_compare_exchange_weak_explicit(&kept->first, &side->next, side,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

static mca_coll_epcoll_side_t *take_all(mca_coll_epcoll_sides_t *kept)
{
    /* Acquire pairs with the release in keep. */
    return atomic_exchange_explicit(&kept->first, NULL, memory_order_acquire);
}

static void side_put(mca_coll_epcoll_side_t *side)
{
    mca_coll_epcoll_component.engine->memory_put(side->memory);
    free(side);
}

/** Have all members of the process got it? */
static bool all_have(const mca_coll_epcoll_side_t *side, const epcoll_member_t *member)
{
    /* Relaxed: its holder uses it alone. */
    return member->count == atomic_load_explicit(&block_of(side)->users, memory_order_relaxed);
}

void mca_coll_epcoll_side_put(mca_coll_epcoll_sides_t *kept, const epcoll_member_t *member,
                              mca_coll_epcoll_side_t *side)
{
    if (OPAL_LIKELY(all_have(side, member))) {
        side_put(side);
    } else {
        side_keep(kept, side);
    }
}

/** All that has been added to the handle's own list, in the order in which it was. */
static void take_in(mca_coll_epcoll_sides_t *kept)
{
    mca_coll_epcoll_side_t *added = NULL, *next;

    for (mca_coll_epcoll_side_t *side = take_all(kept); NULL != side; side = next) {
        next = side->next;
        side->next = added;
        added = side;
    }
    *(NULL == kept->oldest ? &kept->oldest : &kept->newest->next) = added;
    for (; NULL != added; added = added->next) {
        kept->newest = added;
    }
}

void mca_coll_epcoll_sides_look(mca_coll_epcoll_sides_t *kept, const epcoll_member_t *member)
{
    mca_coll_epcoll_side_t *side;

    /* Relaxed: a hint. */
    if (NULL != atomic_load_explicit(&kept->first, memory_order_relaxed)) {
        take_in(kept);
    }
    /* Members get blocks in one order.  So what is behind one that some have not got waits for the
     * same members, and each look costs as much as it puts back. */
    while (NULL != (side = kept->oldest) && all_have(side, member)) {
        kept->oldest = side->next;
        side_put(side);
    }
}

void mca_coll_epcoll_sides_begin(epcoll_member_t *member)
{
    /* Relaxed: nothing is read by it. */
    atomic_fetch_add_explicit(&member->segment->users, 1, memory_order_relaxed);
}

void mca_coll_epcoll_sides_end(epcoll_member_t *member, mca_coll_epcoll_sides_t *kept)
{
    epcoll_segment_t *segment = member->segment;
    mca_coll_epcoll_side_t *next;

    if (NULL != kept) {
        take_in(kept);
        for (mca_coll_epcoll_side_t *side = kept->oldest; NULL != side; side = next) {
            next = side->next;
            if (all_have(side, member)) {
                side_put(side);
                continue;
            }
            side->next = atomic_load_explicit(&segment->orphans, memory_order_relaxed);
            /* Relaxed: the count below orders it. */
            while (!atomic_compare_exchange_weak_explicit(&segment->orphans, (void **) &side->next,
                                                          side, memory_order_relaxed,
                                                          memory_order_relaxed)) {
            }
        }
    }
    /* Release: what we have left; acquire: what the others have.  Partner: this one, of others. */
    if (1 != atomic_fetch_sub_explicit(&segment->users, 1, memory_order_acq_rel)) {
        return;
    }
    for (mca_coll_epcoll_side_t *side = atomic_exchange_explicit(&segment->orphans, NULL,
                                                                 memory_order_relaxed);
         NULL != side; side = next) {
        next = side->next;
        side_put(side);
    }
}
