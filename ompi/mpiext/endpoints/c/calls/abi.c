/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The user's functions in the MPI ABI (MPI 5.0, chapter 20), for programs that mpicc_abi compiles:
 * libmpix_endpoints_abi, which comes before libmpi_abi, as libmpix_endpoints before libmpi.
 *
 * Handles of what users make are the same pointers in both ABIs, predefined ones are small numbers
 * there, and error codes are others: Open MPI's installed header converts them.  All work is done
 * in libmpix_endpoints, which comes along behind libmpi_abi; its functions for Open MPI's ABI are
 * not found there, as these are found first.  MPI_Comm_compare and MPI_Group_compare need nothing:
 * libmpi_abi leaves results alone that it does not know, such as MPIX_ALIASED.
 *
 * Tests: newer (abi), comm_bridge (abi), handles (abi), comm_refused (abi)
 */

#include "mpiext_endpoints_abi.h"
#include "mpiext_endpoints_connection.h"

#include "ompi/communicator/communicator.h"

/* Makes the linker note that libmpi_abi is needed, in front of libmpi, which libmpix_endpoints
 * needs.  A program may not have noted it: it calls only functions of ours, or loads libmpi_abi
 * later.  Then those that stand behind ours would be libmpi's. */
extern int PMPI_Abi_get_version(int *major, int *minor);
EXPORT int (*const mpix_endpoints_abi_needed)(int *major, int *minor) = PMPI_Abi_get_version;

EXPORT int PMPIX_Comm_create_endpoints(abi_comm_t parent, int my_num_ep, abi_info_t info,
                                       abi_comm_t ep_comms[])
{
    /* New handles are what they are in Open MPI's ABI, but for MPI_COMM_NULL. */
    MPI_Comm own = ompi_convert_abi_comm_intern_comm(parent), *comms = (MPI_Comm *) ep_comms;
    const int rc = mpix_endpoints_call_create(own, my_num_ep,
                                              ompi_convert_abi_info_intern_info(info), comms);

    if (MPI_SUCCESS != rc) {
        /* A user's handler leaves the code in the MPI ABI, MPI_ERRORS_RETURN does not. */
        (void) mpix_endpoints_call_create_raise(own, rc);
        return error_to_abi(rc);
    }
    for (int i = 0; i < my_num_ep; ++i) {
        ep_comms[i] = ompi_convert_comm_ompi_to_standard(comms[i]);
    }
    return MPI_SUCCESS;
}

EXPORT int PMPIX_Comm_merge(abi_comm_t comm1, abi_comm_t comm2, abi_comm_t *newcomm)
{
    MPI_Comm own1 = ompi_convert_abi_comm_intern_comm(comm1), own = MPI_COMM_NULL,
             own2 = ompi_convert_abi_comm_intern_comm(comm2);
    const int rc = mpix_endpoints_call_merge(own1, own2, NULL != newcomm ? &own : NULL);

    if (MPI_SUCCESS != rc) {
        (void) mpix_endpoints_call_merge_raise(own1, own2, rc); /* likewise */
        return error_to_abi(rc);
    }
    *newcomm = ompi_convert_comm_ompi_to_standard(own);
    return MPI_SUCCESS;
}

EXPORT int PMPIX_Query_endpoints_support(int *flag)
{
    return error_to_abi(mpix_endpoints_call_query(flag));
}

EXPORT int PMPIX_Endpoints_error_class(void)
{
    return error_to_abi(mpix_endpoints_call_error_class());
}

EXPORT int PMPI_Comm_disconnect(abi_comm_t *comm)
{
    MPI_Comm own = NULL != comm ? ompi_convert_abi_comm_intern_comm(*comm) : NULL;
    int rc;

    if (!mpix_endpoints_call_disconnects(own)) {
        static _Atomic(void *) found;
        int (*original)(abi_comm_t *)
            = (int (*)(abi_comm_t *)) mpix_endpoints_next_function("PMPI_Comm_disconnect", &found);

        return NULL != original ? original(comm) : MPI_ERR_INTERN_ABI_INTERNAL;
    }
    rc = mpix_endpoints_call_disconnect(&own);
    *comm = ompi_convert_comm_ompi_to_standard(own);
    return error_to_abi(rc);
}

EXPORT int PMPI_Request_get_status(abi_request_t request, int *flag, abi_status_t *status)
{
    typedef int (*get_status_fn_t)(abi_request_t, int *, abi_status_t *);
    static _Atomic(void *) found;
    get_status_fn_t original
        = (get_status_fn_t) mpix_endpoints_next_function("PMPI_Request_get_status", &found);

    if (NULL != flag
        && mpix_endpoints_call_is_pending(ompi_convert_abi_request_intern_request(request))) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return NULL != original ? original(request, flag, status) : MPI_ERR_INTERN_ABI_INTERNAL;
}

/** A call of MPI_Comm_split_type. */
typedef struct split_t {
    abi_comm_t comm;
    int split_type, key;
    abi_info_t info;
    abi_comm_t *newcomm;
    bool by_libmpi; /**< what it returns and stores is in the MPI ABI already */
} split_t;

