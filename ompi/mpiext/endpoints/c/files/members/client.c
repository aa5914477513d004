/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Files as a client of the engine: one registration for all that members of a file send each other.
 *
 * Tests: file_blocks, file_shared
 */

#include "ompi_config.h"

#include "mpiext_endpoints_client.h"

#if MPIX_ENDPOINTS_FILES

#    include <stdatomic.h>

static _Atomic int id = -1;

void mpix_endpoints_client_register(const mpix_endpoints_pml_t *table,
                                    const mpix_endpoints_client_t *client)
{
    int given;

    if (MPI_SUCCESS == table->engine->client_register(client, &given)) {
        /* Relaxed: by one thread, before there are endpoints. */
        atomic_store_explicit(&id, given, memory_order_relaxed);
    }
}

int mpix_endpoints_client(void)
{
    return atomic_load_explicit(&id, memory_order_relaxed); /* as above */
}

#endif
