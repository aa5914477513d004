/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * New communicators: libmpi asks for a context id, then puts the communicator to use.  Endpoints do
 * both among themselves (cid.c and activate.c, with their nonblocking forms).
 *
 * Tests: comm_ops
 */

#include "ompi_config.h"

#include "../agree/agree.h"
#include "../base/base.h"
#include "seams.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/request/request.h"

int MPIX_ENDPOINTS_SEAM(ompi_comm_nextcid)(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                                           ompi_communicator_t *bridgecomm, const void *arg0,
                                           const void *arg1, bool send_first, int mode)
{
    if (OPAL_UNLIKELY(mpix_endpoints_cid_refused(newcomm, comm))) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_nextcid)(newcomm, comm, bridgecomm, arg0, arg1,
                                                          send_first, mode);
    }
    return mpix_endpoints_cid_agree(newcomm, comm, arg0, mode);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_comm_nextcid);

int MPIX_ENDPOINTS_SEAM(ompi_comm_nextcid_nb)(ompi_communicator_t *newcomm,
                                              ompi_communicator_t *comm,
                                              ompi_communicator_t *bridgecomm, const void *arg0,
                                              const void *arg1, bool send_first, int mode,
                                              ompi_request_t **request_p)
{
    if (OPAL_UNLIKELY(mpix_endpoints_cid_refused(newcomm, comm))) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_nextcid_nb)(newcomm, comm, bridgecomm, arg0, arg1,
                                                             send_first, mode, request_p);
    }
    return mpix_endpoints_cid_agree_nb(newcomm, comm, mode, request_p);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_comm_nextcid_nb);

int MPIX_ENDPOINTS_SEAM(ompi_comm_activate)(ompi_communicator_t **newcomm,
                                            ompi_communicator_t *comm,
                                            ompi_communicator_t *bridgecomm, const void *arg0,
                                            const void *arg1, bool send_first, int mode)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate)(newcomm, comm, bridgecomm, arg0, arg1,
                                                           send_first, mode);
    }
    return mpix_endpoints_activate(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_comm_activate);

int MPIX_ENDPOINTS_SEAM(ompi_comm_activate_nb)(ompi_communicator_t **newcomm,
                                               ompi_communicator_t *comm,
                                               ompi_communicator_t *bridgecomm, const void *arg0,
                                               const void *arg1, bool send_first, int mode,
                                               ompi_request_t **request)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate_nb)(newcomm, comm, bridgecomm, arg0, arg1,
                                                              send_first, mode, request);
    }
    return mpix_endpoints_activate_nb(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode,
                                      request);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_comm_activate_nb);
