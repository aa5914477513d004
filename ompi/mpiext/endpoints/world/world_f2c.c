/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Fortran's MPI_COMM_WORLD and MPI_COMM_SELF are the numbers 0 and 1: mpif.h, mpi and mpi_f08 turn
 * them into C's handles by PMPI_Comm_f2c, in Open MPI 5 and 6.  6 has the same numbers in
 * MPI_Comm_fromint.
 *
 * Part of both libmpix_world and libmpix_ranks.
 *
 * Tests: world_c, world_fortran, ranks_fortran, ranks_mpi
 */

#include "ompi_config.h"

#include "mpi.h"

#include "ompi/mpiext/endpoints/c/calls/calls.h"
#include "ompi/mpiext/endpoints/c/calls/mpiext_endpoints_next.h"

enum { FORTRAN_WORLD = 0, FORTRAN_SELF = 1 };

#define EXPORT __attribute__((visibility("default")))

EXPORT MPI_Comm PMPI_Comm_f2c(MPI_Fint comm)
{
    static _Atomic(void *) found;

    if (FORTRAN_WORLD == comm) {
        return mpix_endpoints_call_world();
    }
    if (FORTRAN_SELF == comm) {
        return mpix_endpoints_call_world_self();
    }
    return ((__typeof__(&PMPI_Comm_f2c)) mpix_endpoints_next_function("PMPI_Comm_f2c",
                                                                      &found))(comm);
}

EXPORT __attribute__((weak)) MPI_Comm MPI_Comm_f2c(MPI_Fint comm)
{
    return PMPI_Comm_f2c(comm);
}

#if 6 <= OMPI_MAJOR_VERSION
EXPORT MPI_Comm PMPI_Comm_fromint(int comm)
{
    return PMPI_Comm_f2c((MPI_Fint) comm);
}

EXPORT __attribute__((weak)) MPI_Comm MPI_Comm_fromint(int comm)
{
    return PMPI_Comm_fromint(comm);
}
#endif
