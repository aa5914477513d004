/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libmpi's MPI_Init and MPI_Init_thread, and a tool's, as those functions of ours call them that
 * begin MPI in Open MPI's ABI.
 *
 * Tests: static_world, query_thread, install/tools
 */

#include "ompi_config.h"

#include "mpiext_endpoints_init.h"
#include "mpiext_endpoints_function.h"

int mpix_endpoints_init_thread_libmpi(void *arguments, int level)
{
    int (*const original)(int *, char ***, int, int *) = MPIX_ENDPOINTS_NEXT(Init_thread);
    const mpix_endpoints_init_t *init = arguments;
    int provided;

    if (NULL == original) {
        return MPI_ERR_INTERN;
    }
    return 0 > level ? original(init->argc, init->argv, init->required, init->provided)
                     : original(init->argc, init->argv, level,
                                NULL != init->provided ? init->provided : &provided);
}

int mpix_endpoints_init_libmpi(void *arguments, int level)
{
    int (*const original)(int *, char ***) = MPIX_ENDPOINTS_NEXT(Init);
    const mpix_endpoints_init_t *init = arguments;

    if (0 <= level) {
        return mpix_endpoints_init_thread_libmpi(arguments, level);
    }
    return NULL != original ? original(init->argc, init->argv) : MPI_ERR_INTERN;
}

int mpix_endpoints_init_thread_tool(void *arguments, int level)
{
    const mpix_endpoints_init_t *init = arguments;
    int provided;

    return MPI_Init_thread(init->argc, init->argv, level,
                           NULL != init->provided ? init->provided : &provided);
}
