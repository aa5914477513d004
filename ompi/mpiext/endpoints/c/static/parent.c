/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Parents that want all endpoints of their children in the remote group.
 *
 * A spawned process meets its parents in libmpi's initialization, when it has no endpoints yet.  If
 * the parents want them all, and the job is going to make endpoints (announce.c), the processes keep
 * what they have by then: a communicator with the parents' root (hook_connect.c).  Over it they meet
 * when the endpoints are there, each process for all of its own.  The parents wait meanwhile, in
 * MPI_Comm_spawn; should there be no endpoints, they are notified.
 *
 * Tests: jobs_all
 */

#include "ompi_config.h"

#include "mpiext_endpoints_parent.h"

#include "ompi/constants.h"

/** Written while MPI begins and ends, when no other thread may call it. */
static struct {
    ompi_communicator_t *bridge; /**< with the parents' root, which wait; or NULL */
    bool is_own;                 /**< each endpoint has a handle */
} parents;

void mpix_endpoints_parent_keep(ompi_communicator_t *bridge)
{
    parents.bridge = bridge;
}

/** Say it over the bridge, which is gone then. */
static int meet(int failed, ompi_communicator_t *const own[], int count,
                ompi_communicator_t **handles)
{
    const mpix_endpoints_bridge_t bridge = {.error = OMPI_SUCCESS, .comm = parents.bridge};
    mpix_endpoints_error_t error = MPIX_ENDPOINTS_OK;
    const int rc = mpix_endpoints_table()->intercomm_bring(MPI_COMM_WORLD, 0, &bridge, failed, own,
                                                           count, handles, &error);

    (void) ompi_comm_free(&parents.bridge); /* libmpi has no parent then */
    parents.bridge = NULL;
    return OMPI_SUCCESS == rc ? MPI_SUCCESS : mpix_endpoints_error_code_of(error, rc);
}

static void take_handle(mpix_endpoint_t *endpoint, ompi_communicator_t *handle)
{
    (void) ompi_comm_set_name(handle, "MPI_COMM_PARENT");
    /* Relaxed: threads use endpoints behind what has begun MPI. */
    atomic_store_explicit(&endpoint->parent, handle, memory_order_relaxed);
    if (0 == endpoint->index) {
        ompi_mpi_comm_parent = handle;
    }
}

int mpix_endpoints_parent_meet(ompi_communicator_t *const own[], ompi_communicator_t *room[],
                               int count)
{
    int code;

    if (NULL == parents.bridge) {
        return MPI_SUCCESS;
    }
    code = meet(OMPI_SUCCESS, own, count, room);
    for (int i = 0; MPI_SUCCESS == code && i < count; ++i) {
        take_handle(mpix_endpoints_process_endpoint(i), room[i]);
    }
    parents.is_own = MPI_SUCCESS == code;
    return code;
}

void mpix_endpoints_parent_fail(int code)
{
    if (NULL != parents.bridge && MPI_SUCCESS != code) {
        (void) meet(code, NULL, 0, NULL);
    }
}

ompi_communicator_t *mpix_endpoints_parent_of(const mpix_endpoint_t *endpoint)
{
    return !parents.is_own ? NULL : atomic_load_explicit(&endpoint->parent, memory_order_relaxed);
}

void mpix_endpoints_parent_end(ompi_communicator_t *comm)
{
    const int count = parents.is_own ? mpix_endpoints_process_count() : 0;

    for (int i = 0; i < count; ++i) {
        ompi_communicator_t *expected = comm;

        /* Relaxed: other threads end handles of other endpoints; nothing else is passed on. */
        (void) atomic_compare_exchange_strong_explicit(&mpix_endpoints_process_endpoint(i)->parent,
                                                       &expected, &ompi_mpi_comm_null.comm,
                                                       memory_order_relaxed, memory_order_relaxed);
    }
}

void mpix_endpoints_parent_forget(void)
{
    parents.bridge = NULL;
    parents.is_own = false;
}
