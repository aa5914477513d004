/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Numbers that this process has from its launcher, or from the process that has spawned it: told.c.
 */

#ifndef MPIEXT_ENDPOINTS_TOLD_H
#define MPIEXT_ENDPOINTS_TOLD_H

#include "ompi_config.h"

BEGIN_C_DECLS

/** How many endpoints a process may have, in its environment. */
#define MPIX_ENDPOINTS_NUMBER_VARIABLE "MPIX_ENDPOINTS"

/** Which thread level, 0 to 5, likewise. */
#define MPIX_ENDPOINTS_LEVEL_VARIABLE "MPIX_THREAD_LEVEL"

/** What a variable of the environment says.  Any thread, any time.
 *
 * @param[in] low, high  what makes sense
 *
 * @return low - 1 if it says nothing, or nonsense */
int mpix_endpoints_told(const char *variable, int low, int high);

/** As many endpoints as this process may bring into a creation by what it was told.  Likewise.
 *
 * @return INT_MAX if it was told nothing */
int mpix_endpoints_most_told(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_TOLD_H */
