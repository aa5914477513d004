/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The functions that our definitions stand before: what the dynamic linker finds next, or what
 * libmpi has itself.
 *
 * Tests: install/build, self/direct, comm_ops (direct)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_libraries.h"
#include "mpiext_endpoints_originals.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "ompi/communicator/communicator.h"
#include "ompi/dpm/dpm.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/file/file.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/osc/base/base.h"
#include "ompi/mca/topo/base/base.h"
#include "ompi/win/win.h"
#include "opal/class/opal_pointer_array.h"
#include "opal/mca/base/mca_base_framework.h"
#include "opal/mca/pmix/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/show_help.h"

/* What is behind our definitions' second names. */
#define HOOK_DECLARE(name) \
    extern __typeof__(name) MPIX_ENDPOINTS_OWN(name) __attribute__((visibility("hidden")));
MPIX_ENDPOINTS_HOOKS_REQUIRED(HOOK_DECLARE)
MPIX_ENDPOINTS_HOOKS_OPTIONAL(HOOK_DECLARE)

_Atomic(void *) mpix_endpoints_originals[MPIX_ENDPOINTS_HOOK_COUNT];

/* clang-format off */
const mpix_endpoints_definition_t mpix_endpoints_hooks[] = {
#define HOOK_REQUIRED(name) {#name, (void *) MPIX_ENDPOINTS_OWN(name), true},
#define HOOK_OPTIONAL(name) {#name, (void *) MPIX_ENDPOINTS_OWN(name), false},
    MPIX_ENDPOINTS_HOOKS_REQUIRED(HOOK_REQUIRED)
    MPIX_ENDPOINTS_HOOKS_OPTIONAL(HOOK_OPTIONAL)
};
/* clang-format on */

void *mpix_endpoints_libmpi_definition(const mpix_endpoints_libraries_t *libraries,
                                       mpix_endpoints_hook_t hook)
{
    return mpix_endpoints_libraries_symbol(libraries, mpix_endpoints_hooks[hook].name,
                                           mpix_endpoints_hooks[hook].ours);
}

void *mpix_endpoints_libmpi_symbol(const char *name)
{
    mpix_endpoints_libraries_t libraries;

    mpix_endpoints_libraries_find(&libraries);
    return mpix_endpoints_libraries_symbol(&libraries, name, NULL);
}

void *mpix_endpoints_hook_lookup(mpix_endpoints_hook_t hook)
{
    void *none = NULL, *found = dlsym(RTLD_NEXT, mpix_endpoints_hooks[hook].name);

    if (NULL == found || mpix_endpoints_hooks[hook].ours == found) {
        /* libmpi stands before us, or out of our sight. */
        mpix_endpoints_libraries_t libraries;

        mpix_endpoints_libraries_find(&libraries);
        found = mpix_endpoints_libmpi_definition(&libraries, hook);
    }
    if (NULL == found) {
        fprintf(stderr, "libmpix_endpoints: no Open MPI library in this program has %s\n",
                mpix_endpoints_hooks[hook].name);
        abort();
    }
    /* Another thread, or the rewriting of the slots, may have been first: then theirs stands.
     * Relaxed: see mpix_endpoints_hook_original. */
    if (!atomic_compare_exchange_strong_explicit(&mpix_endpoints_originals[hook], &none, found,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        found = none;
    }
    return found;
}
