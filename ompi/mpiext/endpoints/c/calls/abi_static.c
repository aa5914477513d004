/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The static interface in the MPI ABI: as abi.c, of which this is the second part.
 *
 * Endpoints are the same pointers in both ABIs; thread levels are other numbers.
 *
 * Tests: static_world (abi), static_attach (abi), attach_level (abi)
 */

#include "mpiext_endpoints_abi.h"

static int comm_error_to_abi(int (*function)(MPI_Comm, int *, int *), abi_comm_t comm, int *first,
                             int *second)
{
    return error_to_abi(function(ompi_convert_abi_comm_intern_comm(comm), first, second));
}

EXPORT int PMPI_Comm_free(abi_comm_t *comm)
{
    typedef int (*comm_free_fn_t)(abi_comm_t *);
    static _Atomic(void *) found;
    comm_free_fn_t original = (comm_free_fn_t) mpix_endpoints_next_function("PMPI_Comm_free",
                                                                            &found);
    MPI_Comm own = NULL != comm ? ompi_convert_abi_comm_intern_comm(*comm) : NULL;

    if (mpix_endpoints_call_keeps(own)) {
        return error_to_abi(mpix_endpoints_call_refuse_free(own, "MPI_Comm_free"));
    }
    return NULL != original ? original(comm) : MPI_ERR_INTERN_ABI_INTERNAL;
}

EXPORT int PMPI_Comm_get_parent(abi_comm_t *parent)
{
    typedef int (*get_parent_fn_t)(abi_comm_t *);
    static _Atomic(void *) found;
    get_parent_fn_t original
        = (get_parent_fn_t) mpix_endpoints_next_function("PMPI_Comm_get_parent", &found);
    const MPI_Comm own = mpix_endpoints_call_parent();

    if (NULL != parent && NULL != own) {
        *parent = ompi_convert_comm_ompi_to_standard(own);
        return MPI_SUCCESS;
    }
    return NULL != original ? original(parent) : MPI_ERR_INTERN_ABI_INTERNAL;
}

/* ---- threads --------------------------------------------------------------------------------- */

EXPORT int PMPIX_Thread_attach(struct mpix_endpoint_t *endpoint)
{
    return error_to_abi(mpix_endpoints_call_attach(endpoint));
}

EXPORT int PMPIX_Thread_attach_level(struct mpix_endpoint_t *endpoint, int required)
{
    return error_to_abi(mpix_endpoints_call_attach_level(endpoint, level_from_abi(required)));
}

EXPORT int PMPIX_Thread_detach(void)
{
    return error_to_abi(mpix_endpoints_call_detach());
}

EXPORT int PMPIX_Thread_attach_index(int index)
{
    return error_to_abi(mpix_endpoints_call_attach_index(index));
}

EXPORT int PMPIX_Thread_attach_rank(int rank, abi_comm_t comm)
{
    return error_to_abi(mpix_endpoints_call_attach_rank(rank,
                                                        ompi_convert_abi_comm_intern_comm(comm)));
}

EXPORT abi_comm_t PMPIX_Comm_endpoints(void)
{
    return ompi_convert_comm_ompi_to_standard(mpix_endpoints_call_comm_endpoints());
}

EXPORT abi_comm_t PMPIX_Comm_process(void)
{
    return ompi_convert_comm_ompi_to_standard(mpix_endpoints_call_comm_process());
}

EXPORT abi_comm_t PMPIX_Comm_self(void)
{
    return ompi_convert_comm_ompi_to_standard(mpix_endpoints_call_comm_self());
}

EXPORT int PMPIX_Comm_world_set(abi_comm_t world)
{
    return error_to_abi(mpix_endpoints_call_world_set(ompi_convert_abi_comm_intern_comm(world)));
}

/** A function with one handle as its result, of own; NULL where the user has given none. */
static int comm_to_abi(int code, MPI_Comm own, abi_comm_t *result)
{
    if (MPI_SUCCESS == code) {
        *result = ompi_convert_comm_ompi_to_standard(own);
    }
    return error_to_abi(code);
}

EXPORT int PMPIX_Comm_world_get(abi_comm_t *world)
{
    MPI_Comm own = MPI_COMM_NULL;
    const int code = mpix_endpoints_call_world_get(NULL != world ? &own : NULL);

    return comm_to_abi(code, own, world);
}

EXPORT int PMPIX_Comm_endpoint_attach(abi_comm_t comm)
{
    return error_to_abi(
        mpix_endpoints_call_endpoint_attach(ompi_convert_abi_comm_intern_comm(comm)));
}

EXPORT int PMPIX_Comm_mine(abi_comm_t comm, abi_comm_t *mine)
{
    MPI_Comm own = MPI_COMM_NULL;
    const int code = mpix_endpoints_call_mine(ompi_convert_abi_comm_intern_comm(comm),
                                              NULL != mine ? &own : NULL);

    return comm_to_abi(code, own, mine);
}

