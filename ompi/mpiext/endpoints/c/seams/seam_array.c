/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The tables of handles, to which all ranks of a process add at once.  This seam is for processes
 * as well: a table does not show what uses it.
 *
 * Tests: handles
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "seams.h"

int MPIX_ENDPOINTS_SEAM(opal_pointer_array_add)(opal_pointer_array_t *table, void *pointer)
{
    return mpix_endpoints_array_add(table, pointer);
}
MPIX_ENDPOINTS_SEAM_DEFINED(opal_pointer_array_add);
