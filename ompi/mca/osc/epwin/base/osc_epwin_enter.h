/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The lock of a window handle, for several threads that use one handle (MPI_THREAD_MULTIPLE).
 *
 * It guards the list of held locks, the messages of the handle as origin, and its list of attached
 * memory.  Operations on mapped memory do not take it, unless the handle holds several locks.
 *
 * Order: it comes before the endpoint's lock, which functions of the engine take.  The engine's
 * handler and steps never take it.  A thread that waits gives it back (mca_osc_epwin_suspend), so no
 * lock of a window and no answer is waited for under it.
 *
 * It is recursive: functions of the engine may run a callback of the user's (the end of a datatype,
 * for example), which may call MPI.
 *
 * An ordinary lock, with one atomic instruction to take it; docs/decisions.md ("Windows") says why it
 * is not biased as the endpoint's is.
 *
 * Tests: win_threads
 */

#ifndef MCA_OSC_EPWIN_ENTER_H
#define MCA_OSC_EPWIN_ENTER_H

#include "ompi_config.h"

#include "osc_epwin.h"

BEGIN_C_DECLS

/** mca_osc_epwin_enter, where the lock is not free or another thread has used the handle before. */
void mca_osc_epwin_enter_slow(mca_osc_epwin_module_t *module, uintptr_t self);

/** Take the lock if it is free and only this thread has used the handle: for fast paths, which call
 * nothing.  Nothing need be taken where the threads of a handle take turns. */
static inline bool mca_osc_epwin_try_enter(mca_osc_epwin_module_t *module)
{
    const uintptr_t self = mca_osc_epwin_self();
    uintptr_t nobody = 0;

    /* Relaxed: only this thread writes its own number.  Acquire: what the last holder has written;
     * partner: mca_osc_epwin_leave. */
    return EPWIN_THREADS_TURNS == module->threads
           || (OPAL_LIKELY(self == atomic_load_explicit(&module->first_user, memory_order_relaxed))
               && atomic_compare_exchange_strong_explicit(&module->user, &nobody, self,
                                                          memory_order_acquire,
                                                          memory_order_relaxed));
}

/** Take it. */
static inline void mca_osc_epwin_enter(mca_osc_epwin_module_t *module)
{
    if (OPAL_UNLIKELY(!mca_osc_epwin_try_enter(module))) {
        mca_osc_epwin_enter_slow(module, mca_osc_epwin_self());
    }
}

/** Give it back. */
static inline void mca_osc_epwin_leave(mca_osc_epwin_module_t *module)
{
    if (EPWIN_THREADS_TURNS == module->threads) {
        return;
    }
    if (OPAL_UNLIKELY(0 < module->depth)) {
        --module->depth;
        return;
    }
    /* Release: partners: mca_osc_epwin_try_enter, mca_osc_epwin_enter_slow. */
    atomic_store_explicit(&module->user, 0, memory_order_release);
}

/** Give it back for a wait, however often this thread has taken it.
 * @return for mca_osc_epwin_resume */
static inline uint32_t mca_osc_epwin_suspend(mca_osc_epwin_module_t *module)
{
    const uint32_t depth = module->depth;

    module->depth = 0;
    mca_osc_epwin_leave(module);
    return depth;
}

/** After the wait.  What the caller has read before may have changed. */
static inline void mca_osc_epwin_resume(mca_osc_epwin_module_t *module, uint32_t depth)
{
    mca_osc_epwin_enter(module);
    module->depth = depth;
}

END_C_DECLS

#endif /* MCA_OSC_EPWIN_ENTER_H */
