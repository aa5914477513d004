/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI functions that ours stand before, for calls of programs: no hooks, which are for calls of
 * libmpi.
 */

#ifndef MPIEXT_ENDPOINTS_FUNCTION_H
#define MPIEXT_ENDPOINTS_FUNCTION_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "mpiext_endpoints_next.h"

BEGIN_C_DECLS

/**
 * MPIX_ENDPOINTS_FUNCTION is the name under which ours is defined, and MPIX_ENDPOINTS_NEXT libmpi's
 * own, or NULL if there is none (libmpi's own is in force then, and nothing calls ours).
 * MPIX_ENDPOINTS_FUNCTION_DEFINED stands behind each, with its parameters and arguments, both in
 * parentheses.
 *
 * A program calls MPI_..., which is a tool's where there is one; a tool calls PMPI_..., which is
 * ours.  As part of libmpi, whose MPI_ names are weak, ours has the MPI_ name and libmpi's keeps
 * the other: there a tool that calls PMPI_... itself gets libmpi's own.
 */
#if EP_IN_TREE
#    define MPIX_ENDPOINTS_FUNCTION(name) MPI_##name
#    define MPIX_ENDPOINTS_NEXT(name) (&PMPI_##name)
/* In an archive libmpi's weak definition is enough for the linker: it takes ours along because
 * register.c wants this. */
#    define MPIX_ENDPOINTS_FUNCTION_DEFINED(name, parameters, arguments) \
        const char mpix_endpoints_has_##name = 1
extern const char mpix_endpoints_has_Buffer_attach, mpix_endpoints_has_Buffer_detach,
    mpix_endpoints_has_Comm_accept, mpix_endpoints_has_Comm_connect,
    mpix_endpoints_has_Comm_disconnect, mpix_endpoints_has_Comm_free,
    mpix_endpoints_has_Comm_get_parent, mpix_endpoints_has_Comm_spawn,
    mpix_endpoints_has_Comm_spawn_multiple, mpix_endpoints_has_Comm_split_type,
    mpix_endpoints_has_Finalize, mpix_endpoints_has_Init, mpix_endpoints_has_Init_thread,
    mpix_endpoints_has_Initialized, mpix_endpoints_has_Is_thread_main,
    mpix_endpoints_has_Query_thread, mpix_endpoints_has_Request_get_status,
    mpix_endpoints_has_Win_allocate, mpix_endpoints_has_Win_allocate_shared,
    mpix_endpoints_has_Win_create, mpix_endpoints_has_Win_create_dynamic;
#else
#    define MPIX_ENDPOINTS_FUNCTION(name) PMPI_##name
#    define MPIX_ENDPOINTS_NEXT(name)                                                       \
        (__extension__({                                                                    \
            static _Atomic(void *) found;                                                   \
            (__typeof__(&PMPI_##name)) mpix_endpoints_next_function("PMPI_" #name, &found); \
        }))

#    define MPIX_ENDPOINTS_FUNCTION_DEFINED(name, parameters, arguments) \
        MPIX_ENDPOINTS_OR_TOOL(name, PMPI_##name, parameters, arguments)
#endif

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_FUNCTION_H */
