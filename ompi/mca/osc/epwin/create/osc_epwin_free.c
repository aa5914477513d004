/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The end of windows.
 *
 * Tests: win_create, win_left, win_progress, win_death
 */

#include "ompi_config.h"

#include "../am/am.h"
#include "../base/base.h"
#include "../sync/sync.h"
#include "osc_epwin_create.h"
#include "osc_epwin_making.h"

#include "ompi/runtime/mpiruntime.h"

/** Can members communicate?  In MPI_Finalize libmpi frees the windows that are left, one after
 * another in one thread, and so all members of a process in one. */
static bool is_running(void)
{
    return OMPI_MPI_STATE_INIT_COMPLETED == ompi_mpi_state
           || OMPI_MPI_STATE_FINALIZE_STARTED == ompi_mpi_state;
}

/**
 * Complete this member's operations, and reduce the members' errors.  It is also the barrier of
 * MPI_Win_free: when it returns, all members have completed theirs.
 *
 * @return MPI_SUCCESS, MPI_ERR_RMA_SYNC: a member has an open epoch; MPI_ERR_PROC_FAILED
 */
static int members_complete(mca_osc_epwin_module_t *module)
{
    const int error = mca_osc_epwin_has_epoch(module) ? MPI_ERR_RMA_SYNC : MPI_SUCCESS;

    /* In an epoch it might wait for a lock of another member that is here, too.  An error of an
     * operation has no epoch to be reported in. */
    if (MPI_SUCCESS == error) {
        (void) mca_osc_epwin_am_flush(module, MPIX_ENDPOINTS_ANY_RANK);
        mca_osc_epwin_settle();
    }
    return mca_osc_epwin_error_reduce(module, error);
}

bool mca_osc_epwin_has_progress(const mca_osc_epwin_module_t *module)
{
    return 0 < mca_osc_epwin_component.progress_interval && module->listens;
}

/** The handle is no window any more. */
static void window_end(mca_osc_epwin_module_t *module)
{
    /* Relaxed: a hint, for messages of members that are lost. */
    atomic_store_explicit(&module->win, NULL, memory_order_relaxed);
    if (mca_osc_epwin_has_progress(module)) {
        mca_osc_epwin_progress_end();
    }
}

int mca_osc_epwin_free(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    if (!is_running()) {
        /* libmpi frees the duplicate later, and with it the module. */
        window_end(module);
        return MPI_SUCCESS;
    }
    /* Where a member is lost there is nobody to agree with, and nothing that the user could do. */
    if (MPI_ERR_RMA_SYNC == members_complete(module)) {
        return MPI_ERR_RMA_SYNC;
    }
    window_end(module);
    mca_osc_epwin_duplicate_free(module);
    return MPI_SUCCESS;
}
