/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies of a call's arrays: counts, displacements and types of all members.
 *
 * Called for each persistent call, and for each nonblocking one.  For the latter MPI has the user keep
 * the arrays until the operation is complete.  Programs do not: components that read them at once, as
 * libnbc does, have always allowed it, and mpi4py frees its counts when the call returns.
 *
 * Tests: coll_arrays
 */

#include "ompi_config.h"

#include "coll_epcoll_arrays.h"

#include "mpi.h"

#include <stdlib.h>

/** What the arrays of a call take for each member, all of them. */
typedef struct arrays_t {
    mca_coll_epcoll_count_t *counts[2];
    mca_coll_epcoll_disp_t *disps[2];
    ompi_datatype_t **types[2];
} arrays_t;

#define ARRAYS_EACH                                                      \
    (2                                                                   \
     * (sizeof(mca_coll_epcoll_count_t) + sizeof(mca_coll_epcoll_disp_t) \
        + sizeof(ompi_datatype_t *)))

static arrays_t arrays_in(void *memory, size_t members)
{
    arrays_t arrays;

    arrays.types[0] = memory;
    arrays.types[1] = arrays.types[0] + members;
    arrays.disps[0] = (mca_coll_epcoll_disp_t *) (arrays.types[1] + members);
    arrays.disps[1] = arrays.disps[0] + members;
    arrays.counts[0] = (mca_coll_epcoll_count_t *) (arrays.disps[1] + members);
    arrays.counts[1] = arrays.counts[0] + members;
    return arrays;
}

static void copy_counts(mca_coll_epcoll_counts_t *counts, mca_coll_epcoll_count_t *to,
                        size_t members)
{
    if (EPCOLL_HAS_COUNTS(*counts)) {
        for (size_t i = 0; i < members; ++i) {
            to[i] = (mca_coll_epcoll_count_t) EPCOLL_COUNT(*counts, i);
        }
        *counts = EPCOLL_COUNTS_OF(to);
    }
}

static void copy_disps(mca_coll_epcoll_disps_t *disps, mca_coll_epcoll_disp_t *to, size_t members)
{
    if (EPCOLL_HAS_DISPS(*disps)) {
        for (size_t i = 0; i < members; ++i) {
            to[i] = (mca_coll_epcoll_disp_t) EPCOLL_DISP(*disps, i);
        }
        *disps = EPCOLL_DISPS_OF(to);
    }
}

static void copy_types(ompi_datatype_t *const **types, ompi_datatype_t **to, size_t members)
{
    if (NULL != *types) {
        memcpy(to, *types, members * sizeof(*to));
        *types = to;
    }
}

int mca_coll_epcoll_arrays_copy(mca_coll_epcoll_call_t *call, size_t members, void **memory_p)
{
    arrays_t arrays;

    *memory_p = NULL;
    if (!mca_coll_epcoll_arrays_has(call->kind)) {
        return MPI_SUCCESS;
    }
    *memory_p = malloc(members * ARRAYS_EACH);
    if (NULL == *memory_p) {
        return MPI_ERR_NO_MEM;
    }
    arrays = arrays_in(*memory_p, members);
    if (call->in_place && EPCOLL_ALLTOALL <= call->kind && EPCOLL_ALLTOALLW >= call->kind) {
        const mca_coll_epcoll_call_t none = {.kind = call->kind};

        call->send_counts = none.send_counts; /* of no meaning */
        call->send_disps = none.send_disps;
        call->send_types = NULL;
    }
    copy_counts(&call->send_counts, arrays.counts[0], members);
    copy_counts(&call->recv_counts, arrays.counts[1], members);
    copy_disps(&call->send_disps, arrays.disps[0], members);
    copy_disps(&call->recv_disps, arrays.disps[1], members);
    copy_types(&call->send_types, arrays.types[0], members);
    copy_types(&call->recv_types, arrays.types[1], members);
    return MPI_SUCCESS;
}
