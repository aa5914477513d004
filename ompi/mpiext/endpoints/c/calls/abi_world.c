/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What libmpix_world_abi asks, in the MPI ABI: as abi.c, of which this is the fourth part.  It is what
 * libmpix_world asks in Open MPI's own (calls.h), with handles and codes converted; world/world.h
 * declares it.
 *
 * Tests: world_c (abi), world_tools (abi)
 */

#include "mpiext_endpoints_abi.h"

EXPORT void mpix_endpoints_abi_world_begin(bool if_asp, void (*error)(const char *function))
{
    mpix_endpoints_call_world_begin(if_asp, error);
}

EXPORT abi_comm_t mpix_endpoints_abi_world(void)
{
    return ompi_convert_comm_ompi_to_standard(mpix_endpoints_call_world());
}

EXPORT abi_comm_t mpix_endpoints_abi_world_self(void)
{
    return ompi_convert_comm_ompi_to_standard(mpix_endpoints_call_world_self());
}

EXPORT bool mpix_endpoints_abi_is_other(void)
{
    return mpix_endpoints_call_is_other();
}

EXPORT int mpix_endpoints_abi_refuse_free(abi_comm_t comm, const char *name)
{
    return error_to_abi(
        mpix_endpoints_call_refuse_free(ompi_convert_abi_comm_intern_comm(comm), name));
}

EXPORT bool mpix_endpoints_abi_refuses_finalize(void)
{
    return mpix_endpoints_call_refuses_finalize();
}

EXPORT int mpix_endpoints_abi_refuse_finalize(void)
{
    return error_to_abi(mpix_endpoints_call_refuse_finalize());
}
