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
 * Calls on a file that all its members make, but for reads and writes: they end alike.
 *
 * ompio looks at what a member says before the members meet, or after rank 0 has told the others
 * what it says itself; who is wrong goes home, and the others wait.  Here they meet first.
 *
 * Tests: file_basic, file_death, file_errors, file_nomem, file_random
 */

#include "ompi_config.h"

#include "../fbtl/fbtl.h"
#include "../fcoll/fcoll.h"
#include "../members/members.h"
#include "../sharedfp/sharedfp.h"
#include "mpiext_endpoints_collective_calls.h"
#include "mpiext_endpoints_missed.h"
#include "mpiext_endpoints_ompio_module.h"

#if MPIX_ENDPOINTS_FILES

#    include <errno.h>
#    include <fcntl.h>
#    include <string.h>

static int wrong_size(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE size)
{
    return 0 != (file->f_amode & MPI_MODE_RDONLY) ? MPI_ERR_READ_ONLY
                                                  : (0 > size ? MPI_ERR_ARG : MPI_SUCCESS);
}

static int set_size(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE size)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    const int rc = mpix_endpoints_reduce_same(file->f_comm, size, wrong_size(file, size));

    return OMPI_SUCCESS != rc
               ? rc
               : mpix_endpoints_reduce_error(file->f_comm,
                                             mpix_endpoints_ompio.io_module_file_set_size(handle,
                                                                                          size));
}

/** ompio's way is to read all that there is and to write it again, behind it, while others look how
 * long the file is. */
static int preallocate(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE size)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    int rc = mpix_endpoints_reduce_same(file->f_comm, size, wrong_size(file, size));

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

static int set_atomicity(ompi_file_t *handle, int flag)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    const int rc = mpix_endpoints_reduce_same(file->f_comm, 0 != flag, MPI_SUCCESS);

    return OMPI_SUCCESS != rc
               ? rc
               : mpix_endpoints_reduce_error(
                   file->f_comm, mpix_endpoints_ompio.io_module_file_set_atomicity(handle, flag));
}

/** ompio goes home if any request of the process is under way, which may be another rank's.  Writes
 * of all members that have ended when they come are on the disk when they go. */
static int sync_file(ompi_file_t *handle)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    int rc;

    if (0 != (file->f_amode & MPI_MODE_RDONLY)) {
        return MPI_ERR_ACCESS; /* which all have opened it with */
    }
    rc = mpix_endpoints_reduce_error(file->f_comm, OMPI_SUCCESS);
    return OMPI_SUCCESS == rc
               ? mpix_endpoints_reduce_error(file->f_comm, file->f_fs->fs_file_sync(file))
               : rc;
}

static int seek_shared(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE offset, int whence)
{
    return mpix_endpoints_sharedfp_exists(mpix_endpoints_ompio_file(handle))
               ? mpix_endpoints_ompio.io_module_file_seek_shared(handle, offset, whence)
               : MPI_ERR_UNSUPPORTED_OPERATION;
}

/** As ompio compares them: in these letters alone. */
static bool is_native(const char *datarep)
{
    return 0 == strcmp("native", datarep) || 0 == strcmp("NATIVE", datarep);
}

static bool is_external(const char *datarep)
{
    return 0 == strcmp("external32", datarep) || 0 == strcmp("EXTERNAL32", datarep);
}

/** What ompio would refuse, before the members meet and after, and what it does not look at. */
static int wrong_view(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE disp, ompi_datatype_t *etype,
                      ompi_datatype_t *filetype, const char *datarep)
{
    size_t etype_size, filetype_size;
    ptrdiff_t true_lb, true_extent;

    if (!is_native(datarep) && !(is_external(datarep) && mpix_endpoints_io_can_convert())) {
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

static int set_view(ompi_file_t *handle, OMPI_MPI_OFFSET_TYPE disp, ompi_datatype_t *etype,
                    ompi_datatype_t *filetype, const char *datarep, opal_info_t *info)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);
    size_t etype_size;
    int rc;

    opal_datatype_type_size(&etype->super, &etype_size);
    rc = mpix_endpoints_reduce_same(file->f_comm, (int64_t) (2 * etype_size + is_native(datarep)),
                                    wrong_view(file, disp, etype, filetype, datarep));
    if (OMPI_SUCCESS == rc && MPI_DISPLACEMENT_CURRENT == disp) {
        rc = mpix_endpoints_sharedfp_byte(file,
                                          &disp); /* ompio takes bytes of data for the file's */
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mpix_endpoints_stage_begin(mpix_endpoints_fcoll_module_select);
    rc = mpix_endpoints_ompio.io_module_file_set_view(handle, disp, etype, filetype, datarep, info);
    return mpix_endpoints_meetings_view(file, rc);
}

/** In the place of ompio's barriers at closing.  Some may not come to them: who has heard of a
 * loss, or has no file system's module, which has one of them. */
static int nobody_waits(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    (void) comm;
    (void) module;
    return OMPI_SUCCESS;
}

/** All meet here, once.  Behind that ompio waits for nobody: where a member has died it would go no
 * further than to its barrier, and leave all that it has of the file.  It frees the communicator
 * behind it, so nobody else calls what stands in the barrier's place. */
static int close_file(ompi_file_t *handle)
{
    ompio_file_t *file = NULL == handle->f_io_selected_data ? NULL
                                                            : mpix_endpoints_ompio_file(handle);

    if (NULL != file && NULL != file->f_comm && mpix_endpoints_is_endpoint_comm(file->f_comm)) {
        (void) mpix_endpoints_reduce_error(file->f_comm, OMPI_SUCCESS);
        file->f_comm->c_coll->coll_barrier = nobody_waits;
    }
    return mpix_endpoints_ompio.io_module_file_close(handle);
}

/** ompio says that all has been read, whatever was there. */
static int read_all_of_view(ompi_file_t *handle, void *buffer, mpix_endpoints_io_count_t count,
                            ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    int rc;

    OPAL_THREAD_LOCK(&handle->f_lock);
    rc = mca_common_ompio_file_read_all(mpix_endpoints_ompio_file(handle), buffer, count, datatype,
                                        status);
    OPAL_THREAD_UNLOCK(&handle->f_lock);
    return rc;
}

void mpix_endpoints_members_take(mpix_endpoints_io_module_t *module)
{
    module->io_module_file_close = close_file;
    module->io_module_file_set_size = set_size;
    module->io_module_file_preallocate = preallocate;
    module->io_module_file_set_atomicity = set_atomicity;
    module->io_module_file_set_view = set_view;
    module->io_module_file_sync = sync_file;
    module->io_module_file_seek_shared = seek_shared;
    module->io_module_file_read_all = read_all_of_view;
}

void mpix_endpoints_members_keep(ompi_file_t *handle)
{
    mpix_endpoints_ompio_file(handle)->f_amode &= ~MPI_MODE_DELETE_ON_CLOSE;
}

#endif
