/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What programs ask of windows, and attached memory.
 *
 * Tests: win_create, win_shared, win_dynamic, win_device
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "osc_epwin_create.h"

/** The lowest rank whose memory is mapped here and not empty, or 0. */
static int first_mapped(const mca_osc_epwin_module_t *module)
{
    for (int rank = 0; rank < module->size; ++rank) {
        if (EPWIN_WAY_DIRECT == module->peers[rank].way && 0 < module->peers[rank].size) {
            return rank;
        }
    }
    return 0;
}

int mca_osc_epwin_shared_query(ompi_win_t *win, int rank, size_t *size, mca_osc_epwin_unit_t *unit,
                               void *base_p)
{
    const mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    const mca_osc_epwin_peer_t *peer;
    bool is_mapped;

    *size = 0; /* libmpi reads it in any case */
    if (MPI_WIN_FLAVOR_DYNAMIC == module->flavor) {
        return MPI_ERR_RMA_FLAVOR;
    }
    peer = &module->peers[MPI_PROC_NULL == rank ? first_mapped(module) : rank];
    is_mapped = EPWIN_WAY_DIRECT == peer->way;
    *size = is_mapped ? peer->size : 0;
    *unit = (mca_osc_epwin_unit_t) peer->unit;
    *(void **) base_p = is_mapped && (0 < peer->size || MPI_PROC_NULL != rank) ? peer->base : NULL;
    return MPI_SUCCESS;
}

int mca_osc_epwin_attach(ompi_win_t *win, void *base, size_t size)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (MPI_WIN_FLAVOR_DYNAMIC != module->flavor) {
        return MPI_ERR_RMA_FLAVOR;
    }
    if (PTRDIFF_MAX < size || UINTPTR_MAX - (uintptr_t) base < size) {
        return MPI_ERR_SIZE;
    }
    mca_osc_epwin_enter(module); /* a list has one writer at a time */
    rc = mca_osc_epwin_regions_add(module->window, module->rank, (uintptr_t) base, size);
    mca_osc_epwin_leave(module);
    return rc;
}

int mca_osc_epwin_detach(ompi_win_t *win, const void *base)
{
    mca_osc_epwin_module_t *module = mca_osc_epwin_module(win);
    int rc;

    if (MPI_WIN_FLAVOR_DYNAMIC != module->flavor) {
        return MPI_ERR_RMA_FLAVOR;
    }
    mca_osc_epwin_enter(module);
    rc = mca_osc_epwin_regions_remove(module->window, module->rank, (uintptr_t) base);
    mca_osc_epwin_leave(module);
    return rc;
}
