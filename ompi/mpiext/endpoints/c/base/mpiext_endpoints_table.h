/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table that pml/epml has registered: everything in this library finds it here.
 */

#ifndef MPIEXT_ENDPOINTS_TABLE_H
#define MPIEXT_ENDPOINTS_TABLE_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/mca/common/ep/common_ep_link.h"

BEGIN_C_DECLS

/**
 * What pml/epml has registered.  Any thread.
 *
 * @return the table, or NULL (pml/epml is not selected, MPI is not initialized or is finalized)
 */
const mpix_endpoints_pml_t *mpix_endpoints_table(void);

/** Is this a communicator of endpoints?  NULL and any valid communicator; any thread. */
static inline bool mpix_endpoints_is_endpoint_comm(const ompi_communicator_t *comm)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    return NULL != table && NULL != comm && table->is_endpoint_comm(comm);
}

/** From now on this is the table, or NULL.  By one thread at a time. */
void mpix_endpoints_table_set(const mpix_endpoints_pml_t *table);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_TABLE_H */
