/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What our definitions stand before, in a program that was linked with a static libmpi and without
 * ld's option --wrap (wrap.c): Open MPI's own tools, which have no use for endpoints.  There
 * nobody calls our definitions, and these names must only be there.  Wherever the option was given
 * the names mean Open MPI's functions, and nobody takes this file out of the archive.
 *
 * Tests: install/tree
 */

#include "ompi_config.h"

#include <stdio.h>
#include <stdlib.h>

#include "../base/base.h"

static void unlinked_refuse(const char *name)
{
    fprintf(stderr, "MPI endpoints: %s was called in a program that is linked without --wrap\n",
            name);
    abort();
}

#define UNLINKED(name)                                              \
    void __real_##name(void) __attribute__((visibility("hidden"))); \
    void __real_##name(void)                                        \
    {                                                               \
        unlinked_refuse(#name);                                     \
    }
MPIX_ENDPOINTS_HOOKS_REQUIRED(UNLINKED)
MPIX_ENDPOINTS_HOOKS_OPTIONAL(UNLINKED)
