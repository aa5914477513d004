/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies of a call's arrays: coll_epcoll_arrays.c.
 */

#ifndef MCA_COLL_EPCOLL_ARRAYS_H
#define MCA_COLL_EPCOLL_ARRAYS_H

#include "ompi_config.h"

#include "../hier/hier.h"

BEGIN_C_DECLS

/** Does a kind have one that is about all members? */
static inline bool mca_coll_epcoll_arrays_has(mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
    case EPCOLL_GATHERV:
    case EPCOLL_REDUCE_SCATTER:
    case EPCOLL_SCATTERV:
        return true;
    default:
        return false;
    }
}

/**
 * Replace the call's arrays by copies, if its kind has any.
 *
 * @param[in]  members   entries of each array
 * @param[out] memory_p  the memory of the copies, to be freed when the call is not read any more;
 *                       NULL: none
 *
 * @return MPI_SUCCESS, or MPI_ERR_NO_MEM
 */
int mca_coll_epcoll_arrays_copy(mca_coll_epcoll_call_t *call, size_t members, void **memory_p);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_ARRAYS_H */
