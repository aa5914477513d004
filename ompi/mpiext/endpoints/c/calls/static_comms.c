/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The communicators that are there from the beginning: which ones the calling thread's are, that
 * with its parents included, and that a program cannot free the others.
 *
 * MPI_Comm_free is no hook: as comm_disconnect.c.  In a program that loaded libmpi first, Open
 * MPI's is in force, and frees them.
 *
 * Tests: static_world, jobs_all
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"
#include "mpiext_endpoints_function.h"

#include "ompi/errhandler/errhandler.h"

MPI_Comm mpix_endpoints_call_comm_endpoints(void)
{
    return mpix_endpoints_attached()->endpoints;
}

MPI_Comm mpix_endpoints_call_comm_process(void)
{
    return mpix_endpoints_attached()->process;
}

MPI_Comm mpix_endpoints_call_comm_self(void)
{
    return mpix_endpoints_attached()->self;
}

bool mpix_endpoints_call_keeps(MPI_Comm comm)
{
    return NULL != comm && !ompi_comm_invalid(comm) && mpix_endpoints_process_owns(comm);
}

int mpix_endpoints_call_refuse_free(MPI_Comm comm, const char *name)
{
    return OMPI_ERRHANDLER_INVOKE(comm, MPI_ERR_COMM, name);
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Comm_free)(MPI_Comm *comm)
{
    int (*const original)(MPI_Comm *) = MPIX_ENDPOINTS_NEXT(Comm_free);

    if (OPAL_UNLIKELY(NULL != comm && mpix_endpoints_call_keeps(*comm))) {
        return mpix_endpoints_call_refuse_free(*comm, "MPI_Comm_free");
    }
    if (NULL != comm) {
        mpix_endpoints_bound_end(*comm);
    }
    return NULL != original ? original(comm) : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Comm_free, (MPI_Comm * comm), (comm));

MPI_Comm mpix_endpoints_call_parent(void)
{
    return NULL != mpix_endpoints_parent_of(&mpix_endpoints_none)
               ? mpix_endpoints_parent_of(mpix_endpoints_attached())
               : NULL;
}

MPIX_ENDPOINTS_EXPORT int MPIX_ENDPOINTS_FUNCTION(Comm_get_parent)(MPI_Comm *parent)
{
    int (*const original)(MPI_Comm *) = MPIX_ENDPOINTS_NEXT(Comm_get_parent);
    const MPI_Comm own = mpix_endpoints_call_parent();

    if (NULL != parent && NULL != own) {
        *parent = own;
        return MPI_SUCCESS;
    }
    return NULL != original ? original(parent) : MPI_ERR_INTERN;
}

MPIX_ENDPOINTS_FUNCTION_DEFINED(Comm_get_parent, (MPI_Comm * parent), (parent));

MPIX_ENDPOINTS_EXPORT MPI_Comm PMPIX_Comm_endpoints(void)
    __attribute__((alias("mpix_endpoints_call_comm_endpoints")));
MPIX_ENDPOINTS_EXPORT MPI_Comm MPIX_Comm_endpoints(void)
    __attribute__((weak, alias("mpix_endpoints_call_comm_endpoints")));

MPIX_ENDPOINTS_EXPORT MPI_Comm PMPIX_Comm_process(void)
    __attribute__((alias("mpix_endpoints_call_comm_process")));
MPIX_ENDPOINTS_EXPORT MPI_Comm MPIX_Comm_process(void)
    __attribute__((weak, alias("mpix_endpoints_call_comm_process")));

MPIX_ENDPOINTS_EXPORT MPI_Comm PMPIX_Comm_self(void)
    __attribute__((alias("mpix_endpoints_call_comm_self")));
MPIX_ENDPOINTS_EXPORT MPI_Comm MPIX_Comm_self(void)
    __attribute__((weak, alias("mpix_endpoints_call_comm_self")));
