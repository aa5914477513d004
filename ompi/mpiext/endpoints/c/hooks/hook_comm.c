/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * New communicators: libmpi asks for a context id, then puts the communicator to use.  For endpoints
 * the PML does both (its layer cid).
 *
 * Tests: comm_ops
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"

/** Has this group members that no launcher knows? */
static bool group_has_endpoints(ompi_group_t *group)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    for (int i = 0; i < group->grp_proc_count; ++i) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);

        if (table->is_endpoint_name(&name)) {
            return true;
        }
    }
    return false;
}

/**
 * A communicator out of a group alone (MPI_Comm_create_from_group): libmpi agrees through the
 * launcher, which has never heard of endpoints and would wait for them forever.
 */
static bool hook_refuses_group(const ompi_communicator_t *newcomm, const ompi_communicator_t *comm)
{
    return NULL == comm && NULL != mpix_endpoints_table()
           && (group_has_endpoints(newcomm->c_local_group)
               || (OMPI_COMM_IS_INTER(newcomm) && group_has_endpoints(newcomm->c_remote_group)));
}

int MPIX_ENDPOINTS_HOOK(ompi_comm_nextcid)(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                                           ompi_communicator_t *bridgecomm, const void *arg0,
                                           const void *arg1, bool send_first, int mode)
{
    if (OPAL_UNLIKELY(hook_refuses_group(newcomm, comm))) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_nextcid)(newcomm, comm, bridgecomm, arg0, arg1,
                                                          send_first, mode);
    }
    return mpix_endpoints_table()->comm_nextcid(newcomm, comm, arg0, mode);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_nextcid);

int MPIX_ENDPOINTS_HOOK(ompi_comm_nextcid_nb)(ompi_communicator_t *newcomm,
                                              ompi_communicator_t *comm,
                                              ompi_communicator_t *bridgecomm, const void *arg0,
                                              const void *arg1, bool send_first, int mode,
                                              ompi_request_t **request_p)
{
    if (OPAL_UNLIKELY(hook_refuses_group(newcomm, comm))) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_nextcid_nb)(newcomm, comm, bridgecomm, arg0, arg1,
                                                             send_first, mode, request_p);
    }
    return mpix_endpoints_table()->comm_nextcid_nb(newcomm, comm, mode, request_p);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_nextcid_nb);

int MPIX_ENDPOINTS_HOOK(ompi_comm_activate)(ompi_communicator_t **newcomm,
                                            ompi_communicator_t *comm,
                                            ompi_communicator_t *bridgecomm, const void *arg0,
                                            const void *arg1, bool send_first, int mode)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate)(newcomm, comm, bridgecomm, arg0, arg1,
                                                           send_first, mode);
    }
    return mpix_endpoints_table()->comm_activate(newcomm, comm, bridgecomm, arg0, arg1, send_first,
                                                 mode);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_activate);

int MPIX_ENDPOINTS_HOOK(ompi_comm_activate_nb)(ompi_communicator_t **newcomm,
                                               ompi_communicator_t *comm,
                                               ompi_communicator_t *bridgecomm, const void *arg0,
                                               const void *arg1, bool send_first, int mode,
                                               ompi_request_t **request)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate_nb)(newcomm, comm, bridgecomm, arg0, arg1,
                                                              send_first, mode, request);
    }
    return mpix_endpoints_table()->comm_activate_nb(newcomm, comm, bridgecomm, arg0, arg1,
                                                    send_first, mode, request);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_activate_nb);

MPIX_ENDPOINTS_EXPORT int mpix_endpoints_libmpi_comm_activate_nb(
    ompi_communicator_t **newcomm, ompi_communicator_t *comm, ompi_communicator_t *bridgecomm,
    const void *arg0, const void *arg1, bool send_first, int mode, ompi_request_t **request)
{
    return MPIX_ENDPOINTS_ORIGINAL(ompi_comm_activate_nb)(newcomm, comm, bridgecomm, arg0, arg1,
                                                          send_first, mode, request);
}
