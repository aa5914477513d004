/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The functions of a handle that ompio has opened.  libmpi gives each handle a copy of ompio's
 * table.  It is kept as it was before anything is replaced in one; then each of our files puts in
 * its own.
 *
 * Tests: file_first, file_nomem
 */

#include "ompi_config.h"

#include "mpiext_endpoints_handle.h"
#include "mpiext_endpoints_members.h"
#include "mpiext_endpoints_nothing.h"
#include "mpiext_endpoints_reasons.h"
#include "mpiext_endpoints_split.h"

#if MPIX_ENDPOINTS_FILES

#    include <pthread.h>

mpix_endpoints_io_module_t mpix_endpoints_ompio;

static void keep(const mpix_endpoints_io_module_t *module)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    /* Who calls one of ours has been here, and so behind the lock: it reads without. */
    pthread_mutex_lock(&lock);
    if (NULL == mpix_endpoints_ompio.io_module_file_close) {
        mpix_endpoints_ompio = *module;
    }
    pthread_mutex_unlock(&lock);
}

void mpix_endpoints_handle(ompi_file_t *file)
{
    mpix_endpoints_io_module_t *module = MPIX_ENDPOINTS_IO_MODULE(file);

    keep(module);
    mpix_endpoints_members_take(module);
    mpix_endpoints_nothing_take(module);
    mpix_endpoints_reasons_take(module);
    mpix_endpoints_split_take(module);
}

#endif
