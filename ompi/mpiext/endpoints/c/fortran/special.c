/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Of what Fortran programs call, the part that is not made of fortran/calls.txt.
 *
 * Tests: fortran_calls (f08, mpi, mpifh), install/fortran
 */

#include "ompi_config.h"

#include "fortran.h"

int mpix_endpoints_fortran_init(int count, int level, MPIX_Endpoint endpoints[])
{
    return PMPIX_Init_endpoint(NULL, NULL, count, level, endpoints);
}

int mpix_endpoints_fortran_init_endpoints(int count, int requested, int *provided)
{
    return PMPIX_Init_endpoints(NULL, NULL, count, requested, provided);
}

int mpix_endpoints_fortran_begin(int *max_endpoints, int *size, int *rank)
{
    return PMPIX_Init_endpoint_begin(NULL, NULL, max_endpoints, size, rank);
}

int mpix_endpoints_fortran_init_pgas(int flag)
{
    return PMPIX_Init_UPCMPI(NULL, NULL, flag);
}

/* ---- operators == and /= of type(MPIX_Endpoint) ---------------------------------------------- */

static MPI_Fint is_equal(const MPI_Fint *one, const MPI_Fint *other)
{
    return mpix_endpoints_fortran_logical(*one == *other);
}

static MPI_Fint is_unequal(const MPI_Fint *one, const MPI_Fint *other)
{
    return mpix_endpoints_fortran_logical(*one != *other);
}

MPIX_ENDPOINTS_FORTRAN_NAMES(endpoint_eq_f08, ENDPOINT_EQ_F08, is_equal);
MPIX_ENDPOINTS_FORTRAN_NAMES(endpoint_ne_f08, ENDPOINT_NE_F08, is_unequal);
