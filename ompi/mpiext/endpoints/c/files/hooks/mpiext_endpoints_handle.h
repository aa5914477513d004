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
 * The functions of a handle that ompio has opened: some of them are ours.
 */

#ifndef MPIEXT_ENDPOINTS_HANDLE_H
#define MPIEXT_ENDPOINTS_HANDLE_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** ompio has opened a file of endpoints: replace functions of its handle.  Any thread. */
void mpix_endpoints_handle_hook(ompi_file_t *file);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_HANDLE_H */
