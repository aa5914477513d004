/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collective open: a file is opened by all members of a communicator, or by none.
 *
 * In ompio rank 0 opens a file and broadcasts whether it could; the others open it then, and one
 * that cannot returns its error, while the others wait for it in the next collective call.  (With
 * processes, too.)  So members reduce before: one with another mode would not even make the same
 * calls.  And they reduce afterwards.  A file that rank 0 has created stays, empty, if not all have
 * it: another job may have opened it by then, and its name may be a link to it.
 *
 * Files are compared by their inodes; the device's number may differ between nodes.
 *
 * Tests: file_errors, file_nomem, file_random
 */

#include "ompi_config.h"

#include "../../interpose/interpose.h"
#include "../fbtl/fbtl.h"
#include "../members/members.h"
#include "interception.h"

#include <sys/stat.h>

#include "ompi/errhandler/errcode-internal.h"

#if MPIX_ENDPOINTS_FILES

int mpix_endpoints_open_check(ompi_communicator_t *comm, int amode)
{
    return mpix_endpoints_reduce_same(
        comm, amode, mpix_endpoints_hooks_of_files() ? MPI_SUCCESS : MPI_ERR_UNSUPPORTED_OPERATION);
}

/** Values of the reduction after opening. */
enum { REDUCED_ERROR, REDUCED_INODE, REDUCED_INODE_NEGATIVE, REDUCED_COUNT };

/** Reduce error and inode.  @return the error of all members, which may not be this one's */
static int open_reduce_inode(ompio_file_t *file, int error)
{
    int64_t reduced[REDUCED_COUNT] = {OMPI_SUCCESS == error ? 0 : ompi_errcode_get_mpi_code(error),
                                      INT64_MIN, INT64_MIN};
    struct stat stat;
    int rc;

    if (OMPI_SUCCESS == error && 0 <= file->fd && 0 == fstat(file->fd, &stat)) {
        reduced[REDUCED_INODE] = (int64_t) stat.st_ino;
        reduced[REDUCED_INODE_NEGATIVE] = -(int64_t) stat.st_ino;
    }
    rc = mpix_endpoints_reduce_max(file->f_comm, reduced, REDUCED_COUNT);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (0 != reduced[REDUCED_ERROR]) {
        return (int) reduced[REDUCED_ERROR];
    }
    return reduced[REDUCED_INODE] == -reduced[REDUCED_INODE_NEGATIVE]
                   || INT64_MIN == reduced[REDUCED_INODE]
               ? OMPI_SUCCESS
               : MPI_ERR_NOT_SAME;
}

static int open_file(ompi_communicator_t *comm, const char *filename, int amode, opal_info_t *info,
                     ompio_file_t *file)
{
    const mca_fs_base_module_t *original = mpix_endpoints_module_original(file->f_fs);
    const int rc = open_reduce_inode(file,
                                     original->fs_file_open(comm, filename, amode, info, file));

    if (OMPI_SUCCESS != rc) {
        /* Closing, which follows, would delete a file that other members may have. */
        file->f_amode &= ~MPI_MODE_DELETE_ON_CLOSE;
    }
    return rc;
}

static int open_close_file(ompio_file_t *file)
{
    const mca_fs_base_module_t *original = mpix_endpoints_module_original(file->f_fs);

    mpix_endpoints_local_group_leave(file);
    return original->fs_file_close(file);
}

static void open_replace(void *copy)
{
    ((mca_fs_base_module_t *) copy)->fs_file_open = open_file;
    ((mca_fs_base_module_t *) copy)->fs_file_close = open_close_file;
}

void mpix_endpoints_open_select_fs(ompio_file_t *file, int rc)
{
    mca_fs_base_module_t *copy = NULL;

    file->fd
        = -1; /* ompio's initial value is a descriptor of the program, which closing would close */
    if (OMPI_SUCCESS == rc) {
        copy = mpix_endpoints_module_copy(file->f_fs, sizeof(*file->f_fs), open_replace);
        file->f_fs = NULL == copy ? file->f_fs : copy;
    }
}

int mpix_endpoints_open_select_fbtl(ompio_file_t *file, int rc)
{
    if (OMPI_SUCCESS == rc && (NULL == file->f_fs || open_file != file->f_fs->fs_file_open)) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    mpix_endpoints_stage_reach(MPIX_ENDPOINTS_STAGE_FBTL);
    rc = mpix_endpoints_local_group_join(file, rc);
    if (OMPI_SUCCESS != rc) {
        file->f_amode &= ~MPI_MODE_DELETE_ON_CLOSE; /* the file has not been opened */
    }
    return rc;
}

#else

int mpix_endpoints_open_check(ompi_communicator_t *comm, int amode)
{
    (void) comm;
    (void) amode;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

#endif
