/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Segments of operations.
 *
 * In such a segment, users counts the members that have got it; in the communicator's first one,
 * the handles that have not been freed, and orphans is the list of segments that freed handles
 * could not release.
 *
 * Tests: unit/test_epcoll_op_segment, coll_pending, coll_late, coll_nomem
 */

#include "ompi_config.h"

#include "coll_epcoll_op_segment.h"

#include "mpi.h"

#include <stdlib.h>

static epcoll_segment_t *segment_of(const mca_coll_epcoll_op_segment_t *extra)
{
    return extra->memory->base;
}

int mca_coll_epcoll_op_segment_get(mca_coll_epcoll_handle_t *handle, uint32_t key,
                                   epcoll_member_t *member,
                                   mca_coll_epcoll_op_segment_t **segment_p)
{
    const epcoll_member_t *first = &handle->view.member;
    mca_coll_epcoll_op_segment_t *extra = malloc(sizeof(*extra));
    int rc;

    if (NULL == extra) {
        return MPI_ERR_NO_MEM;
    }
    rc = mca_coll_epcoll_component.engine->memory_get(
        handle->view.comm, MPIX_ENDPOINTS_SCOPE_PROCESS, mca_coll_epcoll_component.client, key,
        epcoll_segment_size(first->count, first->fanout), &extra->memory);
    if (MPI_SUCCESS != rc) {
        free(extra);
        return rc;
    }
    epcoll_member_init(member, extra->memory->base, first->count, first->index, first->fanout);
    member->broken = first->broken;
    member->aux = first->aux;
    /* Relaxed: nothing is read by it. */
    atomic_fetch_add_explicit(&member->segment->users, 1, memory_order_relaxed);
    *segment_p = extra;
    return MPI_SUCCESS;
}

/** Add one to a list. */
static void op_segment_defer(mca_coll_epcoll_deferred_t *deferred,
                             mca_coll_epcoll_op_segment_t *extra)
{
    extra->next = atomic_load_explicit(&deferred->first, memory_order_relaxed);
    /* Release pairs with the acquire in deferred_take_all. */
    while (!atomic_compare_exchange_weak_explicit(&deferred->first, &extra->next, extra,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

static mca_coll_epcoll_op_segment_t *deferred_take_all(mca_coll_epcoll_deferred_t *deferred)
{
    /* Acquire pairs with the release in op_segment_defer. */
    return atomic_exchange_explicit(&deferred->first, NULL, memory_order_acquire);
}

static void op_segment_free(mca_coll_epcoll_op_segment_t *extra)
{
    mca_coll_epcoll_component.engine->memory_put(extra->memory);
    free(extra);
}

/** Have all members of the process got it? */
static bool all_have(const mca_coll_epcoll_op_segment_t *extra, const epcoll_member_t *member)
{
    /* Relaxed: its holder uses it alone. */
    return member->count == atomic_load_explicit(&segment_of(extra)->users, memory_order_relaxed);
}

void mca_coll_epcoll_op_segment_put(mca_coll_epcoll_deferred_t *deferred,
                                    const epcoll_member_t *member,
                                    mca_coll_epcoll_op_segment_t *extra)
{
    if (OPAL_LIKELY(all_have(extra, member))) {
        op_segment_free(extra);
    } else {
        op_segment_defer(deferred, extra);
    }
}

/** All that has been added to the handle's own list, in the order in which it was. */
static void deferred_dequeue(mca_coll_epcoll_deferred_t *deferred)
{
    mca_coll_epcoll_op_segment_t *added = NULL, *next;

    for (mca_coll_epcoll_op_segment_t *extra = deferred_take_all(deferred); NULL != extra;
         extra = next) {
        next = extra->next;
        extra->next = added;
        added = extra;
    }
    *(NULL == deferred->oldest ? &deferred->oldest : &deferred->newest->next) = added;
    for (; NULL != added; added = added->next) {
        deferred->newest = added;
    }
}

void mca_coll_epcoll_deferred_put(mca_coll_epcoll_deferred_t *deferred,
                                  const epcoll_member_t *member)
{
    mca_coll_epcoll_op_segment_t *extra;

    /* Relaxed: a hint. */
    if (NULL != atomic_load_explicit(&deferred->first, memory_order_relaxed)) {
        deferred_dequeue(deferred);
    }
    /* Members get segments in one order.  So segments behind one that some members have not got
     * wait for the same members, and each check costs as much as it releases. */
    while (NULL != (extra = deferred->oldest) && all_have(extra, member)) {
        deferred->oldest = extra->next;
        op_segment_free(extra);
    }
}

void mca_coll_epcoll_deferred_begin(epcoll_member_t *member)
{
    /* Relaxed: nothing is read by it. */
    atomic_fetch_add_explicit(&member->segment->users, 1, memory_order_relaxed);
}

void mca_coll_epcoll_deferred_end(epcoll_member_t *member, mca_coll_epcoll_deferred_t *deferred)
{
    epcoll_segment_t *segment = member->segment;
    mca_coll_epcoll_op_segment_t *next;

    if (NULL != deferred) {
        deferred_dequeue(deferred);
        for (mca_coll_epcoll_op_segment_t *extra = deferred->oldest; NULL != extra; extra = next) {
            next = extra->next;
            if (all_have(extra, member)) {
                op_segment_free(extra);
                continue;
            }
            extra->next = atomic_load_explicit(&segment->orphans, memory_order_relaxed);
            /* Relaxed: the count below orders it. */
            while (!atomic_compare_exchange_weak_explicit(&segment->orphans, (void **) &extra->next,
                                                          extra, memory_order_relaxed,
                                                          memory_order_relaxed)) {
            }
        }
    }
    /* Release: what we have left; acquire: what the others have.  Partner: this one, of others. */
    if (1 != atomic_fetch_sub_explicit(&segment->users, 1, memory_order_acq_rel)) {
        return;
    }
    for (mca_coll_epcoll_op_segment_t *extra = atomic_exchange_explicit(&segment->orphans, NULL,
                                                                        memory_order_relaxed);
         NULL != extra; extra = next) {
        next = extra->next;
        op_segment_free(extra);
    }
}
