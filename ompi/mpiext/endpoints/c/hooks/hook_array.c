/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The tables of handles, to which all ranks of a process add at once.  This hook is for processes
 * as well: a table does not show what uses it.
 *
 * Tests: handles
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

int MPIX_ENDPOINTS_HOOK(opal_pointer_array_add)(opal_pointer_array_t *table, void *pointer)
{
    return mpix_endpoints_array_add(table, pointer);
}
MPIX_ENDPOINTS_HOOK_DEFINED(opal_pointer_array_add);
