/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collective calls on a file, except reads and writes: all members return the same error.
 *
 * ompio checks arguments at each member before its first collective call, or after rank 0 has
 * broadcast its own: a member that is wrong returns, and the others wait.  Here members reduce the
 * errors of arguments first.
 *
 * Tests: file_basic, file_death, file_errors, file_nomem, file_random
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "../fcoll/fcoll.h"
#include "../members/members.h"
#include "../sharedfp/sharedfp.h"
#include "interception.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <fcntl.h>
#    include <string.h>

static int call_size_error(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE size)
{
    return 0 != (file->f_amode & MPI_MODE_RDONLY) ? MPI_ERR_READ_ONLY
                                                  : (0 > size ? MPI_ERR_ARG : MPI_SUCCESS);
}

static int call_set_size(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE size)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    const int rc = mpix_endpoints_reduce_same(file->f_comm, size, call_size_error(file, size));

    return OMPI_SUCCESS != rc
               ? rc
               : mpix_endpoints_reduce_error(file->f_comm,
                                             mpix_endpoints_ompio.io_module_file_set_size(handle,
                                                                                          size));
}

/** ompio reads the whole file and writes it again, behind its end, while other members look at its
 * size. */
static int call_preallocate(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE size)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    int rc = mpix_endpoints_reduce_same(file->f_comm, size, call_size_error(file, size));

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (OMPIO_ROOT == file->f_rank && 0 < size) {
        int error;

        do {
            error = posix_fallocate(file->fd, 0, (off_t) size);
        } while (EINTR == error);
        rc = 0 == error ? OMPI_SUCCESS : mca_fs_base_get_mpi_err(error);
    }
    return mpix_endpoints_reduce_error(file->f_comm, rc);
}

static int call_set_atomicity(ompi_file_t *handle, int flag)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    const int rc = mpix_endpoints_reduce_same(file->f_comm, 0 != flag, MPI_SUCCESS);

    return OMPI_SUCCESS != rc
               ? rc
               : mpix_endpoints_reduce_error(
                   file->f_comm, mpix_endpoints_ompio.io_module_file_set_atomicity(handle, flag));
}

/** ompio returns an error if any request of the process is under way, which may be another rank's.
 * Writes that have ended at any member before the call are on the disk after it. */
static int call_sync(ompi_file_t *handle)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    int rc;

    if (0 != (file->f_amode & MPI_MODE_RDONLY)) {
        return MPI_ERR_ACCESS; /* the mode is the same at all members */
    }
    rc = mpix_endpoints_reduce_error(file->f_comm, OMPI_SUCCESS);
    return OMPI_SUCCESS == rc
               ? mpix_endpoints_reduce_error(file->f_comm, file->f_fs->fs_file_sync(file))
               : rc;
}

static int call_seek_shared(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE offset, int whence)
{
    return mpix_endpoints_sharedfp_exists(mpix_endpoints_ompio_file(handle))
               ? mpix_endpoints_ompio.io_module_file_seek_shared(handle, offset, whence)
               : MPI_ERR_UNSUPPORTED_OPERATION;
}

/** As ompio compares them. */
static bool datarep_is_native(const char *datarep)
{
    return 0 == strcmp("native", datarep) || 0 == strcmp("NATIVE", datarep);
}

static bool datarep_is_external(const char *datarep)
{
    return 0 == strcmp("external32", datarep) || 0 == strcmp("EXTERNAL32", datarep);
}

/** Errors that ompio would find, before its collective calls or after, and those that it does not
 * check. */
