/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A tool of MPI's profiling interface, for tools.t: counts calls, and says how many at the end.
 */

#include <mpi.h>

#include <stdio.h>

enum { ALLREDUCE, DISCONNECT, FREE, SPLIT_TYPE, EXSCAN, INIT, INIT_THREAD, QUERY_THREAD, REDUCE,
       BLOCK, STATUS, SCAN, SEND, CALLS };

static int counts[CALLS];

#define COUNTED(which, name, parameters, arguments) \
    int MPI_##name parameters                       \
    {                                               \
        ++counts[which];                            \
        return PMPI_##name arguments;               \
    }

#define PARAMETERS (const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
#define ARGUMENTS (send, receive, n, type, op, comm)

COUNTED(ALLREDUCE, Allreduce, PARAMETERS, ARGUMENTS)
COUNTED(EXSCAN, Exscan, PARAMETERS, ARGUMENTS)
COUNTED(BLOCK, Reduce_scatter_block, PARAMETERS, ARGUMENTS)
COUNTED(SCAN, Scan, PARAMETERS, ARGUMENTS)
COUNTED(REDUCE, Reduce,
        (const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op, int root,
         MPI_Comm comm),
        (send, receive, n, type, op, root, comm))
COUNTED(DISCONNECT, Comm_disconnect, (MPI_Comm *comm), (comm))
COUNTED(FREE, Comm_free, (MPI_Comm *comm), (comm))
COUNTED(SPLIT_TYPE, Comm_split_type,
        (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm),
        (comm, type, key, info, newcomm))
COUNTED(INIT, Init, (int *argc, char ***argv), (argc, argv))
COUNTED(INIT_THREAD, Init_thread, (int *argc, char ***argv, int required, int *provided),
        (argc, argv, required, provided))
COUNTED(QUERY_THREAD, Query_thread, (int *provided), (provided))
COUNTED(STATUS, Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
        (request, flag, status))
COUNTED(SEND, Send,
        (const void *buffer, int n, MPI_Datatype type, int rank, int tag, MPI_Comm comm),
        (buffer, n, type, rank, tag, comm))

int MPI_Finalize(void)
{
    printf("tool:");
    for (int i = 0; i < CALLS; ++i) {
        printf(" %d", counts[i]);
    }
    printf("\n");
    return PMPI_Finalize();
}
