/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies of tables of functions of ompio's components, with some functions replaced.
 */

#ifndef MPIEXT_ENDPOINTS_MODULE_COPY_H
#define MPIEXT_ENDPOINTS_MODULE_COPY_H

#include "ompi_config.h"

#include <stddef.h>

BEGIN_C_DECLS

/**
 * A copy of a table, made once for each table and kept.  Any thread.
 *
 * @param[in] original  constant, and there until the end of the process
 * @param[in] change    replaces functions in the copy
 *
 * @return the copy, or NULL: no memory
 */
void *mpix_endpoints_module_copy(const void *original, size_t size, void (*change)(void *copy));

/** The table that a table, shared or private, is a copy of.  Any thread. */
const void *mpix_endpoints_module_original(const void *copy);

/**
 * A private copy of a copy, for one file.
 *
 * @param[in] copy  by mpix_endpoints_module_copy
 * @param[in] state  of the file; the caller's
 *
 * @return to be freed by mpix_endpoints_module_copy_free; or NULL: no memory
 */
void *mpix_endpoints_module_copy_private(const void *copy, size_t size, void *state);

/** The state of the file that has this copy; NULL: the copy is shared. */
void *mpix_endpoints_module_copy_state(const void *copy);

/** Free a private copy.  @return the table that it was a copy of */
const void *mpix_endpoints_module_copy_free(void *own);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_MODULE_COPY_H */
