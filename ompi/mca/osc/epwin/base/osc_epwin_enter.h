/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The lock of a window handle (osc_epwin_handle_lock.h), for several threads that use one handle
 * (MPI_THREAD_MULTIPLE).
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
 * Fast paths use a section of the owner instead, which needs no atomic instruction while one thread
 * uses the handle.  docs/decisions.md ("Windows") says why this is not the endpoint's biased lock.
 *
 * Tests: win_threads
 */

#ifndef MCA_OSC_EPWIN_ENTER_H
#define MCA_OSC_EPWIN_ENTER_H

#include "ompi_config.h"

#include "osc_epwin.h"

BEGIN_C_DECLS

/** For fast paths, which call nothing: begin a section.
 * @return false: another thread has used the handle, or this one not yet; take the lock */
static inline bool mca_osc_epwin_try_section(mca_osc_epwin_module_t *module)
{
    return OPAL_LIKELY(epwin_handle_lock_try_section(&module->guard, mca_osc_epwin_self()));
}

/** End it. */
static inline void mca_osc_epwin_end_section(mca_osc_epwin_module_t *module)
{
    epwin_handle_lock_end_section(&module->guard);
}

/** Take the lock.  Where the threads of a handle take turns, only the bias is. */
void mca_osc_epwin_enter(mca_osc_epwin_module_t *module);

/** Give it back. */
static inline void mca_osc_epwin_leave(mca_osc_epwin_module_t *module)
{
    if (EPWIN_THREADS_TURNS != module->threads) {
        epwin_handle_lock_give(&module->guard);
    }
}

/** Give it back for a wait, however often this thread has taken it.
 * @return for mca_osc_epwin_resume */
static inline uint32_t mca_osc_epwin_suspend(mca_osc_epwin_module_t *module)
{
    const uint32_t depth = module->guard.depth;

    module->guard.depth = 0;
    mca_osc_epwin_leave(module);
    return depth;
}

/** After the wait.  What the caller has read before may have changed. */
static inline void mca_osc_epwin_resume(mca_osc_epwin_module_t *module, uint32_t depth)
{
    mca_osc_epwin_enter(module);
    module->guard.depth = depth;
}

END_C_DECLS

#endif /* MCA_OSC_EPWIN_ENTER_H */
