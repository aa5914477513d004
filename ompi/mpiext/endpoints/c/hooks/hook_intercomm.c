/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Intercomm_create: libmpi would exchange the names of procs, which say nothing of an
 * endpoint's addresses, and agree on a table slot.  pml/epml makes the handle instead, if either
 * group is of endpoints.  It has to ask the other side, also for a group of processes: one message
 * between the leaders and a broadcast, on top of what libmpi does.
 *
 * Tests: comm_bridge, comm_inter
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"

/** With a leader that all know to be one. */
static int intercomm_create(const mpix_endpoints_pml_t *table, ompi_communicator_t *local_comm,
                            int local_leader, ompi_communicator_t *bridge, int remote_leader,
                            int tag, ompi_communicator_t **newcomm)
{
    mpix_endpoints_error_t error = MPIX_ENDPOINTS_OK;
    bool served = false;
    int rc = table->intercomm_create(local_comm, local_leader, bridge, remote_leader, tag, newcomm,
                                     &served, &error);

    if (!served) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_intercomm_create)(local_comm, local_leader, bridge,
                                                              remote_leader, tag, newcomm);
    }
    if (OMPI_SUCCESS != rc) {
        return mpix_endpoints_error_code_of(error, rc);
    }
    return OMPI_SUCCESS;
}

int MPIX_ENDPOINTS_HOOK(ompi_intercomm_create)(ompi_communicator_t *local_comm, int local_leader,
                                               ompi_communicator_t *bridge, int remote_leader,
                                               int tag, ompi_communicator_t **newcomm)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();
    bool leader_is_bad = 0 > local_leader || ompi_comm_size(local_comm) <= local_leader;

    if (NULL == table || (leader_is_bad && !mpix_endpoints_is_endpoint_comm(local_comm))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_intercomm_create)(local_comm, local_leader, bridge,
                                                              remote_leader, tag, newcomm);
    }
    *newcomm = MPI_COMM_NULL;
    if (leader_is_bad) {
        return MPI_ERR_RANK; /* on every member: all have to give the same */
    }
    return intercomm_create(table, local_comm, local_leader, bridge, remote_leader, tag, newcomm);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_intercomm_create);
