/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Comm_spawn and MPI_Comm_spawn_multiple on a handle of endpoints: an error, before anything is
 * started.  libmpi starts the processes first and meets them then, which endpoints cannot; the root
 * does so without a word of the communicator.  All other calls are passed on; the info keys about
 * children's endpoints are seen to below libmpi (seam_spawn.c).
 *
 * Not seams: as comm_disconnect.c.  In a program that loaded libmpi first, the error comes when the
 * processes have been started (ompi_dpm_connect_accept).
 *
 * Tests: comm_refused
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_function.h"

#include "ompi/errhandler/errhandler.h"

bool mpix_endpoints_call_refuses_spawn(MPI_Comm comm)
{
    return NULL != comm && MPI_COMM_NULL != comm && !ompi_comm_invalid(comm)
           && OMPI_COMM_IS_INTRA(comm) && mpix_endpoints_is_endpoint_comm(comm);
}

int mpix_endpoints_call_refuse_spawn(MPI_Comm comm, const char *name)
{
    static bool said;

    mpix_endpoints_show_help_once("no spawn", &said);
    return OMPI_ERRHANDLER_INVOKE(comm, MPI_ERR_UNSUPPORTED_OPERATION, name);
}

static int refuse(MPI_Comm comm, MPI_Comm *intercomm, const char *name)
{
    if (NULL != intercomm) {
        *intercomm = MPI_COMM_NULL;
    }
    return mpix_endpoints_call_refuse_spawn(comm, name);
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Comm_spawn)(const char *command, char *argv[],
                                                              int maxprocs, MPI_Info info, int root,
                                                              MPI_Comm comm, MPI_Comm *intercomm,
                                                              int errcodes[])
{
    int (*const original)(const char *, char *[], int, MPI_Info, int, MPI_Comm, MPI_Comm *, int[])
        = MPIX_ENDPOINTS_NEXT(Comm_spawn);

    if (mpix_endpoints_call_refuses_spawn(comm)) {
        return refuse(comm, intercomm, "MPI_Comm_spawn");
    }
    return NULL != original
               ? original(command, argv, maxprocs, info, root, comm, intercomm, errcodes)
               : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Comm_spawn,
                                (const char *command, char *argv[], int maxprocs, MPI_Info info,
                                 int root, MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]),
                                (command, argv, maxprocs, info, root, comm, intercomm, errcodes));

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Comm_spawn_multiple)(
    int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
    int root, MPI_Comm comm, MPI_Comm *intercomm, int errcodes[])
{
    int (*const original)(int, char *[], char **[], const int[], const MPI_Info[], int, MPI_Comm,
                          MPI_Comm *, int[])
        = MPIX_ENDPOINTS_NEXT(Comm_spawn_multiple);

    if (mpix_endpoints_call_refuses_spawn(comm)) {
        return refuse(comm, intercomm, "MPI_Comm_spawn_multiple");
    }
    return NULL != original
               ? original(count, commands, argvs, maxprocs, infos, root, comm, intercomm, errcodes)
               : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Comm_spawn_multiple,
                                (int count, char *commands[], char **argvs[], const int maxprocs[],
                                 const MPI_Info infos[], int root, MPI_Comm comm,
                                 MPI_Comm *intercomm, int errcodes[]),
                                (count, commands, argvs, maxprocs, infos, root, comm, intercomm,
                                 errcodes));