static int call_view_error(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE disp,
                           ompi_datatype_t *etype, ompi_datatype_t *filetype, const char *datarep)
{
    size_t etype_size, filetype_size;
    ptrdiff_t true_lb, true_extent;

    if (!datarep_is_native(datarep)
        && !(datarep_is_external(datarep) && mpix_endpoints_io_can_convert())) {
        return MPI_ERR_UNSUPPORTED_DATAREP;
    }
    if (MPI_DISPLACEMENT_CURRENT == disp ? 0 == (file->f_amode & MPI_MODE_SEQUENTIAL) : 0 > disp) {
        return MPI_ERR_DISP;
    }
    opal_datatype_type_size(&etype->super, &etype_size);
    opal_datatype_type_size(&filetype->super, &filetype_size);
    opal_datatype_get_true_extent(&filetype->super, &true_lb, &true_extent);
    if (0 == etype_size || 0 != filetype_size % etype_size) {
        return MPI_ERR_ARG;
    }
    return 0 < filetype_size && 0 > true_lb ? MPI_ERR_IO : MPI_SUCCESS;
}

static int call_set_view(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE disp, ompi_datatype_t *etype,
                         ompi_datatype_t *filetype, const char *datarep, opal_info_t *info)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    size_t etype_size;
    int rc;

    opal_datatype_type_size(&etype->super, &etype_size);
    rc = mpix_endpoints_reduce_same(file->f_comm,
                                    (int64_t) (2 * etype_size + datarep_is_native(datarep)),
                                    call_view_error(file, disp, etype, filetype, datarep));
    if (OMPI_SUCCESS == rc && MPI_DISPLACEMENT_CURRENT == disp) {
        rc = mpix_endpoints_sharedfp_byte(
            file, &disp); /* ompio takes bytes of data for bytes of the file */
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mpix_endpoints_stage_begin(mpix_endpoints_fcoll_module_select);
    rc = mpix_endpoints_ompio.io_module_file_set_view(handle, disp, etype, filetype, datarep, info);
    return mpix_endpoints_missed_in_view(file, rc);
}

/** Replaces ompio's barriers at closing.  Some members may not call them: one that knows of a loss,
 * or has no module of fs, which calls one. */
static int barrier_none(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    (void) comm;
    (void) module;
    return OMPI_SUCCESS;
}

/** One reduction of all members, without ompio's barriers: after a loss ompio would return at its
 * barrier, and leak what it has of the file.  It frees the communicator, so nothing else calls the
 * barrier that is replaced. */
static int call_close(ompi_file_t *handle)
{
    ompio_file_t *file = NULL == handle->f_io_selected_data ? NULL
                                                            : mpix_endpoints_ompio_file(handle);

    if (NULL != file && NULL != file->f_comm && mpix_endpoints_is_endpoint_comm(file->f_comm)) {
        (void) mpix_endpoints_reduce_error(file->f_comm, OMPI_SUCCESS);
        file->f_comm->c_coll->coll_barrier = barrier_none;
    }
    return mpix_endpoints_ompio.io_module_file_close(handle);
}

/** ompio returns a status as if all had been read. */
static int call_read_all(ompi_file_t *handle, void *buffer, mpix_endpoints_io_count_t count,
                         ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    int rc;

    OPAL_THREAD_LOCK(&handle->f_lock);
    rc = mca_common_ompio_file_read_all(mpix_endpoints_ompio_file(handle), buffer, count, datatype,
                                        status);
    OPAL_THREAD_UNLOCK(&handle->f_lock);
    return rc;
}

void mpix_endpoints_collective_calls_hook(mpix_endpoints_io_module_t *module)
{
    module->io_module_file_close = call_close;
    module->io_module_file_set_size = call_set_size;
    module->io_module_file_preallocate = call_preallocate;
    module->io_module_file_set_atomicity = call_set_atomicity;
    module->io_module_file_set_view = call_set_view;
    module->io_module_file_sync = call_sync;
    module->io_module_file_seek_shared = call_seek_shared;
    module->io_module_file_read_all = call_read_all;
}

void mpix_endpoints_collective_calls_keep_file(ompi_file_t *handle)
{
    mpix_endpoints_ompio_file(handle)->f_amode &= ~MPI_MODE_DELETE_ON_CLOSE;
}

#endif
