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

#include "coll_epcoll_different.h"
#include "coll_epcoll_wait.h"

#include <string.h>

int mca_coll_epcoll_turn(void *context)
{
    const mpix_endpoints_door_t *door = mca_coll_epcoll_component.door;
    mca_coll_epcoll_handle_t *handle = context;

    epcoll_set_crowded(&handle->member, door->is_crowded());
    return door->wait_turn(handle->comm, MPIX_ENDPOINTS_ANYBODY, &handle->wait);
}

int mca_coll_epcoll_failed(const mca_coll_epcoll_handle_t *handle, epcoll_member_t *member, int rc)
{
    if (EPCOLL_DIFFERENT != rc) {
        (void) epcoll_break(member, rc);
        return rc;
    }
    rc = mca_coll_epcoll_different(member);
    if (epcoll_break(member, rc)) {
        mca_coll_epcoll_tell_different(handle, member); /* the first one does */
    }
    return rc;
}

int mca_coll_epcoll_ended_slow(mca_coll_epcoll_handle_t *handle, int rc)
{
    if (0 != handle->wait.words[0]) {
        mca_coll_epcoll_component.door->wait_end(&handle->wait);
        memset(&handle->wait, 0, sizeof(handle->wait));
    }
    if (0 == rc) {
        return MPI_SUCCESS;
    }
    epcoll_give_up(&handle->member);
    return mca_coll_epcoll_failed(handle, &handle->member, rc);
}
