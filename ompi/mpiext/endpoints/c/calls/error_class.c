/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Endpoints_error_class: the value of MPIX_ERR_ENDPOINTS.
 *
 * Tests: create_errors
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "calls.h"

int mpix_endpoints_call_error_class(void)
{
    return mpix_endpoints_own_error_class();
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Endpoints_error_class(void)
    __attribute__((alias("mpix_endpoints_call_error_class")));

MPIX_ENDPOINTS_EXPORT int MPIX_Endpoints_error_class(void)
    __attribute__((weak, alias("mpix_endpoints_call_error_class")));
