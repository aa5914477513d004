/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libmpix_world: MPI_COMM_WORLD and MPI_COMM_SELF are the calling thread's, in all code of a program,
 * also in libraries that were compiled without us.  It is linked before libmpix_endpoints (epmpicc
 * -world) or loaded before the program (epmpirun -world), and stands before each function of MPI's
 * that takes a communicator (wrappers.awk makes these) or is about the process otherwise
 * (world_special.c, world_f2c.c), under both its names: programs call MPI_..., libmpi's Fortran and
 * tools PMPI_....
 *
 * A function calls the next one of its own name, so a tool that stands behind sees each call once.
 *
 * What a thread's world is libmpix_endpoints knows (c/calls/comm_world.c).
 *
 * The same text, compiled with MPIX_WORLD_ABI and the MPI ABI's mpi.h, is libmpix_world_abi, for programs
 * of mpicc_abi (Open MPI 6): MPI_COMM_WORLD is a number there.  It asks libmpix_endpoints_abi
 * (c/calls/abi_world.c).  It has no Fortran: MPI_Comm_fromint returns the number, which is
 * replaced where it is used.
 */

#ifndef MPIX_WORLD_H
#define MPIX_WORLD_H

#if !defined(MPIX_WORLD_ABI)
#    include "ompi_config.h"

#    include "mpi.h"

#    include "ompi/mpiext/endpoints/c/calls/calls.h"
#else
#    include <mpi.h>
#    include <stdbool.h>
#    include <stddef.h>
#endif

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"

#define WORLD_EXPORT __attribute__((visibility("default")))

/* ---- what is asked ------------------------------------------------------------------------------- */

/** A function of calls.h, in the ABI that this is compiled for. */
#if !defined(MPIX_WORLD_ABI)
#    define WORLD_CALL(name) mpix_endpoints_call_##name
#else
#    define WORLD_CALL(name) mpix_endpoints_abi_##name

void WORLD_CALL(world_begin)(bool if_asp, void (*error)(const char *function));
MPI_Comm WORLD_CALL(world)(void);
MPI_Comm WORLD_CALL(world_self)(void);
bool WORLD_CALL(is_other)(void);
int WORLD_CALL(refuse_free)(MPI_Comm comm, const char *name);
bool WORLD_CALL(refuses_finalize)(void);
int WORLD_CALL(refuse_finalize)(void);
#endif

/* ---- wrappers ------------------------------------------------------------------------------------ */

/** May a communicator be another one in the calling thread?  All that a call with others costs: two
 * comparisons. */
static inline bool world_is(MPI_Comm comm)
{
    return __builtin_expect(MPI_COMM_WORLD == comm, 0)
           || __builtin_expect(MPI_COMM_SELF == comm, 0);
}

/** A communicator as the calling thread means it. */
static inline MPI_Comm world_of(MPI_Comm comm)
{
    return MPI_COMM_WORLD == comm  ? WORLD_CALL(world)()
           : MPI_COMM_SELF == comm ? WORLD_CALL(world_self)()
                                   : comm;
}

/** A function of ours, and where the next one of its name is kept; the table ends with a NULL. */
typedef struct world_next_t {
    const char *name;
    void *next;
} world_next_t;

extern const world_next_t world_wrappers[]; /**< wrappers.c */
extern const world_next_t world_special[];  /**< world_special.c */

/** Find all next functions.  Once, when the library is loaded, or earlier, where another one's
 * constructor calls MPI; so before there are threads. */
void world_find(void);

/**
 * Declares next_NAME, which is called as NAME is.
 *
 * @param type        of the result
 * @param parameters  in parentheses
 * @param arguments   likewise
 */
#define WORLD_NEXT(type, name, parameters, arguments)    \
    static type first_##name parameters;                 \
    static type(*next_##name) parameters = first_##name; \
    static type first_##name parameters                  \
    {                                                    \
        world_find();                                    \
        return next_##name arguments;                    \
    }

/** Defines NAME: where is_own, it does what own says; otherwise it goes on to the next one, by a
 * jump that leaves all arguments where they are. */
#define WORLD_FUNCTION(type, name, parameters, arguments, is_own, own)  \
    WORLD_NEXT(type, name, parameters, arguments)                       \
    __attribute__((noinline)) static type own_##name parameters         \
    {                                                                   \
        return own;                                                     \
    }                                                                   \
    WORLD_EXPORT type name parameters                                   \
    {                                                                   \
        return (is_own) ? own_##name arguments : next_##name arguments; \
    }

#define WORLD_ENTRY(name)   \
    {                       \
#        name, &next_##name \
    }

#endif /* MPIX_WORLD_H */
