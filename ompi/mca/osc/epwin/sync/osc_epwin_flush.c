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
 * Tests: win_flush, win_sync_errors, win_errors, win_death
 */

#include "ompi_config.h"

#include "osc_epwin_epoch.h"
#include "osc_epwin_sync.h"

#include "../am/am.h"

/** May the operations to a target be flushed?
 * @return MPI_SUCCESS, MPI_ERR_RANK, MPI_ERR_RMA_SYNC */
static inline int flush_check(mca_osc_epwin_module_t *module, int target)
{
    if (OPAL_UNLIKELY(0 > target || module->size <= target)) {
        return MPI_ERR_RANK;
    }
    return OPAL_LIKELY(mca_osc_epwin_is_passive(module) && mca_osc_epwin_is_open(module, target))
               ? MPI_SUCCESS
               : MPI_ERR_RMA_SYNC;
}

/** MPI_Win_flush, all cases. */
static __attribute__((noinline)) int flush_any(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc = flush_check(module, target);

    if (OPAL_UNLIKELY(MPI_PROC_NULL == target)) {
        return MPI_SUCCESS;
    }
    if (MPI_SUCCESS == rc) {
        mca_osc_epwin_settle();
        rc = EPWIN_WAY_DIRECT == module->peers[target].way ? MPI_SUCCESS
                                                           : mca_osc_epwin_am_flush(module, target);
    }
    return mca_osc_epwin_called(module, rc);
}

int mca_osc_epwin_flush(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    /* The fast path calls nothing, so it saves no registers. */
    if (OPAL_UNLIKELY((unsigned int) module->size <= (unsigned int) target
                      || !mca_osc_epwin_is_passive(module)
                      || !mca_osc_epwin_is_open_fast(module, target)
                      || EPWIN_WAY_DIRECT != module->peers[target].way)) {
        return flush_any(target, win);
    }
    mca_osc_epwin_settle();
    return mca_osc_epwin_called(module, MPI_SUCCESS);
}

int mca_osc_epwin_flush_all(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    if (OPAL_UNLIKELY(!mca_osc_epwin_is_passive(module))) {
        return MPI_ERR_RMA_SYNC;
    }
    mca_osc_epwin_settle();
    return mca_osc_epwin_called(module,
                                OPAL_LIKELY(!mca_osc_epwin_has_origin(module))
                                    ? MPI_SUCCESS
                                    : mca_osc_epwin_am_flush(module, MPIX_ENDPOINTS_ANY_RANK));
}

int mca_osc_epwin_flush_local(int target, ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (OPAL_UNLIKELY(MPI_PROC_NULL == target)) {
        return MPI_SUCCESS;
    }
    rc = flush_check(module, target);
    if (MPI_SUCCESS == rc && EPWIN_WAY_DIRECT != module->peers[target].way) {
        rc = mca_osc_epwin_am_flush_local(module, target);
    }
    return mca_osc_epwin_called(module, rc);
}

int mca_osc_epwin_flush_local_all(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    if (OPAL_UNLIKELY(!mca_osc_epwin_is_passive(module))) {
        return MPI_ERR_RMA_SYNC;
    }
    return mca_osc_epwin_called(module,
                                OPAL_LIKELY(!mca_osc_epwin_has_origin(module))
                                    ? MPI_SUCCESS
                                    : mca_osc_epwin_am_flush_local(module,
                                                                   MPIX_ENDPOINTS_ANY_RANK));
}

int mca_osc_epwin_sync(ompi_win_t *win)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);

    /* In any epoch, as programs with shared windows use it.  A fence in any case: the mark
     * knows nothing of the user's own stores into shared windows. */
    mca_osc_epwin_is_dirty = true;
    mca_osc_epwin_settle();
    return mca_osc_epwin_called(module, MPI_SUCCESS);
}
