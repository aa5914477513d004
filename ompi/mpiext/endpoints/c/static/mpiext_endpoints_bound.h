/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators that threads are bound to: bound.c.
 */

#ifndef MPIEXT_ENDPOINTS_BOUND_H
#define MPIEXT_ENDPOINTS_BOUND_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../base/base.h"

BEGIN_C_DECLS

/** A handle that threads are bound to. */
typedef struct mpix_endpoints_bound_t mpix_endpoints_bound_t;
struct mpix_endpoints_bound_t {
    mpix_endpoints_bound_t *next;          /**< under the lock of bound.c, as threads */
    int threads;                           /**< that are bound to it */
    _Atomic(ompi_communicator_t *) handle; /**< NULL: it has been freed */
    _Atomic(ompi_communicator_t *) self;   /**< the endpoint alone, made here, or NULL */
};

/** What the calling thread is bound to, or NULL; attached.c alone writes it. */
extern _Thread_local mpix_endpoints_bound_t *mpix_endpoints_bound
    __attribute__((tls_model("initial-exec")));

/** The handle that the calling thread is bound to; NULL: none, or it has been freed. */
static inline ompi_communicator_t *mpix_endpoints_bound_comm(void)
{
    mpix_endpoints_bound_t *bound = mpix_endpoints_bound;

    /* Relaxed: a thread may use a handle only where the program orders that before its end. */
    return NULL == bound ? NULL : atomic_load_explicit(&bound->handle, memory_order_relaxed);
}

/**
 * Bind a thread to a handle: count it.
 *
 * @param[in] comm  an intracommunicator of endpoints
 *
 * @return NULL: no memory
 */
mpix_endpoints_bound_t *mpix_endpoints_bound_get(ompi_communicator_t *comm);

/** A thread is bound to it no more. */
void mpix_endpoints_bound_put(mpix_endpoints_bound_t *bound);

/**
 * The communicator of the endpoint alone that the handle belongs to: of a static endpoint its own, of
 * the process MPI_COMM_SELF, of another one made when it is first asked for, without a message, and
 * freed with the handle.  Any thread that may use the handle.
 *
 * @return NULL: the handle has been freed, or there is no memory
 */
ompi_communicator_t *mpix_endpoints_bound_self(mpix_endpoints_bound_t *bound);

/** A handle, any one, is freed: threads that are bound to it are bound to nothing.  Twice does no
 * harm. */
void mpix_endpoints_bound_end(ompi_communicator_t *comm);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_BOUND_H */
