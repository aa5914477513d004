/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives that cannot succeed, and the notice to other members.
 *
 * A member that has lost another one leaves the communicator's collectives, and would leave behind
 * members that have lost none: where the connection between two breaks, all others reach both of
 * them.  So it sends a notice (LEFT), to the 1st, 2nd, 4th, 8th, ... of the living members behind
 * it, and each of them, when it gets it for the first time, does the same, and again when it loses
 * another one.  That is some messages from each, and no connections to all; and it gets past
 * members that are lost on the way, as each tells the next one that lives.  A member that gets the
 * notice then behaves as if it had lost a member, for collectives alone: it still reaches all of
 * them.
 *
 * A revocation (MPIX_Comm_revoke) is passed on in the same way, with a flag.  Members may free the
 * communicator when they please, and pass nothing on then, so the one that revokes tells all.
 *
 * A creation fails at one member and not at another, where the last words between them are not
 * heard any more.  A member that has the communicator by then leaves it before it frees it.
 *
 * A death that the launcher reports is known to all members anyway.
 *
 * Called by pml_epml_lost.c, and by others that have learned of it, under the endpoint's lock.
 *
 * Tests: cut (left_), device_coll, ulfm_revoke, ulfm_stress, unit/test_epml_leave
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_leave.h"
#include "pml_epml_lost.h"

#include "ompi/constants.h"

/** @param[in,out] nth  of the members to be notified; the first ones have been
 * @return false: there was no memory for it */
static bool tell_one(mca_pml_epml_comm_t *comm, mca_pml_epml_notice_t notice,
                     mca_pml_epml_peer_t *peer, uint32_t *nth)
{
    mca_pml_epml_passing_t *passing = &comm->loss.passing[notice];
    const mca_pml_epml_hdr_left_t hdr = {
        .common = {.kind = EPML_HDR_LEFT,
                   .flags = EPML_NOTICE_REVOKED == notice ? EPML_HDR_FLAG_REVOKE : 0},
        .context = comm->context,
        .uid = comm->ep->life.uid};

    if ((*nth)++ < passing->count) {
        return true;
    }
    if (OMPI_ERR_OUT_OF_RESOURCE == mca_pml_epml_send_control(comm->ep, peer, &hdr, sizeof(hdr))) {
        return false;
    }
    ++passing->count;
    return true;
}

/** Of those in a list that are not lost the 1st, 2nd, 4th, ... behind a rank, as it were a ring, or
 * all.  The first one closes the ring of the living, so that notices come round.
 * @param, return likewise */
static bool tell_some(mca_pml_epml_comm_t *comm, mca_pml_epml_notice_t notice,
                      const mca_pml_epml_peers_t *peers, uint32_t rank, uint32_t *nth)
{
    const uint32_t count = (uint32_t) peers->count;
    uint32_t living = 0;

    for (uint32_t step = 1; step < count; ++step) {
        mca_pml_epml_peer_t *peer = peers->member[(rank + step) % count];

        if (mca_pml_epml_lost_is(comm->ep, peer)) {
            continue;
        }
        ++living;
        if ((comm->loss.passing[notice].first || 0 == (living & (living - 1)))
            && !tell_one(comm, notice, peer, nth)) {
            return false;
        }
    }
    return true;
}

void mca_pml_epml_leave_tell(mca_pml_epml_comm_t *comm, mca_pml_epml_notice_t notice)
{
    mca_pml_epml_passing_t *passing = &comm->loss.passing[notice];
    const uint32_t rank = (uint32_t) comm->rank;
    uint32_t nth = 0;
    bool all;

    if (passing->lost != comm->loss.count) { /* another one is next */
        passing->over = false;
        passing->count = 0;
        passing->lost = comm->loss.count;
    }
    if (passing->over) {
        return;
    }
    all = tell_some(comm, notice, comm->local, rank, &nth);
    if (all && comm->local != comm->peers && 0 < comm->peers->count) {
        const uint32_t opposite = rank % (uint32_t) comm->peers->count;
        mca_pml_epml_peer_t *peer = comm->peers->member[opposite];

        all = (mca_pml_epml_lost_is(comm->ep, peer) || tell_one(comm, notice, peer, &nth))
              && tell_some(comm, notice, comm->peers, opposite, &nth);
    }
    passing->over = all;
}
