/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which targets an epoch opens, where they are several.
 *
 * Called by the layers sync and calls.
 *
 * Tests: win_lock, win_pscw
 */

#include "ompi_config.h"

#include "osc_epwin_enter.h"

uint32_t mca_osc_epwin_held_find(const mca_osc_epwin_module_t *module, int rank)
{
    uint32_t low = 0, high = module->held_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (module->held[middle].rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool open_is_started(const mca_osc_epwin_module_t *module, int target)
{
    int low = 0, high = module->start_count;

    while (low < high) {
        const int middle = low + (high - low) / 2;

        if (module->start_ranks[middle] < target) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < module->start_count && target == module->start_ranks[low];
}

bool mca_osc_epwin_is_open_slow(mca_osc_epwin_module_t *module, int target)
{
    bool is_open;
    uint32_t at;

    if (EPWIN_ACCESS_LOCK != module->access) {
        return EPWIN_ACCESS_START == module->access && open_is_started(module, target);
    }
    mca_osc_epwin_enter(module);
    at = mca_osc_epwin_held_find(module, target);
    is_open = at < module->held_count && target == module->held[at].rank;
    mca_osc_epwin_leave(module);
    return is_open;
}
