/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receives that are neither complete nor waited for: a loss blocks them until it is acknowledged.
 * libmpi's functions ask for them (the hook ompi_request_is_failed_fn), and so does our waiting.
 *
 * Tests: ulfm_ack
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "pml_epml_pending.h"

bool mca_pml_epml_pending(ompi_request_t *ompi_request)
{
#if OPAL_ENABLE_FT_MPI
    mca_pml_epml_request_t *request = (mca_pml_epml_request_t *) ompi_request;
    bool is;

    if (!mca_pml_epml_is_request(ompi_request)
        || OPAL_LIKELY(!atomic_load_explicit(&request->ep->loss.any, memory_order_relaxed))) {
        return false;
    }
    mca_pml_epml_lock(request->ep);
    is = NULL != request->posted.queue && mca_pml_epml_lost_pends(request)
         && 0 <= mca_pml_epml_lost_blocks(request->comm, request->rank, request->tag);
    if (is) {
        ompi_request->req_status.MPI_ERROR = MPI_ERR_PROC_FAILED_PENDING;
    } else if (NULL != request->posted.queue) {
        ompi_request->req_status.MPI_ERROR = MPI_SUCCESS;
    }
    mca_pml_epml_unlock(request->ep);
    return is;
#else
    (void) ompi_request;
    return false;
#endif
}
