/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_flush in four forms, and MPI_Win_sync (MPI-4.1, 12.5.4).
 *
 * Operations on mapped memory are complete when their call returns, except that their stores may
 * still be in the core's buffer.  Operations by messages are completed by a round trip.
 *
 * Called by libmpi, which does not check the rank.
 *
 * Tests: win_flush, win_sync_errors, win_errors
 */

#include "ompi_config.h"

#include "osc_epwin_epoch.h"
#include "osc_epwin_sync.h"

#include "../am/am.h"

/** May the operations to a target be flushed?
 * @return MPI_SUCCESS, MPI_ERR_RANK, MPI_ERR_RMA_SYNC */
static inline int flush_check(const mca_osc_epwin_module_t *module, int target)
{
    if (OPAL_UNLIKELY(0 > target || module->size <= target)) {
        return MPI_ERR_RANK;
    }
    return OPAL_LIKELY(mca_osc_epwin_is_passive(module) && mca_osc_epwin_is_open(module, target))
               ? MPI_SUCCESS
               : MPI_ERR_RMA_SYNC;
}

int mca_osc_epwin_flush(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (OPAL_UNLIKELY(MPI_PROC_NULL == target)) {
        return MPI_SUCCESS;
    }
    rc = flush_check(module, target);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_LIKELY(EPWIN_WAY_DIRECT == module->peers[target].way)) {
        mca_osc_epwin_settle(module);
        mca_osc_epwin_called(module);
        return MPI_SUCCESS;
    }
    return mca_osc_epwin_am_flush(module, target);
}

int mca_osc_epwin_flush_all(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    if (OPAL_UNLIKELY(!mca_osc_epwin_is_passive(module))) {
        return MPI_ERR_RMA_SYNC;
    }
    mca_osc_epwin_settle(module);
    mca_osc_epwin_called(module);
    return OPAL_LIKELY(NULL == module->origin)
               ? MPI_SUCCESS
               : mca_osc_epwin_am_flush(module, MPIX_ENDPOINTS_ANY_RANK);
}

int mca_osc_epwin_flush_local(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (OPAL_UNLIKELY(MPI_PROC_NULL == target)) {
        return MPI_SUCCESS;
    }
    rc = flush_check(module, target);
    mca_osc_epwin_called(module);
    if (MPI_SUCCESS != rc || EPWIN_WAY_DIRECT == module->peers[target].way) {
        return rc;
    }
    return mca_osc_epwin_am_flush_local(module, target);
}

int mca_osc_epwin_flush_local_all(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    if (OPAL_UNLIKELY(!mca_osc_epwin_is_passive(module))) {
        return MPI_ERR_RMA_SYNC;
    }
    mca_osc_epwin_called(module);
    return OPAL_LIKELY(NULL == module->origin)
               ? MPI_SUCCESS
               : mca_osc_epwin_am_flush_local(module, MPIX_ENDPOINTS_ANY_RANK);
}

int mca_osc_epwin_sync(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    /* In any epoch, as programs with shared windows use it.  A fence in any case: is_dirty knows
     * nothing of the user's own stores into shared windows. */
    module->is_dirty = false;
    atomic_thread_fence(memory_order_seq_cst);
    mca_osc_epwin_called(module);
    return MPI_SUCCESS;
}
