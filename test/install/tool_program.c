/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A program for tool.c: calls what libmpix_endpoints defines in front of libmpi, and MPI_Send, once
 * with MPI_COMM_WORLD and once with an endpoint.  How it begins is its argument: init, thread, or
 * endpoint.
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <stdio.h>
#include <string.h>

/** One process.  comm is freed. */
static void call_all(MPI_Comm comm)
{
    int in = 1, out = 0, flag;
    MPI_Comm split;
    MPI_Request request;

    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, comm);
    MPI_Reduce_scatter_block(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Irecv(&out, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&in, 1, MPI_INT, 0, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &split);
    MPI_Comm_free(&split);
    MPI_Comm_disconnect(&comm);
}

int main(int argc, char **argv)
{
    const char *how = 1 < argc ? argv[1] : "init";
    int level = MPI_THREAD_SINGLE;
    MPIX_Endpoint endpoint;
    MPI_Comm comm;

    if (0 == strcmp(how, "endpoint")) {
        MPIX_Init_endpoint(&argc, &argv, 1, MPI_THREAD_FUNNELED, &endpoint);
    } else if (0 == strcmp(how, "thread")) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Query_thread(&level);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    call_all(comm);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &comm);
    call_all(comm);
    MPI_Finalize();
    return 0;
}
