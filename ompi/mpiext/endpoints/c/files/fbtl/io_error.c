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
 * Why a read or a write of one member has failed: the class that the standard has for what the
 * system says.
 *
 * ompio says no more than that it has failed.  Of a blocking call the system's reason is known
 * where the part of ompio's that has met it comes back (io.c), and is kept for the call, which is
 * of the same thread.  A request has it among ompio's own data.
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

static _Thread_local int
    reason; /**< of the blocking call under way; an MPI class, or MPI_SUCCESS */

int mpix_endpoints_reasons_class(int error)
{
    const int class = mca_fs_base_get_mpi_err(error);

    return MPI_ERR_OTHER == class ? MPI_ERR_IO : class;
}

int mpix_endpoints_reasons_failed(int error)
{
    return reason = mpix_endpoints_reasons_class(error);
}

void mpix_endpoints_reasons_keep(int class)
{
    reason = class;
}

void mpix_endpoints_reasons_forget(void)
{
    reason = MPI_SUCCESS;
}

int mpix_endpoints_reasons_known(int rc)
{
    return OMPI_ERROR == rc && MPI_SUCCESS != reason ? reason : rc;
}

int mpix_endpoints_reasons_request(ompio_file_t *file, const mca_ompio_request_t *req)
{
    mpix_endpoints_fbtl_posix_t *data = mpix_endpoints_posix(req);
    int class = MPI_ERR_IO;

    if (NULL == data) {
        return class; /* of another component */
    }
    for (int i = data->first; i < data->last; ++i) {
        if (0 != data->status[i] && EINPROGRESS != data->status[i]) {
            class = mpix_endpoints_reasons_class(data->status[i]);
        }
    }
    while (0 < data->lock_depth) {
        mpix_endpoints_files_unlock(&data->lock, file, &data->lock_depth);
    }
    return class;
}

/** @return bytes; -1: see errno */
static ssize_t write_whole(int fd, const char *data, size_t length, off_t offset)
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

ssize_t mpix_endpoints_reasons_written(const ompio_file_t *file, ssize_t written)
{
    ssize_t length = 0, rc = 0;

    for (int i = 0; i < file->f_num_of_io_entries; ++i) {
        length += (ssize_t) file->f_io_array[i].length;
    }
    for (int i = 0; 0 <= written && written < length && i < file->f_num_of_io_entries; ++i) {
        const mca_common_ompio_io_array_t *entry = &file->f_io_array[i];

        rc = write_whole(file->fd, entry->memory_address, entry->length,
                         (off_t) (intptr_t) entry->offset);
        if (0 > rc) {
            return OMPI_ERROR;
        }
    }
    return 0 > written ? written : length;
}

#endif
