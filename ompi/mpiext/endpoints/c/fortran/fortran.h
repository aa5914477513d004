/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What Fortran programs call.  The functions themselves are made of fortran/calls.txt, each a call
 * of C's own with handles and integers converted; here is what they have in common.  They hold
 * nothing, and know nothing but the functions that C programs call.
 *
 * Called by programs.  Never keeps an argument's address, and never looks at a handle itself.
 *
 * Below it: calls, static, base.
 */

#ifndef MPIEXT_ENDPOINTS_FORTRAN_H
#define MPIEXT_ENDPOINTS_FORTRAN_H

#include "ompi_config.h"

#include <stdlib.h>

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../calls/calls.h"

BEGIN_C_DECLS

#define MPIX_ENDPOINTS_FORTRAN_NAME(name, of)                                              \
    extern __typeof__(of) pmpix_##name __attribute__((visibility("default"), alias(#of))); \
    extern __typeof__(of) mpix_##name __attribute__((visibility("default"), weak, alias(#of)))

/* For C some of these are macros. */
#define MPIX_ENDPOINTS_FORTRAN_CAPITALS(name, of)                       \
    extern __typeof__(of) pmpix_capitals_##name __asm__("PMPIX_" #name) \
        __attribute__((visibility("default"), alias(#of)));             \
    extern __typeof__(of) mpix_capitals_##name __asm__("MPIX_" #name)   \
        __attribute__((visibility("default"), weak, alias(#of)))

/** What compilers make of a name, as libmpi has it for its own; PMPIX_ twins, of which those under
 * MPIX_ are weak.
 *
 * @param lower, upper  the name behind mpix_
 * @param of            a function of this file, which may be static */
#define MPIX_ENDPOINTS_FORTRAN_NAMES(lower, upper, of) \
    MPIX_ENDPOINTS_FORTRAN_NAME(lower, of);            \
    MPIX_ENDPOINTS_FORTRAN_NAME(lower##_, of);         \
    MPIX_ENDPOINTS_FORTRAN_NAME(lower##__, of);        \
    MPIX_ENDPOINTS_FORTRAN_CAPITALS(upper, of)

/** A handle of module mpi_f08: what a function there returns. */
typedef struct mpix_endpoints_fortran_handle_t {
    MPI_Fint MPI_VAL;
} mpix_endpoints_fortran_handle_t;

/** MPIX_Init_endpoint and its relatives: Fortran has no argc and argv. */
int mpix_endpoints_fortran_init(int count, int level, MPIX_Endpoint endpoints[]);
int mpix_endpoints_fortran_init_endpoints(int count, int requested, int *provided);
int mpix_endpoints_fortran_begin(int *max_endpoints, int *size, int *rank);
int mpix_endpoints_fortran_init_pgas(int flag);

/** The error code, if it is asked for. */
static inline void mpix_endpoints_fortran_end(MPI_Fint *ierror, int code)
{
    if (NULL != ierror) { /* absent, with mpi_f08 */
        *ierror = code;
    }
}

/** A LOGICAL of the compiler that Open MPI was built with. */
static inline MPI_Fint mpix_endpoints_fortran_logical(int flag)
{
    return flag ? OMPI_FORTRAN_VALUE_TRUE : 0;
}

/** Room for handles, as C has them; the caller's, for mpix_endpoints_fortran_free.
 *
 * @return NULL: none are wanted; mpix_endpoints_call_no_room: there is no memory, which the
 *         function in C makes an error of, on all members */
static inline void *mpix_endpoints_fortran_array(MPI_Fint count, size_t size)
{
    void *array = 0 < count ? calloc((size_t) count, size) : NULL;

    return 0 < count && NULL == array ? (void *) mpix_endpoints_call_no_room : array;
}

static inline void mpix_endpoints_fortran_free(void *array)
{
    if (mpix_endpoints_call_no_room != array) {
        free(array);
    }
}

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_FORTRAN_H */
