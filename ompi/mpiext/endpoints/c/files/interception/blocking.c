/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Blocking reads and writes of one member: ompio returns OMPI_ERROR if they fail, these return the
 * MPI class of the system's error (io_error.c).
 *
 * Tests: file_errors
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "interception.h"

#if MPIX_ENDPOINTS_FILES

static int blocking_read(ompi_file_t *file, void *buffer, mpix_endpoints_io_count_t count,
                         ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    mpix_endpoints_io_error_clear();
    return mpix_endpoints_io_error_get(mpix_endpoints_ompio.io_module_file_read(file, buffer, count,
                                                                                datatype, status));
}

static int blocking_read_at(ompi_file_t *file, OMPI_MPI_OFFSET_TYPE offset, void *buffer,
                            mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                            ompi_status_public_t *status)
{
    mpix_endpoints_io_error_clear();
    return mpix_endpoints_io_error_get(
        mpix_endpoints_ompio.io_module_file_read_at(file, offset, buffer, count, datatype, status));
}

static int blocking_read_shared(ompi_file_t *file, void *buffer, mpix_endpoints_io_count_t count,
                                ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    mpix_endpoints_io_error_clear();
    return mpix_endpoints_io_error_get(
        mpix_endpoints_ompio.io_module_file_read_shared(file, buffer, count, datatype, status));
}

static int blocking_write(ompi_file_t *file, const void *buffer, mpix_endpoints_io_count_t count,
                          ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    mpix_endpoints_io_error_clear();
    return mpix_endpoints_io_error_get(mpix_endpoints_ompio.io_module_file_write(file, buffer,
                                                                                 count, datatype,
                                                                                 status));
}

static int blocking_write_at(ompi_file_t *file, OMPI_MPI_OFFSET_TYPE offset, const void *buffer,
                             mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                             ompi_status_public_t *status)
{
    mpix_endpoints_io_error_clear();
    return mpix_endpoints_io_error_get(mpix_endpoints_ompio.io_module_file_write_at(
        file, offset, buffer, count, datatype, status));
}

static int blocking_write_shared(ompi_file_t *file, const void *buffer,
                                 mpix_endpoints_io_count_t count, ompi_datatype_t *datatype,
                                 ompi_status_public_t *status)
{
    mpix_endpoints_io_error_clear();
    return mpix_endpoints_io_error_get(
        mpix_endpoints_ompio.io_module_file_write_shared(file, buffer, count, datatype, status));
}

void mpix_endpoints_blocking_hook(mpix_endpoints_io_module_t *module)
{
    module->io_module_file_read = blocking_read;
    module->io_module_file_read_at = blocking_read_at;
    module->io_module_file_read_shared = blocking_read_shared;
    module->io_module_file_write = blocking_write;
    module->io_module_file_write_at = blocking_write_at;
    module->io_module_file_write_shared = blocking_write_shared;
}

#endif
