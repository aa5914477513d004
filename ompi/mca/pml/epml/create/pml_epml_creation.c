/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Creations: three phases (pml_epml_phases.h), a file each, and what is left when they are over.
 *
 * Should some members of a node be unable to share memory, which may turn out in the first phase or
 * in the last one, all is taken again, with the network in its place.
 *
 * Called by pml_epml_create.c, pml_epml_from_group.c, pml_epml_intercomm.c, pml_epml_merge.c.
 *
 * Tests: create, create_errors, create_fatal, create_info, create_many, create_omp, comm_bridge,
 * merge, death (told_meet), ulfm_revoke, ulfm_stress
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../object/object.h"
#include "pml_epml_creation.h"

#include "ompi/constants.h"

int mca_pml_epml_creation_eps(const mca_pml_epml_creation_t *creation)
{
    int count = 0;

    while (count < creation->num_ep && NULL != creation->eps[count]) {
        ++count;
    }
    return count;
}

int64_t mca_pml_epml_creation_failure(int rc)
{
    if (OMPI_SUCCESS == rc) {
        return EPML_FAILED_NOT;
    }
    return mca_pml_epml_is_loss(rc) ? EPML_FAILED_LOST : EPML_FAILED;
}

epml_verdict_t mca_pml_epml_creation_fail(mca_pml_epml_creation_t *creation, int *rc)
{
    creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    if (OMPI_SUCCESS == *rc) {
        *rc = EPML_FAILED_LOST == creation->failed ? MPI_ERR_PROC_FAILED : OMPI_ERROR;
    }
    return EPML_VERDICT_FAILED;
}

epml_verdict_t mca_pml_epml_creation_without_node(mca_pml_epml_creation_t *creation)
{
    creation->without_node = true;
    if (mca_pml_epml_creation_uses_node(creation)) {
        creation->transports = EPML_WITH_NET;
    }
    return EPML_VERDICT_AGAIN;
}

void mca_pml_epml_creation_forget_peers(mca_pml_epml_creation_t *creation)
{
    epml_side_t *const sides[] = {&creation->local, &creation->remote};

    for (int i = 0; i < 2; ++i) {
        if (NULL != sides[i]->peers) {
            mca_pml_epml_peers_release(sides[i]->peers);
            sides[i]->peers = NULL;
        }
    }
}

/** Give up what is only needed while creating; the handles hold what they need. */
static void clean_up(mca_pml_epml_creation_t *creation)
{
    const int count = mca_pml_epml_creation_eps(creation);

    for (int i = 0; i < count; ++i) {
        mca_pml_epml_ep_release(creation->eps[i]);
    }
    mca_pml_epml_creation_forget_peers(creation);
    epml_side_end(&creation->local);
    epml_side_end(&creation->remote);
}

static bool creation_owes(const void *work)
{
    return ((const mca_pml_epml_creation_t *) work)->bootstrap.owes;
}

int mca_pml_epml_creation_run(mca_pml_epml_creation_t *creation, int failed)
{
    static const epml_phase_t *const phases[] = {&mca_pml_epml_phase_endpoints,
                                                 &mca_pml_epml_phase_tables,
                                                 &mca_pml_epml_phase_handles};
    const int rc = epml_phases_run(phases, (int) (sizeof(phases) / sizeof(phases[0])),
                                   creation_owes, creation, failed);

    clean_up(creation);
    if (mca_pml_epml_is_loss(rc)) {
        creation->error = MPIX_ENDPOINTS_OK; /* the code says all there is to say */
    }
    return rc;
}
