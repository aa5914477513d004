/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Checks of operations: osc_epwin_place.h.
 *
 * Tests: win_errors, win_dynamic, win_device
 */

#include "ompi_config.h"

#include "osc_epwin_place.h"

/** In a dynamic window displacements are addresses; those of other processes are checked there. */
static int place_check_dynamic(const mca_osc_epwin_module_t *module, mca_osc_epwin_place_t *place)
{
    ptrdiff_t low;
    size_t size;

    if (!mca_osc_epwin_span(place->type, place->count, &low, &size)) {
        return MPI_ERR_RMA_RANGE;
    }
    if (0 == size || EPWIN_WAY_DIRECT != module->peers[place->target].way) {
        return MPI_SUCCESS;
    }
    place->on_device = mca_osc_epwin_component.has_accelerator
                       && mca_osc_epwin_component.engine->is_device(module->comm,
                                                                    (const void *) place->at,
                                                                    place->count, place->type);
    return mca_osc_epwin_regions_have(module->window, place->target, (uintptr_t) (place->at + low),
                                      size)
               ? MPI_SUCCESS
               : MPI_ERR_RMA_RANGE;
}

int mca_osc_epwin_place_check(mca_osc_epwin_module_t *module, int target, ptrdiff_t disp,
                              size_t count, ompi_datatype_t *type, mca_osc_epwin_place_t *place)
{
    *place = (mca_osc_epwin_place_t){
        .target = target, .at = disp, .count = count, .type = type};
    if (!mca_osc_epwin_is_open(module, target)) {
        return MPI_ERR_RMA_SYNC;
    }
    if (MPI_WIN_FLAVOR_DYNAMIC == module->flavor) {
        return place_check_dynamic(module, place);
    }
    place->on_device = EPWIN_WAY_DEVICE == module->peers[target].way;
    return mca_osc_epwin_range(&module->peers[target], disp, count, type, &place->at);
}
