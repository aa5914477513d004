/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Errors of reads and writes of one member.
 */

#ifndef MPIEXT_ENDPOINTS_IO_ERROR_H
#define MPIEXT_ENDPOINTS_IO_ERROR_H

#include "ompi_config.h"

#include <sys/types.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The MPI class of an error of the system in a read or a write; MPI_ERR_IO if there is none.
 * @param[in] error  an errno */
int mpix_endpoints_io_error_class(int error);

/** Likewise; and keep it for the blocking call of this thread. */
int mpix_endpoints_io_error_record(int error);

/** Keep an MPI class for the blocking call of this thread. */
void mpix_endpoints_io_error_set(int class);

/** A blocking call of this thread begins. */
void mpix_endpoints_io_error_clear(void);

/** It has ended.  @param[in] rc  ompio's  @return the class that has been kept, or rc */
int mpix_endpoints_io_error_get(int rc);

/** The error of a failed request of an endpoint.  Releases its locks, which ompio leaves.
 * @return an MPI class */
int mpix_endpoints_io_error_of_request(ompio_file_t *file, const mca_ompio_request_t *req);

/**
 * Complete a short write: ompio takes it for a whole one (the disk is full, or a limit reached).
 *
 * @param[in] written  bytes of the file's list of pieces, as ompio counts them, or its error
 * @return the same if it is an error; all bytes; or OMPI_ERROR with the reason in errno
 */
ssize_t mpix_endpoints_io_error_written(const ompio_file_t *file, ssize_t written);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_IO_ERROR_H */
