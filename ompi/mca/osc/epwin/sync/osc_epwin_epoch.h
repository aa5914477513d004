/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The epoch state of a handle, for the files of this layer.
 *
 * Tests: win_sync_errors
 */

#ifndef MCA_OSC_EPWIN_EPOCH_H
#define MCA_OSC_EPWIN_EPOCH_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** May an access epoch begin?  (Access epochs of a window are disjoint: MPI-4.1, 12.5.  That of a
 * fence ends with the last operation before.) */
static inline bool mca_osc_epwin_may_access(const mca_osc_epwin_module_t *module)
{
    return EPWIN_ACCESS_NONE == module->access || EPWIN_ACCESS_FENCE == module->access;
}

/** @param[in] open_target  a rank or EPWIN_OPEN_... */
static inline void mca_osc_epwin_open_set(mca_osc_epwin_module_t *module, int open_target)
{
    /* Relaxed: mca_osc_epwin_is_open_fast. */
    atomic_store_explicit(&module->open_target, open_target, memory_order_relaxed);
}

/** @param[in] open_target  likewise */
static inline void mca_osc_epwin_access_set(mca_osc_epwin_module_t *module,
                                            mca_osc_epwin_access_t access, int open_target)
{
    module->access = (uint8_t) access;
    mca_osc_epwin_open_set(module, open_target);
}

/** Is an epoch open in which MPI_Win_sync and the flushes of all targets are allowed? */
static inline bool mca_osc_epwin_is_passive(const mca_osc_epwin_module_t *module)
{
    return EPWIN_ACCESS_LOCK <= module->access;
}

/** This thread has performed a sequentially consistent read-modify-write.  On x86-64 it is a full
 * fence, so the next flush needs none.  Elsewhere (aarch64 without LSE) later loads may pass it. */
static inline void mca_osc_epwin_settled(void)
{
    if (EPWIN_ATOMIC_IS_FENCE) {
        mca_osc_epwin_is_dirty = false;
    }
}

/** Calls between progress, where they need none for themselves: the cost of one is divided by
 * it. */
#define EPWIN_CALLS_PER_PROGRESS 32

/** Count a call; every so many of them progress the endpoint, where messages may arrive.
 * @return rc */
int mca_osc_epwin_listen(mca_osc_epwin_module_t *module, int rc);

/** The end of a call that completes operations.  A program that polls its own memory with such calls
 * waits for messages of others, which arrive only if its endpoint is progressed.  @return rc */
static inline int mca_osc_epwin_called(mca_osc_epwin_module_t *module, int rc)
{
    return OPAL_LIKELY(!module->listens) ? rc : mca_osc_epwin_listen(module, rc);
}

END_C_DECLS

#endif /* MCA_OSC_EPWIN_EPOCH_H */
