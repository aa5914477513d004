/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Death while communicators are merged: of the survivors only one is in one with the dead.
 */

#include "death.h"

/** A chain of pairs, the last of which has all that die.  They do not call, so that all others wait,
 * near and far, until they are dead. */
int way_merge(survivor_t *s)
{
    const int dead = s->size - endpoints;
    MPI_Comm own[2] = {MPI_COMM_NULL, MPI_COMM_NULL}, merged;
    int rc = MPI_SUCCESS;

    for (int i = 0; MPI_SUCCESS == rc && i < dead; ++i) {
        const bool is_member = s->rank == i || (s->rank < dead ? s->rank == i + 1 : i + 1 == dead);
        MPI_Comm made;

        rc = MPI_Comm_split(s->comm, is_member ? 0 : MPI_UNDEFINED, s->rank, &made);
        if (is_member) {
            own[s->rank == i] = made;
        }
    }
    if (MPI_SUCCESS == rc && s->rank >= dead) {
        return MPI_Barrier(s->comm);
    }
    if (MPI_SUCCESS == rc) {
        rc = MPIX_Comm_merge(own[0], own[1], &merged);
    }
    MPI_Barrier(s->comm); /* by now it knows of the death by itself, not only what others say */
    for (int i = 0; i < 2; ++i) {
        if (MPI_COMM_NULL != own[i]) {
            MPI_Comm_free(&own[i]);
        }
    }
    return rc;
}
