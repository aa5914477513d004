/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Duplicates without a message: duplicate.c.
 */

#ifndef MPIEXT_ENDPOINTS_DUPLICATE_H
#define MPIEXT_ENDPOINTS_DUPLICATE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/**
 * Duplicate MPI_COMM_WORLD or MPI_COMM_SELF, with its attributes and its error handler.  By the
 * thread that begins MPI, right after libmpi has; in all processes of the job, or in none, and in
 * the same order.  Local.
 *
 * @return OMPI_SUCCESS, or an OMPI error code
 */
int mpix_endpoints_duplicate(ompi_communicator_t *comm, ompi_communicator_t **copy_p);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_DUPLICATE_H */
