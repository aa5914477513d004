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
#include "osc_epwin_wait.h"

#include <sched.h>

__attribute__((tls_model("initial-exec"))) _Thread_local bool mca_osc_epwin_is_dirty;

void mca_osc_epwin_enter_slow(mca_osc_epwin_module_t *module, uintptr_t self)
{
    uintptr_t first;

    /* Relaxed: only this thread writes its own number. */
    if (self == atomic_load_explicit(&module->user, memory_order_relaxed)) {
        ++module->depth;
        return;
    }
    for (unsigned int spins = 1;; ++spins) {
        uintptr_t nobody = 0;

        /* The plain load keeps waiting threads from writing the line.  Acquire: partner:
         * mca_osc_epwin_leave. */
        if (0 == atomic_load_explicit(&module->user, memory_order_relaxed)
            && atomic_compare_exchange_weak_explicit(&module->user, &nobody, self,
                                                     memory_order_acquire, memory_order_relaxed)) {
            break;
        }
        if (0 == spins % EPWIN_SPINS) {
            (void) sched_yield(); /* the holder may need the core */
        }
        mca_osc_epwin_pause();
    }
    /* Relaxed: written under the lock; others look for their own number. */
    first = atomic_load_explicit(&module->first_user, memory_order_relaxed);
    if (0 == first) {
        atomic_store_explicit(&module->first_user, self, memory_order_relaxed);
    } else if (self != first) {
        module->is_shared = true;
    }
}
