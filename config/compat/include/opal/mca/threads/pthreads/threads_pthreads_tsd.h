/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stands in for the header of the same name that some packages of Open MPI forget to install.
 * opal/mca/threads/tsd.h includes it: keys of thread-specific data.  opal_tsd_key_create, which
 * the core library exports, makes POSIX keys, so the type is fixed by its ABI.
 */

#ifndef EP_COMPAT_THREADS_PTHREADS_TSD_H
#define EP_COMPAT_THREADS_PTHREADS_TSD_H

#include <pthread.h>

#include "opal/constants.h"

typedef pthread_key_t opal_tsd_key_t;

static inline int opal_tsd_key_delete(opal_tsd_key_t key)
{
    return 0 == pthread_key_delete(key) ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}

static inline int opal_tsd_set(opal_tsd_key_t key, void *value)
{
    return 0 == pthread_setspecific(key, value) ? OPAL_SUCCESS : OPAL_ERR_IN_ERRNO;
}

/** Gives NULL if the calling thread has not set a value. */
static inline int opal_tsd_get(opal_tsd_key_t key, void **value_p)
{
    *value_p = pthread_getspecific(key);
    return OPAL_SUCCESS;
}

#endif /* EP_COMPAT_THREADS_PTHREADS_TSD_H */
