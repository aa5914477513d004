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
 * Split collective calls: split.c.
 */

#ifndef MPIEXT_ENDPOINTS_SPLIT_H
#define MPIEXT_ENDPOINTS_SPLIT_H

#include "ompi_config.h"

#include "mpiext_endpoints_handle.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Put in our functions. */
void mpix_endpoints_split_take(mpix_endpoints_io_module_t *module);

/** The blocking call in the place of one that begins has come to its end; the one that ends finds
 * what has been moved.
 *
 * @param[in] writes  which way
 * @param[in] rc      the blocking call's, of all members alike
 * @param[in] status  its status
 * @return OMPI_SUCCESS or an error */
int mpix_endpoints_split_begun(ompio_file_t *file, bool writes, int rc,
                               const ompi_status_public_t *status);

/** End one of any kind.  @return OMPI_SUCCESS, MPI_ERR_REQUEST: none has begun; or an error */
int mpix_endpoints_split_end(ompio_file_t *file, ompi_status_public_t *status);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_SPLIT_H */
