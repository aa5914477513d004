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
 * Collective open: a file is opened by all members of a communicator, or by none.
 */

#ifndef MPIEXT_ENDPOINTS_COLLECTIVE_OPEN_H
#define MPIEXT_ENDPOINTS_COLLECTIVE_OPEN_H

#include "ompi_config.h"

#include "../../base/base.h"

BEGIN_C_DECLS

/**
 * Before a file is opened: can all members open files, and in the same mode?  Collective over comm;
 * never hangs.
 *
 * @return OMPI_SUCCESS; MPI_ERR_UNSUPPORTED_OPERATION: calls of libmpi cannot be hooked in some
 *         process; MPI_ERR_NOT_SAME; or another error.  The same at all members
 */
int mpix_endpoints_open_check(ompi_communicator_t *comm, int amode);

#if MPIX_ENDPOINTS_FILES

/** ompio has selected the fs component of a file of endpoints, or has failed to: our functions stand
 * before the component's from now on, if there is memory for it.  Local.
 * @param[in] rc  ompio's */
void mpix_endpoints_open_select_fs(ompio_file_t *file, int rc);

/**
 * And the fbtl component: can all members go on?  Collective.
 *
 * @param[in] rc  of this member
 * @return OMPI_SUCCESS; or an error, of all members alike: the file is not opened
 */
int mpix_endpoints_open_select_fbtl(ompio_file_t *file, int rc);

#endif

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_COLLECTIVE_OPEN_H */
