/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What would act for the process in place of the rank: other jobs, except parents that know all
 * ranks, and sessions, whose sets of processes are the launcher's.  A text says so, and the call
 * returns an error.
 *
 * Tests: install/ranks
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

#include <stdio.h>

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errhandler.h"

static int refused_call(const mpix_rank_t *rank, const char *function)
{
    char text[256];

    /* At once: fprintf would write pieces of 128 bytes to a stream without a buffer. */
    (void) snprintf(text, sizeof(text),
                    "epmpirun -ranks: rank %d has called %s, which does not work yet where ranks "
                    "are threads; start the program without -ranks\n",
                    rank->number, function);
    (void) fputs(text, stderr);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static int refuse_on(const mpix_rank_t *rank, MPI_Comm comm, const char *function)
{
    const int code = refused_call(rank, function);

    /* An invalid handle has no handler. */
    return OMPI_ERRHANDLER_INVOKE(NULL == comm || MPI_COMM_NULL == comm ? rank->world : comm, code,
                                  function);
}

/** In a spawned process each rank has its own handle if the parents have all endpoints of their
 * children; else they have the process, which is its first rank. */
RANK_FUNCTION(Comm_get_parent, (MPI_Comm * parent), (parent))
{
    const int code = MPIX_RANKS_NEXT(PMPI_Comm_get_parent)(parent);

    if (MPI_SUCCESS != code || MPI_COMM_NULL == *parent || 0 == rank->index
        || NULL != mpix_endpoints_call_parent()) {
        return code;
    }
    *parent = MPI_COMM_NULL;
    (void) fprintf(stderr,
                   "epranks: rank %d has called MPI_Comm_get_parent, and has no parents: they have "
                   "spawned its process without the info key mpix_remote_group, value endpoints\n",
                   rank->number);
    return OMPI_ERRHANDLER_INVOKE(rank->world, MPI_ERR_UNSUPPORTED_OPERATION,
                                  "MPI_Comm_get_parent");
}

RANK_FUNCTION(Comm_spawn,
              (const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
               MPI_Comm comm, MPI_Comm *intercomm, int codes[]),
              (command, argv, maxprocs, info, root, comm, intercomm, codes))
{
    (void) command, (void) argv, (void) maxprocs, (void) info, (void) root, (void) intercomm;
    (void) codes;
    return refuse_on(rank, comm, "MPI_Comm_spawn");
}

RANK_FUNCTION(Comm_spawn_multiple,
              (int count, char *commands[], char **argvs[], const int maxprocs[],
               const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[]),
              (count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes))
{
    (void) count, (void) commands, (void) argvs, (void) maxprocs, (void) infos, (void) root;
    (void) intercomm, (void) codes;
    return refuse_on(rank, comm, "MPI_Comm_spawn_multiple");
}

RANK_FUNCTION(Comm_accept,
              (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
              (port, info, root, comm, newcomm))
{
    (void) port, (void) info, (void) root, (void) newcomm;
    return refuse_on(rank, comm, "MPI_Comm_accept");
}

RANK_FUNCTION(Comm_connect,
              (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
              (port, info, root, comm, newcomm))
{
    (void) port, (void) info, (void) root, (void) newcomm;
    return refuse_on(rank, comm, "MPI_Comm_connect");
}

RANK_FUNCTION(Comm_join, (int fd, MPI_Comm *intercomm), (fd, intercomm))
{
    (void) fd, (void) intercomm;
    return refuse_on(rank, rank->self, "MPI_Comm_join");
}

RANK_FUNCTION(Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session *session),
              (info, handler, session))
{
    const int code = refused_call(rank, "MPI_Session_init");

    (void) info, (void) session;
    return ompi_errhandler_invoke(handler, NULL, OMPI_ERRHANDLER_TYPE_INSTANCE, code,
                                  "MPI_Session_init");
}
