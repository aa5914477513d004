/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libmpix_world, or libmpix_world_abi, begins: which functions stand behind ours, and when threads have a
 * world of their own.
 *
 * Tests: world_c, world_c (abi), world_tools
 */

#define _GNU_SOURCE 1

#include "world.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void world_resolve(const world_next_t functions[])
{
    for (; NULL != functions->name; ++functions) {
        void *const next = dlsym(RTLD_NEXT, functions->name);

        memcpy(functions->next, &next, sizeof(next));
    }
}

void world_find(void)
{
    world_resolve(world_wrappers);
    world_resolve(world_special);
}

/** MPIX_WORLD: "asp", only in processes that begin by chapter 12 of the draft for MPI 3; 0:
 * never. */
__attribute__((constructor)) static void world_start(void)
{
    const char *const when = getenv("MPIX_WORLD");

    world_find();
    if (NULL == when || 0 != strcmp(when, "0")) {
        WORLD_CALL(world_begin)(NULL != when && 0 == strcmp(when, "asp"), NULL);
    }
}
