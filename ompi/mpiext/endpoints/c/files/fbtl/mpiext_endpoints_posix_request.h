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
 * Requests of fbtl/posix: what it leaves undone.
 */

#ifndef MPIEXT_ENDPOINTS_POSIX_H
#define MPIEXT_ENDPOINTS_POSIX_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** What fbtl/posix has of a request; NULL: it is another component's, or has not been begun. */
mpix_endpoints_fbtl_posix_t *mpix_endpoints_posix(const mca_ompio_request_t *req);

/** Before it looks after a request: what a read has found at the file's end is all there is.  By
 * who has the request. */
void mpix_endpoints_posix_look(mca_ompio_request_t *req);

/** A request has failed: when this returns nobody works on it any more. */
void mpix_endpoints_posix_stop(const mca_ompio_request_t *req);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_POSIX_H */
