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
 */

#ifndef MPIEXT_ENDPOINTS_COLLECTIVE_OPEN_H
#define MPIEXT_ENDPOINTS_COLLECTIVE_OPEN_H

#include "ompi_config.h"

#include "../../base/base.h"

BEGIN_C_DECLS

/**
 * Before a file is opened: can all open files, and in the same mode?  Collective over comm, without
 * hanging whatever the members say.
 *
 * @return OMPI_SUCCESS; MPI_ERR_UNSUPPORTED_OPERATION: calls of libmpi's are out of reach in some
 *         process; MPI_ERR_NOT_SAME; or another error.  The same at all members
 */
int mpix_endpoints_files_meet(ompi_communicator_t *comm, int amode);

#if MPIX_ENDPOINTS_FILES

/** ompio has chosen, or has failed to, who opens, closes and deletes a file of endpoints: what they
 * open is agreed on from now on, if there is memory for it.  Local.
 * @param[in] rc  ompio's */
void mpix_endpoints_files_agree(ompio_file_t *file, int rc);

/**
 * And who reads and writes it: can all members go on?  Collective.
 *
 * @param[in] rc  for this member
 * @return OMPI_SUCCESS or an error, of all alike; then the file is as good as never opened
 */
int mpix_endpoints_files_chosen(ompio_file_t *file, int rc);

#endif

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_COLLECTIVE_OPEN_H */
