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
 * Collective calls on a file, except reads and writes.
 */

#ifndef MPIEXT_ENDPOINTS_COLLECTIVE_CALLS_H
#define MPIEXT_ENDPOINTS_COLLECTIVE_CALLS_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Replace the functions of collective calls in the table of a handle of endpoints. */
void mpix_endpoints_collective_calls_hook(mpix_endpoints_io_module_t *module);

/** Opening has failed here: closing, which follows, must not delete the file. */
void mpix_endpoints_collective_calls_keep_file(ompi_file_t *handle);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_COLLECTIVE_CALLS_H */
