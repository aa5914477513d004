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
 * The functions of a handle that ompio has opened: which are its own, and which are ours.
 */

#ifndef MPIEXT_ENDPOINTS_HANDLE_H
#define MPIEXT_ENDPOINTS_HANDLE_H

#include "ompi_config.h"

#include "../base/base.h"

#if MPIX_ENDPOINTS_FILES

#    include "ompi/file/file.h"

BEGIN_C_DECLS

/** ompio's functions, of all files the same, for ours to call.  Not to be read before a handle has
 * ours. */
extern mpix_endpoints_io_module_t mpix_endpoints_ompio;

/** ompio has opened a file of endpoints: its handle gets our functions.  Any thread. */
void mpix_endpoints_handle(ompi_file_t *file);

/** What ompio has of a file that it has been chosen for. */
static inline ompio_file_t *mpix_endpoints_ompio_file(const ompi_file_t *handle)
{
    return &((mca_common_ompio_data_t *) handle->f_io_selected_data)->ompio_fh;
}

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_HANDLE_H */
