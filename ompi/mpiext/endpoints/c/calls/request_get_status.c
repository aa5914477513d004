/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Request_get_status, whose status is read behind an acquire of the request's flag.
 *
 * Open MPI's own looks at the flag by a plain load and reads the status at once.  A request of an
 * endpoint may be completed by any thread that progresses the endpoint, and a machine that may load out
 * of order may have read the status before it was written (see pml_epml_acquire.h, which does the same
 * for the functions that Open MPI calls through a table).  So Open MPI's function is called only
 * with what this thread has seen to be complete.
 *
 * Not a hook: as comm_disconnect.c.  In a program that loaded libmpi first, Open MPI's is in force:
 * there, and on such machines, a status may be an old one if another thread completes the request
 * at the same moment; MPI_Test and MPI_Wait are right everywhere.
 *
 * Tests: p2p_requests, p2p_mixed, newer
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_function.h"

#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

/** Active, and not seen to be complete. */
static bool is_pending(const ompi_request_t *request)
{
    /* Acquire: orders the flag before the status, which Open MPI's function reads, and the data;
     * partner: the release with which a request is completed. */
    return OMPI_REQUEST_INACTIVE != request->req_state
           && REQUEST_COMPLETED
                  != __atomic_load_n((void *const *) &request->req_complete, __ATOMIC_ACQUIRE);
}

bool mpix_endpoints_call_is_pending(MPI_Request request)
{
    if (NULL == request || !is_pending(request)) {
        return false;
    }
    (void) opal_progress();
    return is_pending(request);
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Request_get_status)(MPI_Request request,
                                                                      int *flag, MPI_Status *status)
{
    int (*const original)(MPI_Request, int *, MPI_Status *)
        = MPIX_ENDPOINTS_NEXT(Request_get_status);

    if (NULL != flag && mpix_endpoints_call_is_pending(request)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return NULL != original ? original(request, flag, status) : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Request_get_status,
                                (MPI_Request request, int *flag, MPI_Status *status),
                                (request, flag, status));
