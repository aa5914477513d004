/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_spawn, MPI_Comm_spawn_multiple, MPI_Comm_connect, MPI_Comm_accept on a handle of
 * endpoints: a mistake in a member's arguments is an error at all, before anything is started.
 * libmpi would return at that member, while the others wait for it.  All else is libmpi's; what it
 * calls is ours again (hook_spawn.c, hook_connect.c).  Where a member has died before, the root of
 * accept or connect tells the other side's.
 *
 * Not hooks: as comm_disconnect.c.  In a program that loaded libmpi first, libmpi's functions are
 * in force.
 *
 * Tests: jobs_endpoints, ulfm_connect
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_connection.h"

#include <string.h>

#include "ompi/errhandler/errhandler.h"
#include "ompi/info/info.h"
#include "ompi/runtime/params.h"

bool mpix_endpoints_call_connects(MPI_Comm comm)
{
    return NULL != comm && MPI_COMM_NULL != comm && !ompi_comm_invalid(comm)
           && OMPI_COMM_IS_INTRA(comm) && mpix_endpoints_is_endpoint_comm(comm);
}

/** All members have the same root, and none has an error.
 *
 * @param[in] error  this member's, an MPI class
 * @return MPI_SUCCESS, or an error to be raised */
static int members_agree(MPI_Comm comm, int root, int error)
{
    const int rc = mpix_endpoints_reduce_same(comm, root, error);

    return MPI_ERR_NOT_SAME == rc ? MPI_ERR_ROOT : rc;
}

static bool is_fault(int rc)
{
    const int class = ompi_errcode_get_mpi_code(rc);

    return MPI_ERR_PROC_FAILED == class || MPI_ERR_REVOKED == class;
}

static int root_check(MPI_Comm comm, int root, const void *newcomm)
{
    if (0 > root || ompi_comm_size(comm) <= root) {
        return MPI_ERR_ROOT;
    }
    return NULL != newcomm ? MPI_SUCCESS : MPI_ERR_ARG;
}

static bool info_is_valid(MPI_Info info)
{
    return NULL != info && !ompi_info_is_freed(info);
}

/** The error class of what the root alone says. */
static int commands_check(int count, char *const *commands, const int *maxprocs,
                          const MPI_Info *infos, MPI_Comm comm)
{
    if (1 > count || NULL == commands || NULL == maxprocs) {
        return MPI_ERR_ARG;
    }
    if (NULL == infos) {
        return MPI_ERR_INFO;
    }
    for (int i = 0; i < count; ++i) {
        bool is_other = false;
        int flag;

        if (!info_is_valid(infos[i])) {
            return MPI_ERR_INFO;
        }
        if (NULL == commands[i] || 0 > maxprocs[i]) {
            return MPI_ERR_ARG;
        }
        /* No MPI programs: libmpi's root says so to nobody. */
        (void) ompi_info_get_bool(infos[i], "ompi_non_mpi", &is_other, &flag);
        if (0 != flag && is_other && 1 < ompi_comm_size(comm)) {
            return MPI_ERR_UNSUPPORTED_OPERATION;
        }
    }
    return MPI_SUCCESS;
}

int mpix_endpoints_call_check_spawn(const char *name, int count, char *const *commands,
                                    const int *maxprocs, const MPI_Info *infos, int root,
                                    MPI_Comm comm, const void *intercomm)
{
    int error = root_check(comm, root, intercomm);

    if (MPI_SUCCESS == error && ompi_comm_rank(comm) == root) {
        error = commands_check(count, commands, maxprocs, infos, comm);
    }
    error = members_agree(comm, root, error);
    OMPI_ERRHANDLER_RETURN(error, comm, error, name);
}

/** Is it what MPI_Open_port gives?  Nobody else opens one, and libmpi would look for it for ten
 * minutes. */
static bool port_is_valid(const char *port)
{
    return NULL != port && NULL != strchr(port, ':')
           && MPI_MAX_PORT_NAME > strnlen(port, MPI_MAX_PORT_NAME);
}

int mpix_endpoints_call_check_connect(bool connects, const char *port, MPI_Info info, int root,
                                      MPI_Comm comm, const void *newcomm)
{
    const char *name = connects ? "MPI_Comm_connect" : "MPI_Comm_accept";
    const bool is_root = ompi_comm_rank(comm) == root;
    int error = root_check(comm, root, newcomm), agreed;

    if (MPI_SUCCESS == error && !info_is_valid(info)) {
        error = MPI_ERR_INFO;
    }
    if (MPI_SUCCESS == error && is_root && !port_is_valid(port)) {
        error = MPI_ERR_PORT;
    }
    agreed = members_agree(comm, root, error);
    if (MPI_SUCCESS == error && is_root && is_fault(agreed)) {
        mpix_endpoints_publish_failed(port, connects);
    }
    OMPI_ERRHANDLER_RETURN(agreed, comm, agreed, name);
}

MPIX_ENDPOINTS_EXPORT MPIX_ENDPOINTS_CONNECTION(
    Comm_spawn,
    (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
     MPI_Comm *intercomm, int errcodes[]),
    (command, argv, maxprocs, info, root, comm, intercomm, errcodes),
    mpix_endpoints_call_check_spawn("MPI_Comm_spawn", 1, (char *const *) &command, &maxprocs, &info,
                                    root, comm, intercomm),
    intercomm);
MPIX_ENDPOINTS_EXPORT MPIX_ENDPOINTS_CONNECTION(
    Comm_spawn_multiple,
    (int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
     int root, MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]),
    (count, commands, argvs, maxprocs, infos, root, comm, intercomm, errcodes),
    mpix_endpoints_call_check_spawn("MPI_Comm_spawn_multiple", count, commands, maxprocs, infos,
                                    root, comm, intercomm),
    intercomm);
MPIX_ENDPOINTS_EXPORT MPIX_ENDPOINTS_CONNECTION(
    Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
    (port, info, root, comm, newcomm),
    mpix_endpoints_call_check_connect(true, port, info, root, comm, newcomm), newcomm);
MPIX_ENDPOINTS_EXPORT MPIX_ENDPOINTS_CONNECTION(
    Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
    (port, info, root, comm, newcomm),
    mpix_endpoints_call_check_connect(false, port, info, root, comm, newcomm), newcomm);
