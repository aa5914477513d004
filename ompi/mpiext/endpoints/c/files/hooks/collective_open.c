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
 * A file is opened by all members of a communicator, or by none.
 *
 * ompio's first rank opens a file and tells whether it could; the others open it then, and if one
 * of them cannot it goes home with its error, while the others wait for it in the next step.  (With
 * processes, too.)  So they meet before: who has another mode than the others would not even go the
 * same way.  And they meet afterwards.  A file that the first rank has created stays, empty, if not all
 * have it: another job may have opened it by then, and its name may lead there by a link.
 *
 * Whether names mean one file the inode tells; the device's number may differ between nodes.
 *
 * Tests: file_errors, file_nomem, file_random
 */

#include "ompi_config.h"

#include "../../interpose/interpose.h"
#include "../fbtl/fbtl.h"
#include "../members/members.h"
#include "mpiext_endpoints_collective_open.h"

#include <sys/stat.h>

#include "ompi/errhandler/errcode-internal.h"

#if MPIX_ENDPOINTS_FILES

int mpix_endpoints_files_meet(ompi_communicator_t *comm, int amode)
{
    return mpix_endpoints_reduce_same(
        comm, amode, mpix_endpoints_seams_of_files() ? MPI_SUCCESS : MPI_ERR_UNSUPPORTED_OPERATION);
}

/** What one member says of its part: nothing but these three. */
enum { SAYS_ERROR, SAYS_INODE, SAYS_INODE_NEGATIVE, SAYS_COUNT };

/** The error of all: each one's own may be another. */
static int agree(ompio_file_t *file, int error)
{
    int64_t says[SAYS_COUNT] = {OMPI_SUCCESS == error ? 0 : ompi_errcode_get_mpi_code(error),
                                INT64_MIN, INT64_MIN};
    struct stat stat;
    int rc;

    if (OMPI_SUCCESS == error && 0 <= file->fd && 0 == fstat(file->fd, &stat)) {
        says[SAYS_INODE] = (int64_t) stat.st_ino;
        says[SAYS_INODE_NEGATIVE] = -(int64_t) stat.st_ino;
    }
    rc = mpix_endpoints_reduce_max(file->f_comm, says, SAYS_COUNT);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (0 != says[SAYS_ERROR]) {
        return (int) says[SAYS_ERROR];
    }
    return says[SAYS_INODE] == -says[SAYS_INODE_NEGATIVE] || INT64_MIN == says[SAYS_INODE]
               ? OMPI_SUCCESS
               : MPI_ERR_NOT_SAME;
}

static int file_open(ompi_communicator_t *comm, const char *filename, int amode, opal_info_t *info,
                     ompio_file_t *file)
{
    const mca_fs_base_module_t *original = mpix_endpoints_module_original(file->f_fs);
    const int rc = agree(file, original->fs_file_open(comm, filename, amode, info, file));

    if (OMPI_SUCCESS != rc) {
        /* Closing, which is what comes now, would otherwise delete what others may have. */
        file->f_amode &= ~MPI_MODE_DELETE_ON_CLOSE;
    }
    return rc;
}

static int file_close(ompio_file_t *file)
{
    const mca_fs_base_module_t *original = mpix_endpoints_module_original(file->f_fs);

    mpix_endpoints_local_group_leave(file);
    return original->fs_file_close(file);
}

static void change(void *copy)
{
    ((mca_fs_base_module_t *) copy)->fs_file_open = file_open;
    ((mca_fs_base_module_t *) copy)->fs_file_close = file_close;
}

void mpix_endpoints_files_agree(ompio_file_t *file, int rc)
{
    mca_fs_base_module_t *copy = NULL;

    file->fd = -1; /* ompio's first value is a file of the program's, which closing would close */
    if (OMPI_SUCCESS == rc) {
        copy = mpix_endpoints_module_copy(file->f_fs, sizeof(*file->f_fs), change);
        file->f_fs = NULL == copy ? file->f_fs : copy;
    }
}

int mpix_endpoints_files_chosen(ompio_file_t *file, int rc)
{
    if (OMPI_SUCCESS == rc && (NULL == file->f_fs || file_open != file->f_fs->fs_file_open)) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    }
    mpix_endpoints_stage_reach(MPIX_ENDPOINTS_STAGE_FBTL);
    rc = mpix_endpoints_local_group_join(file, rc);
    if (OMPI_SUCCESS != rc) {
        file->f_amode &= ~MPI_MODE_DELETE_ON_CLOSE; /* of what has not been opened */
    }
    return rc;
}

#else

int mpix_endpoints_files_meet(ompi_communicator_t *comm, int amode)
{
    (void) comm;
    (void) amode;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

#endif
