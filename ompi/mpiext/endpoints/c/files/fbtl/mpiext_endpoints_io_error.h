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
 * Why a read or a write of one member has failed.
 */

#ifndef MPIEXT_ENDPOINTS_REASONS_H
#define MPIEXT_ENDPOINTS_REASONS_H

#include "ompi_config.h"

#include <sys/types.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** What the system says of a read or a write, as an MPI class; MPI_ERR_IO for what has none.
 * @param[in] error  an errno */
int mpix_endpoints_reasons_class(int error);

/** Likewise, and the blocking call of this thread, if there is one, will say it. */
int mpix_endpoints_reasons_failed(int error);

/** Likewise, where the class is known already. */
void mpix_endpoints_reasons_keep(int class);

/** A blocking call of this thread begins. */
void mpix_endpoints_reasons_forget(void);

/** It has ended.  @param[in] rc  ompio's  @return the reason in its place, if that is known */
int mpix_endpoints_reasons_known(int rc);

/** Why has a request of an endpoint's failed?  Its locks, which ompio leaves, go.
 * @return an MPI class */
int mpix_endpoints_reasons_request(ompio_file_t *file, const mca_ompio_request_t *req);

/**
 * ompio takes what was written in part (the disk is full, or a limit reached) for written.
 *
 * @param[in] written  bytes of the file's list of pieces, as ompio has it, or its error
 * @return likewise; all of them, or OMPI_ERROR with the reason in errno
 */
ssize_t mpix_endpoints_reasons_written(const ompio_file_t *file, ssize_t written);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_REASONS_H */
