/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_disconnect on a handle of endpoints.
 *
 * MPI wants it to wait until all pending communication on the communicator has completed (4.1,
 * section 12.10.4): afterwards the buffer of a send whose request was freed is the user's again.
 * Open MPI's own is a barrier, in which a thread that disconnects all endpoints of its process, one
 * after another, would wait for itself.  Here the handle waits for its own requests alone, and
 * progresses all endpoints of the process meanwhile.  Whatever these requests wait for is matched,
 * as MPI demands, so it is up to progress alone and not to another call.  All other communicators
 * are passed on.
 *
 * Not a hook: programs call this function themselves, and find ours first because the library is
 * linked before libmpi.  In a program that loaded libmpi first, Open MPI's is in force and each
 * endpoint must be disconnected by a thread of its own.
 *
 * Tests: create, disconnect, finalize
 */

#include "ompi_config.h"

#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_function.h"

#include "ompi/errhandler/errhandler.h"

static const char function_name[] = "MPI_Comm_disconnect";

bool mpix_endpoints_call_disconnects(MPI_Comm comm)
{
    return NULL != comm && MPI_COMM_NULL != comm && !ompi_comm_invalid(comm)
           && (mpix_endpoints_is_endpoint_comm(comm) || mpix_endpoints_call_keeps(comm));
}

int mpix_endpoints_call_disconnect(MPI_Comm *comm)
{
    int rc = MPI_ERR_COMM;

    if (!mpix_endpoints_call_keeps(*comm)) {
        mpix_endpoints_bound_end(*comm);
        mpix_endpoints_table()->comm_drain(*comm);
        rc = ompi_comm_free(comm);
    }
    OMPI_ERRHANDLER_RETURN(rc, *comm, rc, function_name);
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Comm_disconnect)(MPI_Comm *comm)
{
    if (NULL == comm || !mpix_endpoints_call_disconnects(*comm)) {
        int (*const original)(MPI_Comm *) = MPIX_ENDPOINTS_NEXT(Comm_disconnect);

        return NULL != original ? original(comm) : MPI_ERR_INTERN;
    }
    return mpix_endpoints_call_disconnect(comm);
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Comm_disconnect, (MPI_Comm * comm), (comm));
