/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Waiting: a short spin, then the engine's wait.
 */

#ifndef MCA_OSC_EPWIN_WAIT_H
#define MCA_OSC_EPWIN_WAIT_H

#include "ompi_config.h"

#include "osc_epwin.h"

BEGIN_C_DECLS

/** Tests of a condition before the engine's wait: about a microsecond, in which messages that arrive
 * are not served. */
#define EPWIN_SPINS 20

/** Spins for a wait: 1 where threads share cores. */
static inline unsigned int mca_osc_epwin_spins(void)
{
    return mca_osc_epwin_component.engine->is_oversubscribed() ? 1 : EPWIN_SPINS;
}

/**
 * The engine's wait: progress the endpoint, help others, and yield.
 *
 * The loss of any member ends it: after that the one that is waited for may have freed its handle.
 *
 * @param[in] what   what is waited for, for dumps of queues; constant
 * @param[in] from   the rank that is waited for, likewise, or MPIX_ENDPOINTS_ANY_RANK
 * @param[in] until  the condition; an acquire, if data depend on it
 * @return MPI_SUCCESS; MPI_ERR_PROC_FAILED: it does not hold, and a member is lost
 */
static inline int mca_osc_epwin_wait_long(mca_osc_epwin_module_t *module, const char *what,
                                          int from, bool (*until)(void *context), void *context)
{
    int rc;

    /* Relaxed, all: hints for people. */
    atomic_store_explicit(&module->awaited_rank, from, memory_order_relaxed);
    atomic_store_explicit(&module->awaited, what, memory_order_relaxed);
    rc = mca_osc_epwin_component.engine->wait(module->comm, MPIX_ENDPOINTS_ANY_RANK, until,
                                              context);
    atomic_store_explicit(&module->awaited, NULL, memory_order_relaxed);
    return rc;
}

/**
 * Wait until a condition holds: a short spin before mca_osc_epwin_wait_long.
 *
 * Parameters and result are those of mca_osc_epwin_wait_long.
 */
static inline int mca_osc_epwin_wait(mca_osc_epwin_module_t *module, const char *what, int from,
                                     bool (*until)(void *context), void *context)
{
    for (unsigned int spins = mca_osc_epwin_spins(); 0 < spins; --spins) {
        if (until(context)) {
            return MPI_SUCCESS;
        }
        epwin_pause();
    }
    return mca_osc_epwin_wait_long(module, what, from, until, context);
}

END_C_DECLS

#endif /* MCA_OSC_EPWIN_WAIT_H */
