/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Requests of fbtl/posix: what it leaves undone.
 */

#ifndef MPIEXT_ENDPOINTS_POSIX_REQUEST_H
#define MPIEXT_ENDPOINTS_POSIX_REQUEST_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The data of fbtl/posix in a request; NULL: the request is of another component, or has not been
 * begun. */
mpix_endpoints_fbtl_posix_t *mpix_endpoints_posix_request(const mca_ompio_request_t *req);

/** Before ompio progresses a request: end those of its reads that have found the end of the file.
 * By the thread that has the request. */
void mpix_endpoints_posix_request_check(mca_ompio_request_t *req);

/** A request has failed: cancel its pieces, and wait for those that cannot be. */
void mpix_endpoints_posix_request_stop(const mca_ompio_request_t *req);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_POSIX_REQUEST_H */
