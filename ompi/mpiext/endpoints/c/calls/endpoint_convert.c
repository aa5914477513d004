/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Endpoint_c2f and MPIX_Endpoint_f2c: an endpoint as Fortran has it is its number in the
 * process, counted from 1 on; 0 is none.
 *
 * Tests: fortran_calls
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"

MPIX_ENDPOINTS_EXPORT MPI_Fint PMPIX_Endpoint_c2f(MPIX_Endpoint endpoint)
{
    if (MPIX_ENDPOINT_NULL == endpoint) {
        return 0;
    }
    return mpix_endpoints_process_has(endpoint) ? endpoint->index + 1 : -1;
}

MPIX_ENDPOINTS_EXPORT MPI_Fint MPIX_Endpoint_c2f(MPIX_Endpoint endpoint)
    __attribute__((weak, alias("PMPIX_Endpoint_c2f")));

MPIX_ENDPOINTS_EXPORT MPIX_Endpoint PMPIX_Endpoint_f2c(MPI_Fint endpoint)
{
    const bool is_there = mpix_endpoints_process_is_static() && 0 < endpoint
                          && mpix_endpoints_process_count() >= endpoint;

    return is_there ? mpix_endpoints_process_endpoint((int) endpoint - 1) : MPIX_ENDPOINT_NULL;
}
MPIX_ENDPOINTS_EXPORT MPIX_Endpoint MPIX_Endpoint_f2c(MPI_Fint endpoint)
    __attribute__((weak, alias("PMPIX_Endpoint_f2c")));
