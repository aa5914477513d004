/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is kept of a split collective call between its two halves.
 */

#ifndef MPIEXT_ENDPOINTS_SPLIT_REQUEST_H
#define MPIEXT_ENDPOINTS_SPLIT_REQUEST_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The blocking call in the first half has ended: keep its status for the second half.
 *
 * @param[in] writes  which way
 * @param[in] rc      the blocking call's, of all members alike
 * @param[in] status  its status
 * @return OMPI_SUCCESS or an error */
int mpix_endpoints_split_request_begin(ompio_file_t *file, bool writes, int rc,
                               const ompi_status_public_t *status);

/** The second half, of any kind.  @return OMPI_SUCCESS; MPI_ERR_REQUEST: none has
 * begun; or an error */
int mpix_endpoints_split_request_end(ompio_file_t *file, ompi_status_public_t *status);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_SPLIT_REQUEST_H */
