/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The hooks where this is a part of Open MPI's own build: libmpi's link has led its calls here
 * (ld's option --wrap, which ../configure.m4 gives it), and there is nothing to look for or to
 * change when it runs.  The code here only checks that the link has done so: a build with other
 * flags, or with a compiler that has inlined all calls (-flto), must not fail in the middle of a
 * collective.
 *
 * Tests: install/tree
 */

#include "ompi_config.h"

#include <stdatomic.h>
#include <stdio.h>

#include "../base/base.h"
#include "mpiext_endpoints_in_force.h"
#include "mpiext_endpoints_originals.h"
#include "mpiext_endpoints_probe.h"

static const char problem[] = "ompi_group_incl does not call our ompi_group_incl_plist";

MPIX_ENDPOINTS_EXPORT bool mpix_endpoints_hooks_in_force(void)
{
    static atomic_int known; /* 1: they are; -1: they are not */
    int state = atomic_load_explicit(&known, memory_order_relaxed);

    if (0 == state) {
        state = mpix_endpoints_probe() ? 1 : -1;
        /* Relaxed: the number is all that is passed on, and every thread finds the same. */
        atomic_store_explicit(&known, state, memory_order_relaxed);
    }
    return 1 == state;
}

MPIX_ENDPOINTS_EXPORT void mpix_endpoints_hooks_describe(char *text, size_t size)
{
    if (mpix_endpoints_hooks_in_force()) {
        snprintf(text, size, "%d of %d functions, by libmpi's own link (--wrap)",
                 MPIX_ENDPOINTS_HOOK_COUNT, MPIX_ENDPOINTS_HOOK_COUNT);
    } else {
        snprintf(text, size, "libmpi's calls are out of reach (%s): no endpoints", problem);
    }
}

void mpix_endpoints_hooks_explain(void)
{
    mpix_endpoints_show_help("hooks not linked", problem);
}
