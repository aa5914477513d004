/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is due after each progress call in which a thread that waits has found nothing.
 *
 * Standalone: no Open MPI.
 *
 * Tests: unit/test_epml_idle
 */

#ifndef MCA_PML_EPML_IDLE_H
#define MCA_PML_EPML_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/** Turns without event between looks at the rest of Open MPI; also what counts as a while. */
#define EPML_IDLE_LONG 256
/** Progress calls between yields: if oversubscribed, and otherwise (some milliseconds, then every
 * 256 calls). */
#define EPML_IDLE_YIELD_OVERSUBSCRIBED 16
#define EPML_IDLE_YIELD 100000

/** What is due; bits. */
enum {
    EPML_IDLE_RELAX = 1,          /**< a pause */
    EPML_IDLE_COUNT = 2,          /**< it has been waiting for a while: once in a wait */
    EPML_IDLE_HELP = 4,           /**< the rest of the process */
    EPML_IDLE_YIELD_IF_OVERSUBSCRIBED = 8, /**< the core to others, if there are too many */
    EPML_IDLE_YIELD_ANYWAY = 16   /**< likewise, even if there seem not to be */
};

/** The count wraps around after a minute or two.  Then it goes on as that of a wait that has lasted
 * for long, which all multiples of EPML_IDLE_LONG above EPML_IDLE_YIELD are. */
#define EPML_IDLE_WRAPPED ((uint32_t) (EPML_IDLE_YIELD / EPML_IDLE_LONG + 1) * EPML_IDLE_LONG)

/** One more.  @return what is due */
static inline unsigned int epml_idle_step(uint32_t *calls)
{
    const uint32_t idle = UINT32_MAX == *calls ? EPML_IDLE_WRAPPED : *calls + 1;

    *calls = idle;
    return (0 != idle % 2 ? EPML_IDLE_RELAX : 0) | (EPML_IDLE_LONG == idle ? EPML_IDLE_COUNT : 0)
           | (0 == idle % EPML_IDLE_LONG ? EPML_IDLE_HELP : 0)
           | (0 == idle % EPML_IDLE_YIELD_OVERSUBSCRIBED ? EPML_IDLE_YIELD_IF_OVERSUBSCRIBED : 0)
           | (0 == idle % EPML_IDLE_LONG && EPML_IDLE_YIELD < idle ? EPML_IDLE_YIELD_ANYWAY : 0);
}

#endif /* MCA_PML_EPML_IDLE_H */
