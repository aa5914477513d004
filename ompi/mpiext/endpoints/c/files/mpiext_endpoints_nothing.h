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

#ifndef MPIEXT_ENDPOINTS_NOTHING_H
#define MPIEXT_ENDPOINTS_NOTHING_H

#include "ompi_config.h"

#include "../base/base.h"

#if MPIX_ENDPOINTS_FILES

#    include "ompi/file/file.h"

BEGIN_C_DECLS

/** ompio has opened a file of endpoints: datatypes of size 0 are nothing from now on. */
void mpix_endpoints_nothing_handle(ompi_file_t *file);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_NOTHING_H */
