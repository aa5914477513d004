/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is kept of a split collective call between its two halves: a request of ompio's that is
 * over, and has the status of the blocking call which the first half has made.
 *
 * Tests: file_nonblocking, file_shared, file_errors
 */

#include "ompi_config.h"

#include "mpiext_endpoints_split_request.h"

#if MPIX_ENDPOINTS_FILES

int mpix_endpoints_split_request_begin(ompio_file_t *file, bool writes, int rc,
                               const ompi_status_public_t *status)
{
    ompi_request_t *request;

    if (OMPI_SUCCESS == rc) {
        /* Of nothing: it is over at once. */
        rc = writes ? mca_common_ompio_file_iwrite(file, NULL, 0, &ompi_mpi_byte.dt, &request)
                    : mca_common_ompio_file_iread(file, NULL, 0, &ompi_mpi_byte.dt, &request);
    }
    if (OMPI_SUCCESS == rc) {
        request->req_status._ucount = status->_ucount;
        file->f_split_coll_req = request;
        file->f_split_coll_in_use = true;
    }
    return rc;
}

int mpix_endpoints_split_request_end(ompio_file_t *file, ompi_status_public_t *status)
{
    int rc;

    if (!file->f_split_coll_in_use) {
        return MPI_ERR_REQUEST;
    }
    rc = ompi_request_wait(&file->f_split_coll_req, status);
    file->f_split_coll_in_use = false;
    return rc;
}

#endif
