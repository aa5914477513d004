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
 * MPI_Comm_fromint and MPI_Comm_toint.
 *
 * Tests: ranks_fortran, ranks_mpi
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

enum { FORTRAN_WORLD = 0, FORTRAN_SELF = 1 };

MPIX_RANKS_EXPORT MPI_Comm PMPI_Comm_f2c(MPI_Fint comm)
{
    const mpix_rank_t *rank = mpix_ranks_self;

    if (NULL != rank && FORTRAN_WORLD == comm) {
        return rank->world;
    }
    if (NULL != rank && FORTRAN_SELF == comm) {
        return rank->self;
    }
    return MPIX_RANKS_NEXT(PMPI_Comm_f2c)(comm);
}

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
MPIX_RANKS_EXPORT MPI_Comm PMPI_Comm_fromint(int comm)
{
    return PMPI_Comm_f2c((MPI_Fint) comm);
}

MPIX_RANKS_EXPORT int PMPI_Comm_toint(MPI_Comm comm)
{
    return (int) PMPI_Comm_c2f(comm);
}

MPIX_RANKS_EXPORT __attribute__((weak)) MPI_Comm MPI_Comm_fromint(int comm)
{
    return PMPI_Comm_fromint(comm);
}

MPIX_RANKS_EXPORT __attribute__((weak)) int MPI_Comm_toint(MPI_Comm comm)
{
    return PMPI_Comm_toint(comm);
}
#endif

MPIX_RANKS_EXPORT __attribute__((weak)) MPI_Comm MPI_Comm_f2c(MPI_Fint comm)
{
    return PMPI_Comm_f2c(comm);
}

MPIX_RANKS_EXPORT __attribute__((weak)) MPI_Fint MPI_Comm_c2f(MPI_Comm comm)
{
    return PMPI_Comm_c2f(comm);
}
