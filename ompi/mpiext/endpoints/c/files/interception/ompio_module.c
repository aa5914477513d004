/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * ompio's own functions of a handle, for those of ours that stand before them.  libmpi gives each
 * handle a copy of ompio's table: the first one is kept before anything is replaced in it.
 *
 * Tests: file_first, file_nomem
 */

#include "ompi_config.h"

#include "interception.h"

#if MPIX_ENDPOINTS_FILES

#    include <pthread.h>

mpix_endpoints_io_module_t mpix_endpoints_ompio;

void mpix_endpoints_ompio_keep(const mpix_endpoints_io_module_t *module)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    /* A caller of one of our functions has taken this lock before.  It reads without the lock. */
    pthread_mutex_lock(&lock);
    if (NULL == mpix_endpoints_ompio.io_module_file_close) {
        mpix_endpoints_ompio = *module;
    }
    pthread_mutex_unlock(&lock);
}

#endif
