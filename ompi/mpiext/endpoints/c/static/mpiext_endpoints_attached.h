/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads and endpoints: attached.c.
 */

#ifndef MPIEXT_ENDPOINTS_ATTACHED_H
#define MPIEXT_ENDPOINTS_ATTACHED_H

#include "ompi_config.h"

#include "mpiext_endpoints_process.h"

BEGIN_C_DECLS

/** To what the calling thread is attached; attached.c alone writes it.  NULL: it has never said, and
 * is where mpix_endpoints_process_first says. */
extern _Thread_local mpix_endpoint_t *mpix_endpoints_own __attribute__((tls_model("initial-exec")));

/** The thread's first call where threads are given endpoints: that with the fewest threads, the
 * lowest of these.  For mpix_endpoints_attached. */
mpix_endpoint_t *mpix_endpoints_assign(void);

/** The calling thread's endpoint, or mpix_endpoints_none.  One thread-local read for a thread that
 * has been attached by a call. */
static inline mpix_endpoint_t *mpix_endpoints_attached(void)
{
    mpix_endpoint_t *own = mpix_endpoints_own;

    if (OPAL_UNLIKELY(NULL == own)) {
        own = mpix_endpoints_process_first();
    }
    return OPAL_LIKELY(NULL != own) ? own : mpix_endpoints_assign();
}

/**
 * Attach the calling thread.
 *
 * @param[in] endpoint  of this process
 * @param[in] level     MPI_THREAD_SINGLE to _MULTIPLE, no more than the endpoint's; -1: that
 * @param[in] moves     from where it is attached; else that is an error
 *
 * @return OMPI_SUCCESS; or MPIX_ENDPOINTS_CAUSE_ATTACHED, _TAKEN, _DIFFERS, _FOR_LIFE: nothing has
 *         changed
 */
int mpix_endpoints_attach(mpix_endpoint_t *endpoint, int level, bool moves);

/** The calling thread's rank among the endpoints of the job that are there from its beginning on.
 *
 * @return false: this process has none */
bool mpix_endpoints_attached_rank(int *rank, int *size);

/**
 * Bind the calling thread to a handle, which is its world until the thread is attached or detached
 * once more, or the handle is freed.
 *
 * @param[in] comm  an intracommunicator of endpoints; NULL: to none
 *
 * @return OMPI_SUCCESS, or OMPI_ERR_OUT_OF_RESOURCE: nothing has changed
 */
int mpix_endpoints_bind(ompi_communicator_t *comm);

/** Detach it; from the handle that it is bound to, if there is one.
 *
 * @return OMPI_SUCCESS, or MPIX_ENDPOINTS_CAUSE_DETACHED, _FOR_LIFE */
int mpix_endpoints_detach(void);

/** Where threads belong to endpoints: is the caller its endpoint's main thread? */
bool mpix_endpoints_thread_is_main(void);

/** Likewise: the caller has called MPI_Finalize, for its endpoint if it is its main thread.
 *
 * @return have all main threads done so that have not ended? */
bool mpix_endpoints_thread_finalizes(void);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_ATTACHED_H */
