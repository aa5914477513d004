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
 * Tables of functions of Open MPI's, in which some of the functions are ours.
 */

#ifndef MPIEXT_ENDPOINTS_COPIES_H
#define MPIEXT_ENDPOINTS_COPIES_H

#include "ompi_config.h"

#include <stddef.h>

BEGIN_C_DECLS

/**
 * A copy of a table, made once for each table and kept.  Any thread.
 *
 * @param[in] original  constant, and there until the end of the process
 * @param[in] change    puts our functions into the copy
 *
 * @return the copy, or NULL: no memory
 */
void *mpix_endpoints_copy(const void *original, size_t size, void (*change)(void *copy));

/** What a table is a copy of.  Any thread. */
const void *mpix_endpoints_copied(const void *copy);

/**
 * A copy of a copy, for one file alone.
 *
 * @param[in] copy  by mpix_endpoints_copy
 * @param[in] kept  what is kept of the file; the caller's
 *
 * @return to be freed by mpix_endpoints_copy_free; or NULL: no memory
 */
void *mpix_endpoints_copy_own(const void *copy, size_t size, void *kept);

/** What is kept of the file that has this copy; NULL: the copy is that of many. */
void *mpix_endpoints_copy_kept(const void *copy);

/** Free the copy of one file.  @return the one that it was a copy of */
const void *mpix_endpoints_copy_free(void *own);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_COPIES_H */
