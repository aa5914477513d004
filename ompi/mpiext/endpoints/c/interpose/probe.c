/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The probe: whether a call of libmpi's own has come to our definition.
 *
 * Tests: install/build, self/direct, comm_ops (direct)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_probe.h"

#include <stdatomic.h>

#include "ompi/constants.h"

ompi_group_t mpix_endpoints_probe_group;

static atomic_int probe_count;

int mpix_endpoints_probe_came(void)
{
    /* Relaxed: see mpix_endpoints_probe. */
    atomic_fetch_add_explicit(&probe_count, 1, memory_order_relaxed);
    return OMPI_ERR_NOT_SUPPORTED;
}

bool mpix_endpoints_probe(void)
{
    ompi_group_t *empty = NULL;
    int before = atomic_load_explicit(&probe_count, memory_order_relaxed);

    /* A group of nobody out of a group of nobody: libmpi does not look into the source group. */
    if (OMPI_SUCCESS != ompi_group_incl(&mpix_endpoints_probe_group, 0, NULL, &empty)
        || NULL == empty) {
        /* Relaxed: only this thread's own call matters, and others only add to the count. */
        return before != atomic_load_explicit(&probe_count, memory_order_relaxed);
    }

    /* libmpi's own definition has handed out MPI_GROUP_EMPTY.  Give the reference back without
     * OBJ_RELEASE: early in MPI_Init that object is not constructed yet. */
    opal_obj_update(&empty->super, -1);
    return false;
}
