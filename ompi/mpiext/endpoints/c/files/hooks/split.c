/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Split collective calls.
 *
 * To ompio they are independent ones: what fails at one member only that one hears of, and data
 * take the way of a single member.  MPI lets the call that begins be the blocking one (MPI 4.1,
 * 14.4.5), and so it is here; the call that ends waits for a request that is over
 * (split_request.c).
 *
 * Tests: file_nonblocking, file_shared, file_errors
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "mpiext_endpoints_split.h"

#if MPIX_ENDPOINTS_FILES

static int read_end(ompi_file_t *handle, void *buffer, ompi_status_public_t *status)
{
    (void) buffer;
    return mpix_endpoints_split_request_end(mpix_endpoints_ompio_file(handle), status);
}

static int write_end(ompi_file_t *handle, const void *buffer, ompi_status_public_t *status)
{
    (void) buffer;
    return mpix_endpoints_split_request_end(mpix_endpoints_ompio_file(handle), status);
}

/* All calls that begin, by whether they are given an offset. */

#    define SPLIT(way, writes, buffer_t)                                                           \
        static int way##_begin(ompi_file_t *handle, buffer_t buffer,                               \
                               mpix_endpoints_io_count_t count, ompi_datatype_t *datatype)         \
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

#    define SPLIT_AT(way, writes, buffer_t)                                                       \
        static int way##_begin(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE offset, buffer_t buffer, \
                               mpix_endpoints_io_count_t count, ompi_datatype_t *datatype)        \
        {                                                                                         \
            ompio_file_t *file = mpix_endpoints_ompio_file(handle);                               \
            ompi_status_public_t status = {._ucount = 0};                                         \
                                                                                                  \
            return file->f_split_coll_in_use                                                      \
                       ? MPI_ERR_REQUEST                                                          \
                       : mpix_endpoints_split_request_begin(                                      \
                           file, writes,                                                          \
                           MPIX_ENDPOINTS_IO_MODULE(handle)->io_module_file_##way(                \
                               handle, offset, buffer, count, datatype, &status),                 \
                           &status);                                                              \
        }

SPLIT(read_all, false, void *)
SPLIT(write_all, true, const void *)
SPLIT_AT(read_at_all, false, void *)
SPLIT_AT(write_at_all, true, const void *)

void mpix_endpoints_split_take(mpix_endpoints_io_module_t *module)
{
    module->io_module_file_read_all_begin = read_all_begin;
    module->io_module_file_write_all_begin = write_all_begin;
    module->io_module_file_read_at_all_begin = read_at_all_begin;
    module->io_module_file_write_at_all_begin = write_at_all_begin;
    module->io_module_file_read_all_end = read_end;
    module->io_module_file_write_all_end = write_end;
    module->io_module_file_read_at_all_end = read_end;
    module->io_module_file_write_at_all_end = write_end;
}

#endif
