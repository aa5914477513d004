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
 * ompio's own functions of a handle.
 */

#ifndef MPIEXT_ENDPOINTS_OMPIO_MODULE_H
#define MPIEXT_ENDPOINTS_OMPIO_MODULE_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The same for all files.  Not to be read before a function of a handle has been replaced. */
extern mpix_endpoints_io_module_t mpix_endpoints_ompio;

/** Keep them.  Any thread.  @param[in] module  of a handle, in which nothing has been replaced */
void mpix_endpoints_ompio_keep(const mpix_endpoints_io_module_t *module);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_OMPIO_MODULE_H */
