/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The lock of a window handle: osc_epwin_enter.h.
 *
 * Tests: win_threads
 */

#include "ompi_config.h"

#include "osc_epwin_enter.h"

__attribute__((tls_model("initial-exec"))) _Thread_local bool mca_osc_epwin_is_dirty;

void mca_osc_epwin_enter(mca_osc_epwin_module_t *module)
{
    if (EPWIN_THREADS_TURNS == module->threads) {
        epwin_handle_lock_pass(&module->guard, mca_osc_epwin_self());
    } else {
        epwin_handle_lock_take(&module->guard, mca_osc_epwin_self(), module->may_bias);
    }
}
