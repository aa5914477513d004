/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tests that define opal_progress in front of Open MPI's: a call of Open MPI's.  The includer
 * defines _GNU_SOURCE, for RTLD_NEXT.
 */

#ifndef EP_TEST_NEXT_PROGRESS_H
#define EP_TEST_NEXT_PROGRESS_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

int opal_progress(void);

/** Open MPI's opal_progress.  Any thread. */
static inline int next_progress(void)
{
    static _Atomic(void *) original;
    void *function = atomic_load(&original);

    if (NULL == function) {
        function = dlsym(RTLD_NEXT, "opal_progress");
        atomic_store(&original, function);
    }
    return ((int (*)(void)) function)();
}

#endif /* EP_TEST_NEXT_PROGRESS_H */
