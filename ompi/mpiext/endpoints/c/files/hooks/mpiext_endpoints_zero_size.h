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
 * Reads and writes of many of nothing.
 */

#ifndef MPIEXT_ENDPOINTS_ZERO_SIZE_H
#define MPIEXT_ENDPOINTS_ZERO_SIZE_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Replace the functions in the table of a handle of endpoints. */
void mpix_endpoints_zero_size_hook(mpix_endpoints_io_module_t *module);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_ZERO_SIZE_H */
