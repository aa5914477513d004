/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Open MPI's own component for files, ompio: its headers, and what they do not declare.
 */

#ifndef MPIEXT_ENDPOINTS_OMPIO_H
#define MPIEXT_ENDPOINTS_OMPIO_H

#include "ompi_config.h"

#include "mpiext_endpoints_compat.h"

#if MPIX_ENDPOINTS_FILES

#    include <fcntl.h>
#    include <sys/types.h>

#    include "ompi/file/file.h"
#    include "ompi/mca/common/ompio/common_ompio.h"
#    include "ompi/mca/common/ompio/common_ompio_request.h"
#    include "ompi/mca/fbtl/base/base.h"
#    include "ompi/mca/fcoll/base/base.h"
#    include "ompi/mca/fs/base/base.h"
#    include "ompi/mca/io/base/base.h"
#    include "ompi/mca/sharedfp/base/base.h"

BEGIN_C_DECLS

/* 6.0 has large counts, its table of functions another number, and the view in a struct of its own,
 * with the names that its parts have in 5.0. */
#    if OMPI_MAJOR_VERSION >= 6
typedef size_t mpix_endpoints_io_count_t;
typedef mca_io_base_module_3_0_0_t mpix_endpoints_io_module_t;
typedef ompio_fview_t mpix_endpoints_view_t;
#        define MPIX_ENDPOINTS_IO_MODULE(handle) (&(handle)->f_io_selected_module.v3_0_0)
#        define MPIX_ENDPOINTS_VIEW(file) (&(file)->f_fview)
#    else
typedef int mpix_endpoints_io_count_t;
typedef mca_io_base_module_2_0_0_t mpix_endpoints_io_module_t;
typedef ompio_file_t mpix_endpoints_view_t;
#        define MPIX_ENDPOINTS_IO_MODULE(handle) (&(handle)->f_io_selected_module.v2_0_0)
#        define MPIX_ENDPOINTS_VIEW(file) (file)
#    endif

/* Of fbtl/posix, whose header is not installed.  As in all of 5.0, and in 6.0. */
int mca_fbtl_posix_lock(struct flock *lock, ompio_file_t *fh, int op, OMPI_MPI_OFFSET_TYPE offset,
                        off_t len, int flags, int *lock_counter);
void mca_fbtl_posix_unlock(struct flock *lock, ompio_file_t *fh, int *lock_counter);

/** What a request of fbtl/posix has in req_data; likewise. */
typedef struct mpix_endpoints_fbtl_posix_t {
    int count, open, type, chunks;
    int first, last; /**< of the pieces that are under way: from here up to before there */
#    if OMPI_MAJOR_VERSION >= 6
    ssize_t length;
    struct flock lock;
    int lock_depth;
    ompio_file_t *file;
    struct aiocb *pieces;
    int *status; /**< of each piece: EINPROGRESS, 0, or an errno */
#    else
    struct aiocb *pieces;
    int *status; /**< of each piece: EINPROGRESS, 0, or an errno */
    ssize_t length;
    struct flock lock;
    int lock_depth;
    ompio_file_t *file;
#    endif
} mpix_endpoints_fbtl_posix_t;

/** What ompio has of a file that it has been chosen for. */
static inline ompio_file_t *mpix_endpoints_ompio_file(const ompi_file_t *handle)
{
    return &((mca_common_ompio_data_t *) handle->f_io_selected_data)->ompio_fh;
}

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_OMPIO_H */