/* ---- attributes ------------------------------------------------------------------------------ */

EXPORT int PMPIX_Endpoint_create_keyval(int *keyval)
{
    return error_to_abi(mpix_endpoints_call_create_keyval(keyval));
}

EXPORT int PMPIX_Endpoint_free_keyval(int *keyval)
{
    const int code = mpix_endpoints_call_free_keyval(keyval);

    if (MPI_SUCCESS == code) {
        *keyval = MPI_KEYVAL_INVALID_ABI_INTERNAL;
    }
    return error_to_abi(code);
}

EXPORT int PMPIX_Endpoint_set_attr(struct mpix_endpoint_t *endpoint, int keyval, void *value)
{
    return error_to_abi(mpix_endpoints_call_set_attr(endpoint, keyval, value));
}

/** A thread level, as an attribute has it: values of attributes are addresses. */
static const int *level_attribute_to_abi(const int *level)
{
    static const int levels[] = {
        [MPI_THREAD_SINGLE] = MPI_THREAD_SINGLE_ABI_INTERNAL,
        [MPI_THREAD_FUNNELED] = MPI_THREAD_FUNNELED_ABI_INTERNAL,
        [MPI_THREAD_SERIALIZED] = MPI_THREAD_SERIALIZED_ABI_INTERNAL,
        [MPI_THREAD_MULTIPLE] = MPI_THREAD_MULTIPLE_ABI_INTERNAL,
    };

    return &levels[*level];
}

EXPORT int PMPIX_Endpoint_get_attr(struct mpix_endpoint_t *endpoint, int keyval, void *value,
                                   int *flag)
{
    const int code = mpix_endpoints_call_get_attr(endpoint, keyval, value, flag);
    const int **level = value;

    if (MPI_SUCCESS == code && 0 != *flag && mpix_endpoints_call_is_level(keyval)) {
        *level = level_attribute_to_abi(*level);
    }
    return error_to_abi(code);
}

EXPORT int PMPIX_Endpoint_delete_attr(struct mpix_endpoint_t *endpoint, int keyval)
{
    return error_to_abi(mpix_endpoints_call_delete_attr(endpoint, keyval));
}

/* ---- numbers --------------------------------------------------------------------------------- */

EXPORT int PMPIX_Comm_num_endpoints(abi_comm_t comm, int *num_ep, int *index)
{
    return comm_error_to_abi(mpix_endpoints_call_num_endpoints, comm, num_ep, index);
}

EXPORT int PMPIX_Query_endpoints_number(abi_comm_t parent, int *optimal, int *maximum)
{
    return comm_error_to_abi(mpix_endpoints_call_number, parent, optimal, maximum);
}

EXPORT int PMPIX_Query_endpoints_told(int *number, int *thread_level)
{
    const int code = mpix_endpoints_call_told(number, thread_level);

    if (MPI_SUCCESS == code && 0 <= *thread_level) {
        *thread_level = level_to_abi(*thread_level);
    }
    return error_to_abi(code);
}

EXPORT int PMPIX_Endpoints_keyval(void)
{
    return ompi_convert_attr_key_ompi_to_standard(mpix_endpoints_call_keyval());
}

MPIX_ENDPOINTS_OR_TOOL(Comm_free, PMPI_Comm_free, (abi_comm_t * comm), (comm));
MPIX_ENDPOINTS_OR_TOOL(Comm_get_parent, PMPI_Comm_get_parent, (abi_comm_t * parent), (parent));

EXPORT WEAK(MPIX_Thread_attach);
EXPORT WEAK(MPIX_Thread_attach_level);
EXPORT WEAK(MPIX_Thread_detach);
EXPORT WEAK(MPIX_Thread_attach_index);
EXPORT WEAK(MPIX_Thread_attach_rank);
EXPORT WEAK(MPIX_Comm_endpoints);
EXPORT WEAK(MPIX_Comm_process);
EXPORT WEAK(MPIX_Comm_self);
EXPORT WEAK(MPIX_Comm_world_set);
EXPORT WEAK(MPIX_Comm_world_get);
EXPORT WEAK(MPIX_Comm_endpoint_attach);
EXPORT WEAK(MPIX_Comm_mine);
EXPORT WEAK(MPIX_Endpoint_create_keyval);
EXPORT WEAK(MPIX_Endpoint_free_keyval);
EXPORT WEAK(MPIX_Endpoint_set_attr);
EXPORT WEAK(MPIX_Endpoint_get_attr);
EXPORT WEAK(MPIX_Endpoint_delete_attr);
EXPORT WEAK(MPIX_Comm_num_endpoints);
EXPORT WEAK(MPIX_Query_endpoints_number);
EXPORT WEAK(MPIX_Query_endpoints_told);
EXPORT WEAK(MPIX_Endpoints_keyval);
