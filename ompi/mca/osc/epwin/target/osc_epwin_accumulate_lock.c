/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The accumulate lock of a member: osc_epwin_apply.h.  It names its holder, so a thread that waits for
 * it checks that the holder is alive.
 *
 * Called by the layer calls.
 *
 * Tests: win_random, win_death
 */

#include "ompi_config.h"

#include "osc_epwin_apply.h"

typedef struct accumulate_wait_t {
    mca_osc_epwin_control_t *control;
    int rank;
} accumulate_wait_t;

static bool accumulate_is_taken(void *context)
{
    const accumulate_wait_t *wait = context;

    /* The plain load keeps those that wait from writing the line. */
    return 0 == atomic_load_explicit(&wait->control->accumulate, memory_order_relaxed)
           && mca_osc_epwin_accumulate_try(wait->control, wait->rank);
}

int mca_osc_epwin_accumulate_acquire(mca_osc_epwin_module_t *module,
                                     mca_osc_epwin_control_t *control)
{
    accumulate_wait_t wait = {.control = control, .rank = module->rank};

    if (OPAL_LIKELY(mca_osc_epwin_accumulate_try(control, module->rank))) {
        return MPI_SUCCESS;
    }
    while (true) {
        /* The holder changes while this thread waits, so the loss of any member ends the wait. */
        const int rc = mca_osc_epwin_wait(module, "an accumulate", MPIX_ENDPOINTS_ANY_RANK,
                                          accumulate_is_taken, &wait);
        /* Relaxed: a hint at which one holds it.  A lost one holds it for good. */
        const uint32_t holder = atomic_load_explicit(&control->accumulate, memory_order_relaxed);

        if (MPI_SUCCESS == rc) {
            return MPI_SUCCESS;
        }
        if (holder > (uint32_t) module->size) {
            return MPI_ERR_OTHER; /* another process has written nonsense */
        }
        if (0 < holder && mca_osc_epwin_component.engine->is_lost(module->comm, (int) holder - 1)) {
            return rc;
        }
    }
}
