/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stands in for the header of the same name that some packages of Open MPI forget to install.
 * opal/mca/threads/threads.h includes it: how a thread yields.
 */

#ifndef EP_COMPAT_THREADS_PTHREADS_THREADS_H
#define EP_COMPAT_THREADS_PTHREADS_THREADS_H

#include <pthread.h>
#include <stdbool.h>

#include "opal/mca/threads/pthreads/threads_pthreads.h"

#define OPAL_THREAD_YIELD_WHEN_IDLE_DEFAULT false

static inline void opal_thread_yield(void)
{
    opal_threads_pthreads_yield_fn();
}

#endif /* EP_COMPAT_THREADS_PTHREADS_THREADS_H */
