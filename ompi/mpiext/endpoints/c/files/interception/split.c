/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Split collective calls.
 *
 * In ompio they are independent ones: an error is known to its member only, and data are moved as
 * by one member.  MPI allows the first half to be the blocking call (MPI 4.1, 14.4.5), and so it is
 * here; the second half waits for a request that is complete (split_request.c).
 *
 * Tests: file_nonblocking, file_shared, file_errors
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "interception.h"

#if MPIX_ENDPOINTS_FILES

static int split_read_end(ompi_file_t *handle, void *buffer, ompi_status_public_t *status)
{
    (void) buffer;
    return mpix_endpoints_split_request_end(mpix_endpoints_ompio_file(handle), status);
}

static int split_write_end(ompi_file_t *handle, const void *buffer, ompi_status_public_t *status)
{
    (void) buffer;
    return mpix_endpoints_split_request_end(mpix_endpoints_ompio_file(handle), status);
}

/* All first halves, with and without an offset. */

#    define SPLIT(way, writes, buffer_t)                                                           \
        static int split_##way##_begin(ompi_file_t *handle, buffer_t buffer,                       \
                                       mpix_endpoints_io_count_t count, ompi_datatype_t *datatype) \
        {                                                                                          \
            ompio_file_t *file = mpix_endpoints_ompio_file(handle);                                \
            ompi_status_public_t status = {._ucount = 0};                                          \
                                                                                                   \
            return file->f_split_coll_in_use                                                       \
                       ? MPI_ERR_REQUEST                                                           \
                       : mpix_endpoints_split_request_begin(                                       \
                           file, writes,                                                           \
                           MPIX_ENDPOINTS_IO_MODULE(handle)->io_module_file_##way(handle, buffer,  \
                                                                                  count, datatype, \
                                                                                  &status),        \
                           &status);                                                               \
        }

#    define SPLIT_AT(way, writes, buffer_t)                                              \
        static int split_##way##_begin(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE offset, \
                                       buffer_t buffer, mpix_endpoints_io_count_t count, \
                                       ompi_datatype_t *datatype)                        \
        {                                                                                \
            ompio_file_t *file = mpix_endpoints_ompio_file(handle);                      \
            ompi_status_public_t status = {._ucount = 0};                                \
                                                                                         \
            return file->f_split_coll_in_use                                             \
                       ? MPI_ERR_REQUEST                                                 \
                       : mpix_endpoints_split_request_begin(                             \
                           file, writes,                                                 \
                           MPIX_ENDPOINTS_IO_MODULE(handle)->io_module_file_##way(       \
                               handle, offset, buffer, count, datatype, &status),        \
                           &status);                                                     \
        }

SPLIT(read_all, false, void *)
SPLIT(write_all, true, const void *)
SPLIT_AT(read_at_all, false, void *)
SPLIT_AT(write_at_all, true, const void *)

void mpix_endpoints_split_hook(mpix_endpoints_io_module_t *module)
{
    module->io_module_file_read_all_begin = split_read_all_begin;
    module->io_module_file_write_all_begin = split_write_all_begin;
    module->io_module_file_read_at_all_begin = split_read_at_all_begin;
    module->io_module_file_write_at_all_begin = split_write_at_all_begin;
    module->io_module_file_read_all_end = split_read_end;
    module->io_module_file_write_all_end = split_write_end;
    module->io_module_file_read_at_all_end = split_read_end;
    module->io_module_file_write_at_all_end = split_write_end;
}

#endif
