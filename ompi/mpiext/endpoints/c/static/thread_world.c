/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What MPI_COMM_WORLD and MPI_COMM_SELF are in a thread.
 *
 * A thread that is on the first endpoint because it has not said otherwise has the process's: it is
 * where a program begins MPI and asks for its rank among processes.
 *
 * Tests: world_c, world_attach
 */

#include "ompi_config.h"

#include "mpiext_endpoints_attached.h"
#include "mpiext_endpoints_bound.h"
#include "mpiext_endpoints_world.h"

/** Written while there is one thread. */
static mpix_endpoints_world_mode_t world_mode = MPIX_ENDPOINTS_WORLD_NEVER;

void (*mpix_endpoints_world_error)(const char *function);

void mpix_endpoints_world_begin(mpix_endpoints_world_mode_t mode)
{
    world_mode = mode;
}

bool mpix_endpoints_world_is_own(void)
{
    return MPIX_ENDPOINTS_WORLD_ALWAYS == world_mode
           || (MPIX_ENDPOINTS_WORLD_ASP == world_mode && mpix_endpoints_process_is_asp());
}

/** The static endpoint that the thread has been attached to by a call, or belongs to by chapter 12's
 * rules; or NULL. */
static const mpix_endpoint_t *attached_by_call(void)
{
    const mpix_endpoint_t *own = mpix_endpoints_process_is_asp() ? mpix_endpoints_attached()
                                                                 : mpix_endpoints_own;

    return NULL != own && &mpix_endpoints_none != own && mpix_endpoints_process_is_static() ? own
                                                                                            : NULL;
}

ompi_communicator_t *mpix_endpoints_world(void)
{
    ompi_communicator_t *comm = mpix_endpoints_bound_comm();
    const mpix_endpoint_t *endpoint;

    if (NULL != comm) {
        return comm;
    }
    endpoint = attached_by_call();
    return NULL != endpoint ? endpoint->endpoints : &ompi_mpi_comm_world.comm;
}

ompi_communicator_t *mpix_endpoints_world_self(void)
{
    ompi_communicator_t *self = NULL;
    const mpix_endpoint_t *endpoint;

    if (NULL != mpix_endpoints_bound_comm()) {
        self = mpix_endpoints_bound_self(mpix_endpoints_bound);
        return NULL != self ? self : &ompi_mpi_comm_null.comm; /* no memory */
    }
    endpoint = attached_by_call();
    return NULL != endpoint ? endpoint->self : &ompi_mpi_comm_self.comm;
}

void mpix_endpoints_world_name(ompi_communicator_t *comm)
{
    if (mpix_endpoints_world_is_own() && 0 == (comm->c_flags & OMPI_COMM_NAMEISSET)) {
        (void) ompi_comm_set_name(comm, "MPI_COMM_WORLD");
    }
}

void mpix_endpoints_world_name_static(void)
{
    if (mpix_endpoints_world_is_own() && mpix_endpoints_process_is_static()) {
        for (int i = 0; i < mpix_endpoints_process_count(); ++i) {
            mpix_endpoint_t *endpoint = mpix_endpoints_process_endpoint(i);

            (void) ompi_comm_set_name(endpoint->endpoints, "MPI_COMM_WORLD");
            (void) ompi_comm_set_name(endpoint->self, "MPI_COMM_SELF");
        }
    }
}

ompi_communicator_t *mpix_endpoints_handle_of(const ompi_communicator_t *comm, int rank)
{
    opal_pointer_array_t *const table = &ompi_mpi_communicators;
    ompi_communicator_t *found = NULL;

    /* With the table's lock, which the end of any handle takes before its memory goes. */
    opal_mutex_lock(&table->lock);
    for (int i = 0; NULL == found && i < table->size; ++i) {
        ompi_communicator_t *const other = table->addr[i];

        if (NULL != other && other->c_contextid.cid_base == comm->c_contextid.cid_base
            && other->c_my_rank == rank) {
            found = other;
        }
    }
    opal_mutex_unlock(&table->lock);
    return found;
}
