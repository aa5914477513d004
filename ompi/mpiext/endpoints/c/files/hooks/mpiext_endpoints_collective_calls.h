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
 * Calls on a file that all its members make: they end alike.
 */

#ifndef MPIEXT_ENDPOINTS_COLLECTIVE_CALLS_H
#define MPIEXT_ENDPOINTS_COLLECTIVE_CALLS_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The table of a handle of endpoints gets our functions for what all members say. */
void mpix_endpoints_members_take(mpix_endpoints_io_module_t *module);

/** Opening has failed here: closing, which comes now, must not delete the file. */
void mpix_endpoints_members_keep(ompi_file_t *handle);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_COLLECTIVE_CALLS_H */
