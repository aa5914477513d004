/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Allreduce of two ranks: one exchange or two?
 *
 * coll/tuned takes its ring from 4096 to 8191 bytes on communicators of two and three ranks, and an
 * exchange of all below and above.  For two ranks a ring is two exchanges of one half each, one
 * behind the other, where one would do: over a network that is nearly twice the time.
 *
 * Tests: coll_reduce
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_base_functions.h"

/** Bytes from which on tuned's choice stands. */
#define RING_MIN 8192

int MPIX_ENDPOINTS_HOOK_SHARED(ompi_coll_base_allreduce_intra_ring)(ALLREDUCE_ARGS)
{
    if (OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm)) && 2 == ompi_comm_size(comm)
        && RING_MIN > (size_t) count * datatype->super.size) {
        return ompi_coll_base_allreduce_intra_recursivedoubling(sendbuf, recvbuf, count, datatype,
                                                                op, comm, module);
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_coll_base_allreduce_intra_ring)(sendbuf, recvbuf, count,
                                                                        datatype, op, comm, module);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_coll_base_allreduce_intra_ring);
