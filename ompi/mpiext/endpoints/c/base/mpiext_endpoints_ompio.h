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
 * Open MPI's own component for files, ompio: its headers, and what they do not declare.
 */

#ifndef MPIEXT_ENDPOINTS_OMPIO_H
#define MPIEXT_ENDPOINTS_OMPIO_H

#include "ompi_config.h"

#include "mpiext_endpoints_compat.h"

#if MPIX_ENDPOINTS_FILES

#    include <fcntl.h>
#    include <sys/types.h>

#    include "ompi/mca/common/ompio/common_ompio.h"
#    include "ompi/mca/common/ompio/common_ompio_request.h"
#    include "ompi/mca/fbtl/base/base.h"
#    include "ompi/mca/fcoll/base/base.h"
#    include "ompi/mca/fs/base/base.h"
#    include "ompi/mca/io/base/base.h"
#    include "ompi/mca/sharedfp/base/base.h"

BEGIN_C_DECLS

/* Of fbtl/posix, whose header is not installed.  As in all of 5.0. */
int mca_fbtl_posix_lock(struct flock *lock, ompio_file_t *fh, int op, OMPI_MPI_OFFSET_TYPE offset,
                        off_t len, int flags, int *lock_counter);
void mca_fbtl_posix_unlock(struct flock *lock, ompio_file_t *fh, int *lock_counter);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_OMPIO_H */
