/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What build.t compiles in every way there is, as C and as C++: has it the right header, and does
 * the library stand before libmpi?  That is where MPIX_COMM_TYPE_ADDRESS_SPACE is known. */

#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm ep[2], mine = MPI_COMM_NULL;
    int level, flag = 0, size = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPIX_Query_endpoints_support(&flag);
    MPIX_Comm_create_endpoints(MPI_COMM_SELF, 2, MPI_INFO_NULL, ep);
    MPI_Comm_size(ep[1], &size);
    MPI_Comm_free(&ep[0]);
    MPI_Comm_free(&ep[1]);
    MPI_Comm_split_type(MPI_COMM_SELF, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL, &mine);
    printf("support %d, size %d, before %d\n", flag, size, MPI_COMM_NULL != mine);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return 0;
}
