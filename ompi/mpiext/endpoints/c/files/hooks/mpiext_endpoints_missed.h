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
 * Collective calls that a member has missed in a call of ompio's that all members make: missed.c.
 */

#ifndef MPIEXT_ENDPOINTS_MISSED_H
#define MPIEXT_ENDPOINTS_MISSED_H

#include "ompi_config.h"

#include "../../base/base.h"

BEGIN_C_DECLS

#if MPIX_ENDPOINTS_FILES

/**
 * ompio has opened a file, or has failed to: make the collective calls that this thread has missed,
 * with its error.
 *
 * @param[in] rc  ompio's
 * @return OMPI_SUCCESS or an error: of all members alike, unless their reductions have succeeded */
int mpix_endpoints_missed_in_open(ompi_file_t *handle, int rc);

/**
 * Opening has failed before there is a handle of ompio's: make all collective calls of an opening,
 * with this member's error.
 *
 * @param[in] comm  of the file
 * @param[in] rc    not OMPI_SUCCESS */
int mpix_endpoints_missed_before_open(ompi_communicator_t *comm, int rc);

/** Likewise, after a new view of an open file. */
int mpix_endpoints_missed_in_view(ompio_file_t *file, int rc);

#endif

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_MISSED_H */
