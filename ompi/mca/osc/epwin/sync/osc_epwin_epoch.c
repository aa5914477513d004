/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the end of a window asks of epochs; progress of calls that need none.
 *
 * Called by create/, and by the other files.
 *
 * Tests: win_sync_errors
 */

#include "ompi_config.h"

#include "osc_epwin_epoch.h"
#include "osc_epwin_sync.h"

#include <stdlib.h>

#include "ompi/group/group.h"

bool mca_osc_epwin_has_epoch(const mca_osc_epwin_module_t *module)
{
    return !mca_osc_epwin_may_access(module) || module->is_exposed;
}

static void epoch_group_free(ompi_group_t **group_p, int **ranks_p, int *count_p)
{
    if (NULL != *group_p) {
        OBJ_RELEASE(*group_p);
        *group_p = NULL;
    }
    free(*ranks_p);
    *ranks_p = NULL;
    *count_p = 0;
}

void mca_osc_epwin_sync_free(mca_osc_epwin_module_t *module)
{
    if (&module->first_held != module->held) {
        free(module->held);
    }
    module->held = NULL;
    module->held_count = module->held_room = 0;
    epoch_group_free(&module->start_group, &module->start_ranks, &module->start_count);
    epoch_group_free(&module->post_group, &module->post_ranks, &module->post_count);
}

bool mca_osc_epwin_must_listen(const mca_osc_epwin_module_t *module)
{
    /* Members of other domains use messages for synchronization at least. */
    for (int rank = 0; rank < module->size; ++rank) {
        if (!mca_osc_epwin_is_near(module, rank) || EPWIN_WAY_MESSAGE <= module->peers[rank].way) {
            return true;
        }
    }
    return false;
}

int mca_osc_epwin_listen(mca_osc_epwin_module_t *module, int rc)
{
    /* Relaxed: calls of several threads may be lost.  No read-modify-write. */
    const uint8_t calls = (uint8_t) (1
                                     + atomic_load_explicit(&module->calls, memory_order_relaxed));

    atomic_store_explicit(&module->calls, calls, memory_order_relaxed);
    if (0 == calls % EPWIN_CALLS_PER_PROGRESS) {
        (void) mca_osc_epwin_component.engine->progress(module->comm);
    }
    return rc;
}
