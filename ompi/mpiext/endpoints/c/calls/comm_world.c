/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_world_set and _get, MPIX_Comm_endpoint_attach, MPIX_Comm_mine: a thread's own world, and
 * its own handle of a communicator; and what libmpix_world and libmpix_ranks ask, for which
 * MPI_COMM_WORLD is that.
 *
 * Tests: world_c, world_attach, world_fortran, world_python
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/proc/proc.h"

/** Can a thread have it as its world? */
static bool is_world(ompi_communicator_t *comm)
{
    return mpix_endpoints_is_endpoint_comm(comm) && OMPI_COMM_IS_INTRA(comm);
}

int mpix_endpoints_call_bind(MPI_Comm comm, const char *name)
{
    int rc;

    if (NULL != comm && !is_world(comm)) {
        return OMPI_ERRHANDLER_INVOKE(comm, MPI_ERR_COMM, name);
    }
    rc = mpix_endpoints_bind(comm);
    if (OMPI_SUCCESS == rc && NULL != comm) {
        mpix_endpoints_world_name(comm);
    }
    return OMPI_SUCCESS == rc
               ? MPI_SUCCESS
               : OMPI_ERRHANDLER_NOHANDLE_INVOKE(ompi_errcode_get_mpi_code(rc), name);
}

int mpix_endpoints_call_world_set(MPI_Comm world)
{
    static const char name[] = "MPIX_Comm_world_set";

    if (!mpix_endpoints_process_is_running() || NULL == world
        || (MPI_COMM_NULL != world && ompi_comm_invalid(world))) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_COMM, name);
    }
    return mpix_endpoints_call_bind(MPI_COMM_NULL == world ? NULL : world, name);
}

int mpix_endpoints_call_world_get(MPI_Comm *world)
{
    if (NULL == world) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_ARG, "MPIX_Comm_world_get");
    }
    *world = mpix_endpoints_world();
    if (&ompi_mpi_comm_world.comm == *world) {
        *world = MPI_COMM_NULL;
    }
    return MPI_SUCCESS;
}

int mpix_endpoints_call_endpoint_attach(MPI_Comm comm)
{
    static const char name[] = "MPIX_Comm_endpoint_attach";

    if (!mpix_endpoints_process_is_running() || ompi_comm_invalid(comm)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_COMM, name);
    }
    return mpix_endpoints_call_bind(comm, name);
}

/* ---- handles --------------------------------------------------------------------------------- */

/** The name of the endpoint that the calling thread is, or false: it is none. */
static bool own_name(opal_process_name_t *name)
{
    ompi_communicator_t *comm = mpix_endpoints_bound_comm();

    if (NULL == comm) {
        comm = mpix_endpoints_attached()->self;
    }
    if (MPI_COMM_NULL == comm) {
        return false;
    }
    *name = ompi_group_get_proc_name(comm->c_local_group, ompi_comm_rank(comm));
    return true;
}

/** Its rank in a group, or MPI_UNDEFINED. */
static int rank_of(ompi_group_t *group, opal_process_name_t name)
{
    for (int i = 0; i < group->grp_proc_count; ++i) {
        const opal_process_name_t other = ompi_group_get_proc_name(group, i);

        if (other.jobid == name.jobid && other.vpid == name.vpid) {
            return i;
        }
    }
    return MPI_UNDEFINED;
}

MPI_Comm mpix_endpoints_call_handle_of(MPI_Comm comm, int rank)
{
    if (rank == ompi_comm_rank(comm)) {
        return comm;
    }
    return mpix_endpoints_is_endpoint_comm(comm) ? mpix_endpoints_handle_of(comm, rank) : NULL;
}

int mpix_endpoints_call_mine(MPI_Comm comm, MPI_Comm *mine)
{
    static const char name[] = "MPIX_Comm_mine";
    opal_process_name_t own;
    ompi_communicator_t *found = NULL;
    int rank = MPI_UNDEFINED;

    if (!mpix_endpoints_process_is_running() || ompi_comm_invalid(comm)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_COMM, name);
    }
    if (NULL == mine) {
        return OMPI_ERRHANDLER_INVOKE(comm, MPI_ERR_ARG, name);
    }
    if (own_name(&own)) {
        rank = rank_of(comm->c_local_group, own);
    }
    if (MPI_UNDEFINED != rank) {
        found = mpix_endpoints_call_handle_of(comm, rank);
    }
    *mine = NULL != found ? found : MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* ---- for libmpix_world and libmpix_ranks ----------------------------------------------------- */

void mpix_endpoints_call_world_begin(bool if_asp, void (*error)(const char *function))
{
    mpix_endpoints_world_error = error;
    mpix_endpoints_world_begin(if_asp ? MPIX_ENDPOINTS_WORLD_ASP : MPIX_ENDPOINTS_WORLD_ALWAYS);
}

MPI_Comm mpix_endpoints_call_world(void)
{
    return mpix_endpoints_world_is_own() ? mpix_endpoints_world() : MPI_COMM_WORLD;
}

MPI_Comm mpix_endpoints_call_world_self(void)
{
    return mpix_endpoints_world_is_own() ? mpix_endpoints_world_self() : MPI_COMM_SELF;
}

bool mpix_endpoints_call_is_other(void)
{
    const opal_process_name_t process = ompi_proc_local_proc->super.proc_name;
    opal_process_name_t own;

    return mpix_endpoints_call_world() != MPI_COMM_WORLD && own_name(&own)
           && (own.jobid != process.jobid || own.vpid != process.vpid);
}

bool mpix_endpoints_call_refuses_finalize(void)
{
    int is_main = 1;

    return mpix_endpoints_call_world() != MPI_COMM_WORLD && !mpix_endpoints_process_is_asp()
           && MPI_SUCCESS == PMPI_Is_thread_main(&is_main) && 0 == is_main;
}

int mpix_endpoints_call_refuse_finalize(void)
{
    return OMPI_ERRHANDLER_INVOKE(mpix_endpoints_world(), MPI_ERR_OTHER, "MPI_Finalize");
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Comm_world_set(MPI_Comm world)
    __attribute__((alias("mpix_endpoints_call_world_set")));
MPIX_ENDPOINTS_EXPORT int MPIX_Comm_world_set(MPI_Comm world)
    __attribute__((weak, alias("mpix_endpoints_call_world_set")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Comm_world_get(MPI_Comm *world)
    __attribute__((alias("mpix_endpoints_call_world_get")));
MPIX_ENDPOINTS_EXPORT int MPIX_Comm_world_get(MPI_Comm *world)
    __attribute__((weak, alias("mpix_endpoints_call_world_get")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Comm_endpoint_attach(MPI_Comm comm)
    __attribute__((alias("mpix_endpoints_call_endpoint_attach")));
MPIX_ENDPOINTS_EXPORT int MPIX_Comm_endpoint_attach(MPI_Comm comm)
    __attribute__((weak, alias("mpix_endpoints_call_endpoint_attach")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Comm_mine(MPI_Comm comm, MPI_Comm *mine)
    __attribute__((alias("mpix_endpoints_call_mine")));
MPIX_ENDPOINTS_EXPORT int MPIX_Comm_mine(MPI_Comm comm, MPI_Comm *mine)
    __attribute__((weak, alias("mpix_endpoints_call_mine")));
