/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collective reads and writes of a file of endpoints, as ompio calls them.
 */

#ifndef MPIEXT_ENDPOINTS_FCOLL_MODULE_H
#define MPIEXT_ENDPOINTS_FCOLL_MODULE_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** ompio has chosen its component for collective reads and writes: ours stands before it from now
 * on.  Collective over the file's members.
 *
 * @param[in] rc  of the choice at this member
 * @return OMPI_SUCCESS; or an error, of all members alike unless one is lost */
int mpix_endpoints_fcoll_module_select(ompio_file_t *file, int rc);

/** Does it?  ompio opens a file even if it could not be selected.  The same at all members. */
bool mpix_endpoints_fcoll_module_is_selected(const ompio_file_t *file);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_FCOLL_MODULE_H */
