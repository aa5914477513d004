/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Creation and end of windows, and what is asked of them.
 */

#ifndef MCA_OSC_EPWIN_CREATE_H
#define MCA_OSC_EPWIN_CREATE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** The component's osc_select: collective over comm.  An error of one member is returned at all.
 *
 * @param[in]     table    functions of the module
 * @param[in,out] base     of created windows the user's memory; set for allocated and shared ones
 * @param[out]    model_p  MPI_WIN_UNIFIED
 * @return MPI_SUCCESS; the worst error of a member; MPI_ERR_RMA_SHARED; MPI_ERR_NO_MEM
 */
int mca_osc_epwin_create(ompi_win_t *win, const ompi_osc_base_module_t *table, void **base,
                         size_t size, mca_osc_epwin_unit_t unit, ompi_communicator_t *comm,
                         opal_info_t *info, int flavor, int *model_p);

/** MPI_Win_free, collective: MPI_ERR_RMA_SYNC at all where a member has an open epoch, and the
 * window stays.  Where a member is lost the window is freed all the same, without waiting for the
 * others.  In MPI_Finalize: local, for windows that the user has left. */
int mca_osc_epwin_free(ompi_win_t *win);

/** The client's make and free: a duplicate that mca_osc_epwin_create makes gets its module as the
 * client's object; other handles get none. */
int mca_osc_epwin_handle_make(ompi_communicator_t *comm, void **object_p);
void mca_osc_epwin_handle_free(ompi_communicator_t *comm, void *object);

int mca_osc_epwin_shared_query(ompi_win_t *win, int rank, size_t *size,
                               mca_osc_epwin_unit_t *unit, void *base_p);
int mca_osc_epwin_attach(ompi_win_t *win, void *base, size_t size);
int mca_osc_epwin_detach(ompi_win_t *win, const void *base);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_CREATE_H */
