/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Abort, and errors that are fatal: libmpi would have the launcher end the processes whose
 * names are in the communicator's groups.  The launcher knows no endpoints; so that nobody is left
 * over, an endpoint takes the whole job with it, which the standard allows (MPI 4.1, section 9.4).
 *
 * And the first thread that ends the job is the only one to come back from here (end.c).
 *
 * Tests: comm_abort
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/runtime/mpiruntime.h"

int MPIX_ENDPOINTS_HOOK(ompi_mpi_abort)(ompi_communicator_t *comm, int errcode)
{
    mpix_endpoints_end_alone();
    if (mpix_endpoints_is_endpoint_comm(comm)) {
        comm = &ompi_mpi_comm_world.comm;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_mpi_abort)(comm, errcode);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_mpi_abort);
