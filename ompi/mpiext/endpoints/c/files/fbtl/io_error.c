/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Errors of reads and writes of one member: from errno to the MPI class.
 *
 * ompio returns OMPI_ERROR without a reason.  A blocking call's errno is known where the component
 * that has met it returns (io.c), and is kept for that call, which is of the same thread.  A
 * request has its errno in ompio's own data.
 *
 * Tests: file_errors
 */

#include "ompi_config.h"

#include "mpiext_endpoints_io_error.h"
#include "mpiext_endpoints_locks.h"
#include "mpiext_endpoints_posix_request.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <unistd.h>

/** The class of the blocking call under way, or MPI_SUCCESS. */
static _Thread_local int io_error;

int mpix_endpoints_io_error_class(int error)
{
    const int class = mca_fs_base_get_mpi_err(error);

    return MPI_ERR_OTHER == class ? MPI_ERR_IO : class;
}

int mpix_endpoints_io_error_record(int error)
{
    return io_error = mpix_endpoints_io_error_class(error);
}

void mpix_endpoints_io_error_set(int class)
{
    io_error = class;
}

void mpix_endpoints_io_error_clear(void)
{
    io_error = MPI_SUCCESS;
}

int mpix_endpoints_io_error_get(int rc)
{
    return OMPI_ERROR == rc && MPI_SUCCESS != io_error ? io_error : rc;
}

int mpix_endpoints_io_error_of_request(ompio_file_t *file, const mca_ompio_request_t *req)
{
    mpix_endpoints_fbtl_posix_t *data = mpix_endpoints_posix_request(req);
    int class = MPI_ERR_IO;

    if (NULL == data) {
        return class; /* of another component */
    }
    for (int i = data->first; i < data->last; ++i) {
        if (0 != data->status[i] && EINPROGRESS != data->status[i]) {
            class = mpix_endpoints_io_error_class(data->status[i]);
        }
    }
    while (0 < data->lock_depth) {
        mpix_endpoints_unlock(&data->lock, file, &data->lock_depth);
    }
    return class;
}

/** @return bytes; -1: see errno */
static ssize_t io_error_write_whole(int fd, const char *data, size_t length, off_t offset)
{
    size_t written = 0;

    while (written < length) {
        const ssize_t rc = pwrite(fd, &data[written], length - written, offset + (off_t) written);

        if (0 > rc && EINTR != errno) {
            return -1;
        }
        written += 0 > rc ? 0 : (size_t) rc;
    }
    return (ssize_t) written;
}

ssize_t mpix_endpoints_io_error_written(const ompio_file_t *file, ssize_t written)
{
    ssize_t length = 0, rc = 0;

    for (int i = 0; i < file->f_num_of_io_entries; ++i) {
        length += (ssize_t) file->f_io_array[i].length;
    }
    for (int i = 0; 0 <= written && written < length && i < file->f_num_of_io_entries; ++i) {
        const mca_common_ompio_io_array_t *entry = &file->f_io_array[i];

        rc = io_error_write_whole(file->fd, entry->memory_address, entry->length,
                                  (off_t) (intptr_t) entry->offset);
        if (0 > rc) {
            return OMPI_ERROR;
        }
    }
    return 0 > written ? written : length;
}

#endif