static int split_by_libmpi(void *arguments, int split_type)
{
    typedef int (*split_type_fn_t)(abi_comm_t, int, int, abi_info_t, abi_comm_t *);
    static _Atomic(void *) found;
    split_type_fn_t original
        = (split_type_fn_t) mpix_endpoints_next_function("PMPI_Comm_split_type", &found);
    split_t *call = arguments;

    call->by_libmpi = true;
    if (NULL != call->newcomm) {
        *call->newcomm = MPI_COMM_NULL_ABI_INTERNAL; /* unless the call succeeds */
    }
    /* MPI_UNDEFINED may come in the place of the caller's type. */
    return NULL != original ? original(call->comm,
                                       MPI_UNDEFINED == split_type ? MPI_UNDEFINED_ABI_INTERNAL
                                                                   : call->split_type,
                                       call->key, call->info, call->newcomm)
                            : MPI_ERR_INTERN_ABI_INTERNAL;
}

EXPORT int PMPI_Comm_split_type(abi_comm_t comm, int split_type, int key, abi_info_t info,
                                abi_comm_t *newcomm)
{
    split_t call = {
        .comm = comm, .split_type = split_type, .key = key, .info = info, .newcomm = newcomm};
    MPI_Comm own = MPI_COMM_NULL;
    int type = MPI_UNDEFINED_ABI_INTERNAL == split_type
                   ? MPI_UNDEFINED
                   : ompi_convert_split_type_intern_type(split_type);
    int rc = mpix_endpoints_call_split_type(ompi_convert_abi_comm_intern_comm(comm), type, key,
                                            ompi_convert_abi_info_intern_info(info),
                                            NULL != newcomm ? &own : NULL, split_by_libmpi, &call);

    if (call.by_libmpi) {
        return rc;
    }
    if (NULL != newcomm) {
        *newcomm = ompi_convert_comm_ompi_to_standard(own);
    }
    return error_to_abi(rc);
}

/** @param[in] infos  the root's alone */
static int spawn_check(const char *name, int count, char *const *commands, const int *maxprocs,
                       const abi_info_t *infos, int root, abi_comm_t comm,
                       const abi_comm_t *intercomm)
{
    MPI_Comm own_comm = ompi_convert_abi_comm_intern_comm(comm);
    const bool is_root = 0 < count && NULL != infos && ompi_comm_rank(own_comm) == root;
    MPI_Info own[is_root ? count : 1];

    for (int i = 0; is_root && i < count; ++i) {
        own[i] = ompi_convert_abi_info_intern_info(infos[i]);
    }
    return error_to_abi(mpix_endpoints_call_check_spawn(name, count, commands, maxprocs,
                                                        is_root ? own : NULL, root, own_comm,
                                                        intercomm));
}

static int connect_check(bool connects, const char *port, abi_info_t info, int root,
                         abi_comm_t comm, const abi_comm_t *newcomm)
{
    return error_to_abi(
        mpix_endpoints_call_check_connect(connects, port, ompi_convert_abi_info_intern_info(info),
                                          root, ompi_convert_abi_comm_intern_comm(comm), newcomm));
}

EXPORT MPIX_ENDPOINTS_CONNECTION(Comm_spawn,
                                 (const char *command, char *argv[], int maxprocs, abi_info_t info,
                                  int root, abi_comm_t comm, abi_comm_t *intercomm, int errcodes[]),
                                 (command, argv, maxprocs, info, root, comm, intercomm, errcodes),
                                 spawn_check("MPI_Comm_spawn", 1, (char *const *) &command,
                                             &maxprocs, &info, root, comm, intercomm),
                                 intercomm);
EXPORT MPIX_ENDPOINTS_CONNECTION(
    Comm_spawn_multiple,
    (int count, char *commands[], char **argvs[], const int maxprocs[], const abi_info_t infos[],
     int root, abi_comm_t comm, abi_comm_t *intercomm, int errcodes[]),
    (count, commands, argvs, maxprocs, infos, root, comm, intercomm, errcodes),
    spawn_check("MPI_Comm_spawn_multiple", count, commands, maxprocs, infos, root, comm, intercomm),
    intercomm);
EXPORT MPIX_ENDPOINTS_CONNECTION(Comm_connect,
                                 (const char *port, abi_info_t info, int root, abi_comm_t comm,
                                  abi_comm_t *newcomm),
                                 (port, info, root, comm, newcomm),
                                 connect_check(true, port, info, root, comm, newcomm), newcomm);
EXPORT MPIX_ENDPOINTS_CONNECTION(Comm_accept,
                                 (const char *port, abi_info_t info, int root, abi_comm_t comm,
                                  abi_comm_t *newcomm),
                                 (port, info, root, comm, newcomm),
                                 connect_check(false, port, info, root, comm, newcomm), newcomm);

MPIX_ENDPOINTS_OR_TOOL(Comm_disconnect, PMPI_Comm_disconnect, (abi_comm_t * comm), (comm));
MPIX_ENDPOINTS_OR_TOOL(Request_get_status, PMPI_Request_get_status,
                       (abi_request_t request, int *flag, abi_status_t *status),
                       (request, flag, status));
MPIX_ENDPOINTS_OR_TOOL(Comm_split_type, PMPI_Comm_split_type,
                       (abi_comm_t comm, int split_type, int key, abi_info_t info,
                        abi_comm_t *newcomm),
                       (comm, split_type, key, info, newcomm));

EXPORT WEAK(MPIX_Comm_create_endpoints);
EXPORT WEAK(MPIX_Comm_merge);
EXPORT WEAK(MPIX_Query_endpoints_support);
EXPORT WEAK(MPIX_Endpoints_error_class);
