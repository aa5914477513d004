/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a function of MPI's that is ours stands before, in the library that asks: this is part of
 * both, libmpix_endpoints and libmpix_endpoints_abi, and finds what comes after the one it is in.
 *
 * Tests: create_pmpi, install/tools, unit/test_hook_next
 */

#define _GNU_SOURCE 1

#include "mpiext_endpoints_next.h"

#include <dlfcn.h>
#include <stdio.h>

void *mpix_endpoints_next_function(const char *name, _Atomic(void *) *found)
{
    /* Relaxed: the pointer is all that is passed on. */
    void *function = atomic_load_explicit(found, memory_order_relaxed);

    if (NULL == function) {
        function = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(found, function, memory_order_relaxed);
    }
    return function;
}

/** @return MPIX_ENDPOINTS_NO_TOOL if there is none */
static void *search_tool_function(const char *name)
{
    void *function, *own;
    char own_name[64];
    Dl_info where, own_where;

    (void) snprintf(own_name, sizeof(own_name), "P%s", name);
    function = dlsym(RTLD_NEXT, name);
    own = dlsym(RTLD_NEXT, own_name);
    if (NULL == function || NULL == own || 0 == dladdr(function, &where)
        || 0 == dladdr(own, &own_where) || where.dli_fbase == own_where.dli_fbase) {
        return MPIX_ENDPOINTS_NO_TOOL; /* libmpi's own, which has both names */
    }
    return function;
}

void *mpix_endpoints_find_tool_function(const char *name, _Atomic(void *) *found)
{
    /* Another thread may have kept either answer since the caller looked. */
    void *function = atomic_load_explicit(found, memory_order_relaxed);

    if (NULL == function) {
        function = search_tool_function(name);
        atomic_store_explicit(found, function, memory_order_relaxed);
    }
    return MPIX_ENDPOINTS_NO_TOOL == function ? NULL : function;
}
