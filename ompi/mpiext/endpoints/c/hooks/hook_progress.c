/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The progress of nonblocking collectives, which ranks of one process begin and end at the same
 * time.
 *
 * coll/libnbc counts the communicators that have had a nonblocking collective.  Its progress
 * function is registered with the first one, and withdrawn after the last one has been freed; but
 * counting and withdrawing are two steps, and a thread that begins a collective in between finds
 * the function registered still, and loses it a moment later.  Nothing moves that collective on,
 * nor a later one, until all of those communicators are gone.
 *
 * So the function stays: without a collective under way it looks at the length of a list, also
 * after MPI_Finalize has closed the component.  This hook is for processes as well: the function is
 * common to all ranks.
 *
 * Tests: coll_life
 */

#include "ompi_config.h"

#include "hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/runtime/opal_progress.h"

#if EP_IN_TREE

/** Weak: libnbc may be a library of its own here, or not be at all. */
int ompi_coll_libnbc_progress(void) __attribute__((weak));

static bool is_libnbc(opal_progress_callback_t cb)
{
    Dl_info info;

    return ompi_coll_libnbc_progress == cb
           || (0 != dladdr((const void *) cb, &info) && NULL != info.dli_sname
               && 0 == strcmp(info.dli_sname, "ompi_coll_libnbc_progress"));
}

#else

static pthread_once_t once = PTHREAD_ONCE_INIT;
static opal_progress_callback_t libnbc_progress; /**< NULL: libnbc is no part of libmpi here */

static void find_libnbc(void)
{
    libnbc_progress
        = (opal_progress_callback_t) mpix_endpoints_libmpi_symbol("ompi_coll_libnbc_progress");
}

static bool is_libnbc(opal_progress_callback_t cb)
{
    pthread_once(&once, find_libnbc);
    return libnbc_progress == cb;
}

#endif

int MPIX_ENDPOINTS_HOOK_SHARED(opal_progress_unregister)(opal_progress_callback_t cb)
{
    if (NULL != cb && is_libnbc(cb)) {
        return OPAL_SUCCESS;
    }
    return MPIX_ENDPOINTS_ORIGINAL(opal_progress_unregister)(cb);
}
MPIX_ENDPOINTS_HOOK_DEFINED(opal_progress_unregister);
