/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Query_endpoints_told: with how many endpoints was this process started, and with which
 * thread level?  base/told.c has them.
 *
 * Tests: static_told
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "calls.h"

#include <limits.h>

int mpix_endpoints_call_told(int *number, int *thread_level)
{
    int level;

    if (NULL == number || NULL == thread_level) {
        return MPI_ERR_ARG;
    }
    *number = mpix_endpoints_told(MPIX_ENDPOINTS_NUMBER_VARIABLE, 1, INT_MAX);
    level = mpix_endpoints_told(MPIX_ENDPOINTS_LEVEL_VARIABLE, MPI_THREAD_SINGLE,
                                MPIX_THREAD_REATTACH);
    /* Threads that attach themselves, to what MPIX_Init_endpoint has made. */
    *thread_level = MPI_THREAD_MULTIPLE < level ? MPI_THREAD_MULTIPLE : level;
    return MPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Query_endpoints_told(int *number, int *thread_level)
    __attribute__((alias("mpix_endpoints_call_told")));

MPIX_ENDPOINTS_EXPORT int MPIX_Query_endpoints_told(int *number, int *thread_level)
    __attribute__((weak, alias("mpix_endpoints_call_told")));
