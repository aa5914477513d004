/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What MPI_COMM_WORLD and MPI_COMM_SELF are in a thread: thread_world.c.
 */

#ifndef MPIEXT_ENDPOINTS_WORLD_H
#define MPIEXT_ENDPOINTS_WORLD_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** When do a thread's MPI_COMM_WORLD and MPI_COMM_SELF name its endpoint's communicators? */
typedef enum mpix_endpoints_world_mode_t {
    MPIX_ENDPOINTS_WORLD_NEVER, /**< they are the process's */
    MPIX_ENDPOINTS_WORLD_ALWAYS,
    MPIX_ENDPOINTS_WORLD_ASP /**< in a process begun by chapter 12 */
} mpix_endpoints_world_mode_t;

/** Say when.  Before the process has threads that are attached. */
void mpix_endpoints_world_begin(mpix_endpoints_world_mode_t mode);

/** Do they? */
bool mpix_endpoints_world_is_own(void);

/** Called before an error is raised on a thread's world, with the name of the function that was
 * called; it may end the job.  NULL: nothing.  Set with mpix_endpoints_world_begin. */
extern void (*mpix_endpoints_world_error)(const char *function);

/**
 * The calling thread's world, whatever MPI_COMM_WORLD names in it, and the communicator of its
 * endpoint alone: those of the handle that it is bound to, or else of the endpoint that it has been
 * attached to by a call, or else the process's MPI_COMM_WORLD and MPI_COMM_SELF.
 */
ompi_communicator_t *mpix_endpoints_world(void);
ompi_communicator_t *mpix_endpoints_world_self(void);

/** Where they do: a handle that a thread is bound to is named MPI_COMM_WORLD, unless it has a name;
 * static endpoints' handles are named so when they have been made. */
void mpix_endpoints_world_name(ompi_communicator_t *comm);
void mpix_endpoints_world_name_static(void);

/** The handle that this process has, of a communicator of endpoints, for the member of a rank; or
 * NULL.  Not on the way of a message: it looks through libmpi's table. */
ompi_communicator_t *mpix_endpoints_handle_of(const ompi_communicator_t *comm, int rank);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_WORLD_H */
