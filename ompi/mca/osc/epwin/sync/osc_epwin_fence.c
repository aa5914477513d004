/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_fence (MPI-4.1, 12.5.1): all operations are completed, then the duplicate's barrier.
 *
 * Called by libmpi.
 *
 * Tests: win_fence, win_sync_errors, win_death
 */

#include "ompi_config.h"

#include "osc_epwin_epoch.h"
#include "osc_epwin_sync.h"

#include "../am/am.h"

#include "ompi/mca/coll/coll.h"

/** Neither ends nor begins an epoch, and as all members give these assertions or none does, none of
 * them waits. */
#define FENCE_OF_NOTHING (MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)

/**
 * The barrier also orders memory: what a member has stored before happens before what another one
 * loads after it.  So of two members that each put, fence, and get the other's word, both see the
 * put, and no fence instruction is needed before or after.  It orders nothing for targets of other
 * windows: this thread's mark stays.
 */
static int fence_meet(mca_osc_epwin_module_t *module)
{
    ompi_communicator_t *comm = module->comm;

    return comm->c_coll->coll_barrier(comm, comm->c_coll->coll_barrier_module);
}

/** An error leaves no epoch: what the others have completed is not known. */
int mca_osc_epwin_fence(int mpi_assert, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc = MPI_SUCCESS;

    if (OPAL_UNLIKELY(!mca_osc_epwin_may_access(module) || module->is_exposed)) {
        return MPI_ERR_RMA_SYNC;
    }
    /* With MPI_MODE_NOPRECEDE there is nothing, which am_flush sees soon enough.  The barrier is
     * met after an error, too: the others wait there. */
    if (mca_osc_epwin_has_origin(module)) {
        rc = mca_osc_epwin_am_flush(module, MPIX_ENDPOINTS_ANY_RANK);
    }
    if (OPAL_UNLIKELY(FENCE_OF_NOTHING == (mpi_assert & FENCE_OF_NOTHING))) {
        mca_osc_epwin_settle();
    } else {
        rc = mca_osc_epwin_first_error(rc, fence_meet(module));
    }
    if (MPI_SUCCESS == rc && 0 == (mpi_assert & MPI_MODE_NOSUCCEED)) {
        mca_osc_epwin_access_set(module, EPWIN_ACCESS_FENCE, EPWIN_OPEN_ALL);
    } else {
        mca_osc_epwin_access_set(module, EPWIN_ACCESS_NONE, EPWIN_OPEN_NONE);
    }
    return rc;
}
