/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a function of MPI's that is ours stands before: a tool's, or libmpi's own.
 *
 * Standalone: C11 atomics, no Open MPI.
 *
 * Tests: unit/test_hook_next
 */

#ifndef MPIEXT_ENDPOINTS_NEXT_H
#define MPIEXT_ENDPOINTS_NEXT_H

#include <stdatomic.h>
#include <stddef.h>

/**
 * The function of this name in whatever the program loaded behind this library.  Any thread.
 *
 * @param[in,out] found  where the caller keeps the answer, zero at first
 *
 * @return NULL if there is none
 */
void *mpix_endpoints_next_function(const char *name, _Atomic(void *) *found);

/** As an answer that is kept: no tool has the function. */
#define MPIX_ENDPOINTS_NO_TOOL ((void *) -1)

/** See mpix_endpoints_tool_function; searches if nothing is kept.  Several threads may search at
 * once and find the same. */
void *mpix_endpoints_find_tool_function(const char *name, _Atomic(void *) *found);

/**
 * The function of this name in a tool that the program loaded behind this library and in front of
 * libmpi: it was linked so.  A tool in front of this library is called without our doing.
 *
 * @param[in] name       MPI_...
 * @param[in,out] found  where the caller keeps the answer, zero at first
 *
 * @return NULL if there is none
 */
static inline void *mpix_endpoints_tool_function(const char *name, _Atomic(void *) *found)
{
    /* Relaxed: the pointer is all that is passed on. */
    return __builtin_expect(MPIX_ENDPOINTS_NO_TOOL
                                == atomic_load_explicit(found, memory_order_relaxed),
                            1)
               ? NULL
               : mpix_endpoints_find_tool_function(name, found);
}

/**
 * Defines and exports MPI_... for a function of MPI's that is ours as PMPI_...: a tool's, if there
 * is one behind this library, which will call PMPI_...; otherwise ours.  Weak, as a tool in the
 * program may define it, too.
 *
 * @param name        of MPI's, without MPI_
 * @param ours        PMPI_..., or what does the same
 * @param parameters  in parentheses
 * @param arguments   likewise
 */
#define MPIX_ENDPOINTS_OR_TOOL(name, ours, parameters, arguments)                            \
    __attribute__((visibility("default"), weak)) int MPI_##name parameters                   \
    {                                                                                        \
        static _Atomic(void *) found;                                                        \
        __typeof__(&PMPI_##name) const tool                                                  \
            = (__typeof__(&PMPI_##name)) mpix_endpoints_tool_function("MPI_" #name, &found); \
                                                                                             \
        return __builtin_expect(NULL == tool, 1) ? ours arguments : tool arguments;          \
    }                                                                                        \
    extern __typeof__(PMPI_##name) MPI_##name

#endif /* MPIEXT_ENDPOINTS_NEXT_H */
