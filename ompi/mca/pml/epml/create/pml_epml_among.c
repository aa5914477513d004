/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators among endpoints of this process alone, which know each other from a communicator
 * already: made by one thread for all of them, without a message.
 *
 * Called through the link table.
 *
 * Tests: static_world
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_among.h"
#include "pml_epml_handle.h"

#include "ompi/constants.h"

/** Members are the endpoints of these handles.  @return one reference, or NULL */
static mca_pml_epml_peers_t *members_of(ompi_communicator_t *const handles[], int count)
{
    mca_pml_epml_peers_t *peers = mca_pml_epml_peers_create(count);

    for (int i = 0; NULL != peers && i < count; ++i) {
        const mca_pml_epml_comm_t *state = mca_pml_epml_comm(handles[i]);

        peers->member[i] = state->local->member[state->rank];
        mca_pml_epml_peer_retain(peers->member[i]);
    }
    return peers;
}

int mca_pml_epml_comm_among(ompi_communicator_t *const handles[], int count,
                            ompi_communicator_t **comms)
{
    const uint64_t context = mca_pml_epml_context_ids(1);
    mca_pml_epml_peers_t *peers = members_of(handles, count);
    int made = 0, rc = NULL == peers ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;

    while (OMPI_SUCCESS == rc && made < count) {
        rc = mca_pml_epml_handle_intra(handles[made], mca_pml_epml_comm(handles[made])->ep, context,
                                       peers, made, &comms[made]);
        if (OMPI_SUCCESS == rc) {
            rc = mca_pml_epml_handle_descend(comms[made], handles[made]);
            ++made; /* also if this fails: it is freed below */
        }
    }
    if (NULL != peers) {
        mca_pml_epml_peers_release(peers);
    }
    while (OMPI_SUCCESS != rc && 0 < made) {
        (void) ompi_comm_free(&comms[--made]);
    }
    return rc;
}
