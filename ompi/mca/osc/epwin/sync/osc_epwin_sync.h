/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Epochs: the synchronization functions of a window (MPI-4.1, 12.5).  Each is the function of the
 * module's table with that name.
 */

#ifndef MCA_OSC_EPWIN_SYNC_H
#define MCA_OSC_EPWIN_SYNC_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

int mca_osc_epwin_fence(int mpi_assert, ompi_win_t *win);

int mca_osc_epwin_start(ompi_group_t *group, int mpi_assert, ompi_win_t *win);
int mca_osc_epwin_complete(ompi_win_t *win);
int mca_osc_epwin_post(ompi_group_t *group, int mpi_assert, ompi_win_t *win);
int mca_osc_epwin_wait_epoch(ompi_win_t *win);
int mca_osc_epwin_test_epoch(ompi_win_t *win, int *flag);

int mca_osc_epwin_lock(int lock_type, int target, int mpi_assert, ompi_win_t *win);
int mca_osc_epwin_unlock(int target, ompi_win_t *win);
int mca_osc_epwin_lock_all(int mpi_assert, ompi_win_t *win);
int mca_osc_epwin_unlock_all(ompi_win_t *win);

int mca_osc_epwin_sync(ompi_win_t *win);
int mca_osc_epwin_flush(int target, ompi_win_t *win);
int mca_osc_epwin_flush_all(ompi_win_t *win);
int mca_osc_epwin_flush_local(int target, ompi_win_t *win);
int mca_osc_epwin_flush_local_all(ompi_win_t *win);

/** Is an epoch open that MPI_Win_free must refuse?  (A fence's is none.) */
bool mca_osc_epwin_has_epoch(const mca_osc_epwin_module_t *module);

/** May messages of other members arrive for this one?  Its cost grows with the number of
 * members. */
bool mca_osc_epwin_must_listen(const mca_osc_epwin_module_t *module);

/** Free what the module has for epochs. */
void mca_osc_epwin_sync_free(mca_osc_epwin_module_t *module);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_SYNC_H */
