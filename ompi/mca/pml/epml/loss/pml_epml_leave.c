/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives that cannot succeed, and who has to hear of it.
 *
 * Who has lost a member of a communicator leaves its collectives, and would leave behind those who
 * have lost nobody: where the connection between two breaks, all others reach both of them.  So it
 * says so (LEFT), to the members 1, 2, 4, 8, ... ranks further on, and each of them, when it hears
 * of it for the first time, does the same.  That is some messages from each, and no connections to
 * everybody; and it gets past members that are lost on the way.  What follows is as if the member
 * that heard it had lost somebody, for collectives alone: it reaches everybody still.
 *
 * A creation fails at one member and not at another, where the last words between them are not
 * heard any more.  A member that has the communicator by then leaves it before it frees it.
 *
 * Of a death that the launcher tells of everybody hears anyway.
 *
 * Called by pml_epml_lost.c, and by others that have learned of it, under the endpoint's lock.
 *
 * Tests: cut (left_), device_coll, unit/test_epml_leave
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_leave.h"
#include "pml_epml_lost.h"

#include "ompi/constants.h"

/** @param[in,out] nth  of those who are to be told; the first ones have been
 * @return false: there was no memory for it */
static bool tell_one(mca_pml_epml_comm_t *comm, mca_pml_epml_peer_t *peer, uint32_t *nth)
{
    const mca_pml_epml_hdr_left_t hdr = {.common = {.kind = EPML_HDR_LEFT},
                                         .context = comm->context,
                                         .uid = comm->ep->life.uid};

    if ((*nth)++ < comm->loss.passed_count) {
        return true;
    }
    if (!mca_pml_epml_lost_is(comm->ep, peer)
        && OMPI_ERR_OUT_OF_RESOURCE
               == mca_pml_epml_send_control(comm->ep, peer, &hdr, sizeof(hdr))) {
        return false;
    }
    ++comm->loss.passed_count;
    return true;
}

/** Those behind a rank in a list, as it were a ring.  @param, return likewise */
static bool tell_some(mca_pml_epml_comm_t *comm, const mca_pml_epml_peers_t *peers, uint32_t rank,
                      uint32_t *nth)
{
    const uint32_t count = (uint32_t) peers->count;

    for (uint32_t step = 1; step < count; step <<= 1) {
        if (!tell_one(comm, peers->member[(rank + step) % count], nth)) {
            return false;
        }
    }
    return true;
}

void mca_pml_epml_leave_tell(mca_pml_epml_comm_t *comm)
{
    const uint32_t rank = (uint32_t) comm->rank;
    uint32_t nth = 0;
    bool all;

    if (comm->loss.passed_on) {
        return;
    }
    all = tell_some(comm, comm->local, rank, &nth);
    if (all && comm->local != comm->peers && 0 < comm->peers->count) {
        const uint32_t opposite = rank % (uint32_t) comm->peers->count;

        all = tell_one(comm, comm->peers->member[opposite], &nth)
              && tell_some(comm, comm->peers, opposite, &nth);
    }
    comm->loss.passed_on = all;
}
