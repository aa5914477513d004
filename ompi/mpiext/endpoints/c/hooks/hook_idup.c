/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_idup and MPI_Comm_idup_with_info: the request holds the communicator.
 *
 * libmpi makes the duplicate in steps, each of which reads the parent, and keeps no reference on
 * it.  MPI_Comm_free of the parent may come between two of them.
 *
 * Tests: comm_pending
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/request/request.h"

static int idup_endpoints(ompi_communicator_t *comm, opal_info_t *info,
                          ompi_communicator_t **newcomm, ompi_request_t **request)
{
    const int rc = MPIX_ENDPOINTS_ORIGINAL(ompi_comm_idup_with_info)(comm, info, newcomm, request);

    if (OMPI_SUCCESS == rc) {
        mpix_endpoints_table()->request_hold(*request, comm);
    }
    return rc;
}

int MPIX_ENDPOINTS_HOOK(ompi_comm_idup_with_info)(ompi_communicator_t *comm, opal_info_t *info,
                                                  ompi_communicator_t **newcomm,
                                                  ompi_request_t **request)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_idup_with_info)(comm, info, newcomm, request);
    }
    return idup_endpoints(comm, info, newcomm, request);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_idup_with_info);

int MPIX_ENDPOINTS_HOOK(ompi_comm_idup)(ompi_communicator_t *comm, ompi_communicator_t **newcomm,
                                        ompi_request_t **request)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_idup)(comm, newcomm, request);
    }
    return idup_endpoints(comm, NULL, newcomm, request);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_idup);
