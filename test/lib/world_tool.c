/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A tool of the profiling interface, for world_tools: counts the calls of a thread.
 */

#include <mpi.h>

static _Thread_local int calls;

int world_tool_calls(void)
{
    const int counted = calls;

    calls = 0;
    return counted;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    ++calls;
    return PMPI_Comm_rank(comm, rank);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    ++calls;
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    ++calls;
    return PMPI_Comm_split_type(comm, split_type, key, info, newcomm);
}
