/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Attached memory of dynamic windows: a sorted list per member of this process, in the window
 * object.  Written by the member (MPI_Win_attach, MPI_Win_detach), read by origins of the process
 * and by the handler of messages, without a lock.
 *
 * Tests: win_dynamic
 */

#ifndef MCA_OSC_EPWIN_REGIONS_H
#define MCA_OSC_EPWIN_REGIONS_H

#include "ompi_config.h"

#include "osc_epwin.h"

BEGIN_C_DECLS

/** Is memory of a member of this process attached as a whole, by one or several adjacent regions?
 * Any thread.  False for a rank of another process.  @param[in] at  address */
bool mca_osc_epwin_regions_have(const mca_osc_epwin_window_t *window, int rank, uintptr_t at,
                                size_t size);

/**
 * The same of a member of another process of the node (EPWIN_WAY_COPY), without that process.
 *
 * @return false: not attached, or it cannot be found out here */
bool mca_osc_epwin_regions_have_far(const mca_osc_epwin_module_t *module, int rank, uintptr_t at,
                                    size_t size);

/** In the thread of the member.
 * @return MPI_SUCCESS; MPI_ERR_NO_MEM; MPI_ERR_RMA_ATTACH: it overlaps attached memory, or begins
 *         where another region begins */
int mca_osc_epwin_regions_add(mca_osc_epwin_window_t *window, int rank, uintptr_t at, size_t size);

/** In the thread of the member.
 * @return MPI_SUCCESS; MPI_ERR_RMA_ATTACH: no region begins there */
int mca_osc_epwin_regions_remove(mca_osc_epwin_window_t *window, int rank, uintptr_t at);

/** Bytes of the lists of a process's members, in the memory of the window object. */
size_t mca_osc_epwin_regions_bytes(int members);

/** Begin them in zeroed memory.  @param[in] ranks  of the members of this process, ascending */
struct mca_osc_epwin_regions_t *mca_osc_epwin_regions_init(void *memory, const int *ranks,
                                                           int members);

/** The address of a member's list, which mca_osc_epwin_regions_have_far reads.
 * @param[in] index  of the member in its process */
uintptr_t mca_osc_epwin_regions_list(const void *memory, int index);

/** Free what a member has attached.  No other thread reads its list any more. */
void mca_osc_epwin_regions_end(mca_osc_epwin_window_t *window, int rank);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_REGIONS_H */
