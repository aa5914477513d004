/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the functions of MPI's that connect jobs have in common: MPI_Comm_spawn,
 * MPI_Comm_spawn_multiple, MPI_Comm_connect and MPI_Comm_accept, in Open MPI's ABI (comm_spawn.c)
 * and in the MPI ABI (abi.c, which includes mpiext_endpoints_abi.h before).
 */

#ifndef MPIEXT_ENDPOINTS_CONNECTION_H
#define MPIEXT_ENDPOINTS_CONNECTION_H

#include "calls.h"
#include "mpiext_endpoints_function.h"

/* In the ABI of the file that includes this: Open MPI's handle, MPI_COMM_NULL, MPI_ERR_INTERN. */
#if defined(MPIEXT_ENDPOINTS_ABI_H)
#    define CONNECTION_COMM(comm) ompi_convert_abi_comm_intern_comm(comm)
#    define CONNECTION_NULL MPI_COMM_NULL_ABI_INTERNAL
#    define CONNECTION_INTERN MPI_ERR_INTERN_ABI_INTERNAL
#else
#    define CONNECTION_COMM(comm) (comm)
#    define CONNECTION_NULL MPI_COMM_NULL
#    define CONNECTION_INTERN MPI_ERR_INTERN
#endif

/**
 * Defines a function that lets its members agree on their arguments, then calls libmpi's.
 *
 * @param name        of MPI's, without MPI_
 * @param parameters  in parentheses; the communicator is comm
 * @param arguments   likewise
 * @param check       called for a handle of endpoints.  MPI_SUCCESS: libmpi's follows; otherwise
 *                    the function returns it
 * @param newcomm     where the handle goes
 */
#define MPIX_ENDPOINTS_CONNECTION(name, parameters, arguments, check, newcomm) \
    int MPIX_ENDPOINTS_FUNCTION(name) parameters                               \
    {                                                                          \
        int(*const original) parameters = MPIX_ENDPOINTS_NEXT(name);           \
        int rc;                                                                \
                                                                               \
        if (mpix_endpoints_call_connects(CONNECTION_COMM(comm))) {             \
            rc = check;                                                        \
            if (MPI_SUCCESS != rc) {                                           \
                if (NULL != (newcomm)) {                                       \
                    *(newcomm) = CONNECTION_NULL;                              \
                }                                                              \
                return rc;                                                     \
            }                                                                  \
        }                                                                      \
        return NULL != original ? original arguments : CONNECTION_INTERN;      \
    }                                                                          \
                                                                               \
    MPIX_ENDPOINTS_FUNCTION_DEFINED(name, parameters, arguments)

#endif /* MPIEXT_ENDPOINTS_CONNECTION_H */
