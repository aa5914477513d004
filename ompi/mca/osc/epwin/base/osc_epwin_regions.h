/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Attached memory of dynamic windows: a list per member of this process, in the window object.
 * Written by the member (MPI_Win_attach, MPI_Win_detach), read by origins of the process and by the
 * handler of messages.
 *
 * Tests: win_dynamic
 */

#ifndef MCA_OSC_EPWIN_REGIONS_H
#define MCA_OSC_EPWIN_REGIONS_H

#include "ompi_config.h"

#include "osc_epwin.h"

BEGIN_C_DECLS

/** Is memory of a member of this process attached as a whole, by one or several adjacent regions?
 * Any thread.  @param[in] at  address */
bool mca_osc_epwin_regions_have(const mca_osc_epwin_window_t *window, int rank, uintptr_t at,
                                size_t size);

/** @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_RMA_ATTACH: it overlaps attached memory */
int mca_osc_epwin_regions_add(mca_osc_epwin_window_t *window, int rank, uintptr_t at, size_t size);

/** @return MPI_SUCCESS; MPI_ERR_RMA_ATTACH: no region begins there */
int mca_osc_epwin_regions_remove(mca_osc_epwin_window_t *window, int rank, uintptr_t at);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_REGIONS_H */
