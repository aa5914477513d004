/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Functions that take more than another communicator: the end of MPI, the parent of a spawned
 * process, freeing what a thread takes for MPI_COMM_WORLD, attributes that are the process's.
 *
 * MPI_Init and its relatives need nothing: that MPI has begun is an error in libmpi.
 *
 * Tests: world_c, world_c (abi)
 */

#include "world.h"

/** Is it one of the two, and the thread's? */
static bool is_own(MPI_Comm comm)
{
    return comm != world_of(comm);
}

/** Both names of a function: without MPI_ in name. */
#define BOTH(name, parameters, arguments, is_own, own)                  \
    WORLD_FUNCTION(int, MPI_##name, parameters, arguments, is_own, own) \
    WORLD_FUNCTION(int, PMPI_##name, parameters, arguments, is_own, own)

/** Of the predefined attributes of MPI_COMM_WORLD two are the process's alone, and may change. */
static MPI_Comm holder_of(MPI_Comm comm, int keyval)
{
    return MPI_COMM_WORLD == comm && (MPI_LASTUSEDCODE == keyval || MPIX_ENDPOINTS == keyval)
               ? comm
               : world_of(comm);
}

static int no_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

BOTH(Comm_free, (MPI_Comm * comm), (comm), NULL != comm && is_own(*comm),
     WORLD_CALL(refuse_free)(world_of(*comm), "MPI_Comm_free"))
BOTH(Comm_disconnect, (MPI_Comm * comm), (comm), NULL != comm && is_own(*comm),
     WORLD_CALL(refuse_free)(world_of(*comm), "MPI_Comm_disconnect"))
BOTH(Comm_get_parent, (MPI_Comm * parent), (parent), NULL != parent && WORLD_CALL(is_other)(),
     no_parent(parent))
BOTH(Finalize, (void), (), WORLD_CALL(refuses_finalize)(), WORLD_CALL(refuse_finalize)())

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
WORLD_FUNCTION(int, MPI_Comm_get_attr, (MPI_Comm comm, int keyval, void *value, int *flag),
               (comm, keyval, value, flag), world_is(comm),
               next_MPI_Comm_get_attr(holder_of(comm, keyval), keyval, value, flag))
WORLD_FUNCTION(int, PMPI_Comm_get_attr, (MPI_Comm comm, int keyval, void *value, int *flag),
               (comm, keyval, value, flag), world_is(comm),
               next_PMPI_Comm_get_attr(holder_of(comm, keyval), keyval, value, flag))
#if !defined(MPIX_WORLD_ABI) /* which does not have it */
WORLD_FUNCTION(int, MPI_Attr_get, (MPI_Comm comm, int keyval, void *value, int *flag),
               (comm, keyval, value, flag), world_is(comm),
               next_MPI_Attr_get(holder_of(comm, keyval), keyval, value, flag))
WORLD_FUNCTION(int, PMPI_Attr_get, (MPI_Comm comm, int keyval, void *value, int *flag),
               (comm, keyval, value, flag), world_is(comm),
               next_PMPI_Attr_get(holder_of(comm, keyval), keyval, value, flag))
#endif

const world_next_t world_special[] = {
#if !defined(MPIX_WORLD_ABI)
    WORLD_ENTRY(MPI_Attr_get),
    WORLD_ENTRY(PMPI_Attr_get),
#endif
    WORLD_ENTRY(MPI_Comm_get_attr),
    WORLD_ENTRY(PMPI_Comm_get_attr),
    WORLD_ENTRY(MPI_Comm_free),
    WORLD_ENTRY(PMPI_Comm_free),
    WORLD_ENTRY(MPI_Comm_disconnect),
    WORLD_ENTRY(PMPI_Comm_disconnect),
    WORLD_ENTRY(MPI_Comm_get_parent),
    WORLD_ENTRY(PMPI_Comm_get_parent),
    WORLD_ENTRY(MPI_Finalize),
    WORLD_ENTRY(PMPI_Finalize),
    {NULL, NULL},
};
