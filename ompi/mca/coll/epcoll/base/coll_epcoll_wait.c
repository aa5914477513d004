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
 * Turns of the engine while an operation waits, and what its end means to the user.
 *
 * Tests: coll_move, coll_reduce, coll_different
 */

#include "ompi_config.h"

#include "coll_epcoll_wait.h"

int mca_coll_epcoll_turn(void *context)
{
    mca_coll_epcoll_handle_t *handle = context;

    return mca_coll_epcoll_component.door->wait_turn(handle->comm, MPIX_ENDPOINTS_ANYBODY,
                                                     &handle->wait);
}

/** Members have called different things: which error is that? */
static int different(epcoll_member_t *member)
{
    const uint64_t own = epcoll_slot(member, member->index)->call;

    for (uint32_t i = 0; i < member->count; ++i) {
        const epcoll_slot_t *slot = epcoll_slot(member, i);

        /* Acquire pairs with the release in epcoll_say. */
        if (member->number == atomic_load_explicit(&slot->number, memory_order_acquire)
            && own != slot->call && own >> 32 == slot->call >> 32) {
            return MPI_ERR_TRUNCATE; /* the same of another length */
        }
    }
    return MPI_ERR_OTHER;
}

int mca_coll_epcoll_ended_slow(mca_coll_epcoll_handle_t *handle, int rc)
{
    if (0 != handle->wait.words[0]) {
        mca_coll_epcoll_component.door->wait_end(&handle->wait);
        handle->wait = (mpix_endpoints_wait_t){{0}};
    }
    if (0 == rc) {
        return MPI_SUCCESS;
    }
    rc = EPCOLL_DIFFERENT == rc ? different(&handle->member) : rc;
    epcoll_break(&handle->member, rc);
    return rc;
}
