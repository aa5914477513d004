/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What libmpix_ranks, which stands in front of this library, asks of it.
 *
 * Tests: ranks_mpi, ranks_exit
 */

#include "ompi_config.h"

#include "../static/static.h"
#include "calls.h"
#include "mpiext_endpoints_next.h"

void mpix_endpoints_call_enter_endpoint(struct mpix_endpoint_t *endpoint)
{
    if (mpix_endpoints_process_is_running()) {
        (void) mpix_endpoints_attach(endpoint, -1, true);
    }
}

void mpix_endpoints_call_end_endpoint(struct mpix_endpoint_t *endpoint)
{
    mpix_endpoints_process_end_endpoint(endpoint);
}

void *mpix_endpoints_call_tool(const char *name, _Atomic(void *) *found)
{
    return mpix_endpoints_find_tool_function(name, found);
}
