/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Errors are fatal by default: the run ends with a message that names the function and the error.
 * The runner expects this program to fail and looks at what it prints (see test/run-tests); so it
 * has a main() of its own and no TAP.
 *
 * Guards: pml_epml_create.c, comm_create_endpoints.c, pml_epml_creation.c
 */

#include <mpi.h>
#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#if defined(HAVE_EP)
    MPI_Comm comm = MPI_COMM_NULL;

    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, -1, MPI_INFO_NULL, &comm);
    printf("still here after a fatal error\n");
#endif
    MPI_Finalize();
    return 0;
}
