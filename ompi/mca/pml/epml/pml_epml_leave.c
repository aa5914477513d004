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
 * Collectives that cannot succeed, and who has to hear of it.
 *
 * Who has lost a member of a communicator leaves its collectives, and would leave behind those who
 * have lost nobody: where the connection between two breaks, all others reach both of them.  So it
 * says so (LEFT), to the members 1, 2, 4, 8, ... ranks further on, and each of them, when it hears
 * of it for the first time, does the same.  That is some messages from each, and no connections to
 * everybody; and it gets past members that are lost on the way.  What follows is as if the member
 * that heard it had lost somebody, for collectives alone: it reaches everybody still.
 *
 * Of a death that the launcher tells of everybody hears anyway.
 *
 * Called by pml_epml_lost.c, under the endpoint's lock.  Tests: test/mpi/cut.c (left_collective,
 * left_create).
 */

#include "ompi_config.h"

#include "pml_epml_flow.h"
#include "pml_epml_request.h"

#include "ompi/constants.h"

/** @return false: there was no memory for it */
static bool tell_one(const mca_pml_epml_comm_t *comm, mca_pml_epml_peer_t *peer)
{
    const mca_pml_epml_hdr_left_t hdr = {.common = {.kind = EPML_HDR_LEFT},
                                         .context = comm->context,
                                         .uid = comm->ep->uid};

    return mca_pml_epml_lost_is(comm->ep, peer)
           || OMPI_ERR_OUT_OF_RESOURCE
                  != mca_pml_epml_send_control(comm->ep, peer, &hdr, sizeof(hdr));
}

/** Those behind a rank in a list, as it were a ring.  @return likewise */
static bool tell_some(const mca_pml_epml_comm_t *comm, const mca_pml_epml_peers_t *peers,
                      uint32_t rank)
{
    const uint32_t count = (uint32_t) peers->count;
    bool all = true;

    for (uint32_t step = 1; step < count; step <<= 1) {
        all = tell_one(comm, peers->peer[(rank + step) % count]) && all;
    }
    return all;
}

bool mca_pml_epml_leave_tell(const mca_pml_epml_comm_t *comm)
{
    const uint32_t rank = (uint32_t) comm->rank;
    bool all = tell_some(comm, comm->local, rank);

    if (comm->local != comm->peers && 0 < comm->peers->count) {
        const uint32_t opposite = rank % (uint32_t) comm->peers->count;

        all = tell_one(comm, comm->peers->peer[opposite]) && all;
        all = tell_some(comm, comm->peers, opposite) && all;
    }
    return all;
}

static bool is_member(const mca_pml_epml_peers_t *peers, uint64_t uid)
{
    for (int32_t i = 0; i < peers->count; ++i) {
        if (uid == peers->peer[i]->uid) {
            return true;
        }
    }
    return false;
}

void mca_pml_epml_leave_arrived(mca_pml_epml_ep_t *ep, const mca_pml_epml_hdr_left_t *hdr)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm_find(ep, hdr->context);

    if (NULL == comm
        || (!is_member(comm->local, hdr->uid) && !is_member(comm->peers, hdr->uid))) {
        ++ep->dropped; /* it has been freed here, most likely */
    } else if (!comm->left) {
        comm->left = true;
        ep->lost_seen = EPML_LOST_LOOK;
        /* It may be one whom this endpoint waits for, or who has lost it.  The word itself must not
         * pass for a sign that all is well. */
        ep->ask_soon = true;
    }
}
