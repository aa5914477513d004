/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Putting the hooks in force, in the way that this program's libmpi allows.  Whether they are, and
 * how, are questions of pml/epml's, too: common_ep_link.h.
 */

#ifndef MPIEXT_ENDPOINTS_IN_FORCE_H
#define MPIEXT_ENDPOINTS_IN_FORCE_H

#include "ompi_config.h"

#include "ompi/mca/common/ep/common_ep_link.h"

BEGIN_C_DECLS

/** Tell the user why the hooks are not in force, and what can be done.  After
 * mpix_endpoints_hooks_in_force has said that they are not. */
void mpix_endpoints_hooks_explain(void);

/** Do libmpi's calls of all functions that files need come to our definitions?  Any thread. */
bool mpix_endpoints_hooks_of_files(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_IN_FORCE_H */
