/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A rank's MPI_COMM_WORLD and MPI_COMM_SELF are two handles, which are the numbers 0 and 1 in Fortran.
 * From numbers to handles leads world/world_f2c.c, which is part of this library, too.
 *
 * Tests: ranks_fortran, ranks_mpi
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

enum { FORTRAN_WORLD = 0, FORTRAN_SELF = 1 };

MPIX_RANKS_EXPORT MPI_Fint PMPI_Comm_c2f(MPI_Comm comm)
{
    const mpix_rank_t *rank = mpix_ranks_self;

    if (NULL != rank && rank->world == comm) {
        return FORTRAN_WORLD;
    }
    if (NULL != rank && rank->self == comm) {
        return FORTRAN_SELF;
    }
    return MPIX_RANKS_NEXT(PMPI_Comm_c2f)(comm);
}

#if 6 <= OMPI_MAJOR_VERSION
MPIX_RANKS_EXPORT int PMPI_Comm_toint(MPI_Comm comm)
{
    return (int) PMPI_Comm_c2f(comm);
}

MPIX_RANKS_EXPORT __attribute__((weak)) int MPI_Comm_toint(MPI_Comm comm)
{
    return PMPI_Comm_toint(comm);
}
#endif

MPIX_RANKS_EXPORT __attribute__((weak)) MPI_Fint MPI_Comm_c2f(MPI_Comm comm)
{
    return PMPI_Comm_c2f(comm);
}
