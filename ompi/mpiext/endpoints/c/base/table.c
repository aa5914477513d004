/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The published table: pml/epml's, of which everything else in this library goes by.
 *
 * Tests: create
 */

#include "ompi_config.h"

#include "mpiext_endpoints_table.h"

#include <stdatomic.h>

static _Atomic(const mpix_endpoints_pml_t *) registered_table;

void mpix_endpoints_table_set(const mpix_endpoints_pml_t *table)
{
    /* Release: orders the table's contents before the pointer; partner: mpix_endpoints_table. */
    atomic_store_explicit(&registered_table, table, memory_order_release);
}

const mpix_endpoints_pml_t *mpix_endpoints_table(void)
{
    /* Acquire: orders the pointer before the table's contents; partner:
     * mpix_endpoints_table_set. */
    return atomic_load_explicit(&registered_table, memory_order_acquire);
}
