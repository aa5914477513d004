/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Handles that Open MPI did not make: communicators of endpoints put together from lists of peers,
 * without a message.
 *
 * Tests: create, comm_bridge
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_handle.h"

#include "ompi/attribute/attribute.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"

/** Let Open MPI choose the communicator's collectives. */
static int select_coll(ompi_communicator_t *comm)
{
    int rc = mca_coll_base_comm_select(comm);

    if (OMPI_SUCCESS == rc) {
        return rc;
    }
    EPML_SHOW_HELP("no collectives", true,
                   NULL != mca_pml_epml_component.coll_components
                       ? mca_pml_epml_component.coll_components
                       : "");
    /* Where no component will do, Open MPI makes no list of modules, and then looks into it. */
    if (NULL != comm->c_coll && NULL == comm->c_coll->module_list) {
        comm->c_coll->module_list = OBJ_NEW(opal_list_t);
    }
    return OMPI_ERR_NOT_AVAILABLE;
}

/** Give a communicator with groups its place, our state and its collectives; releases it if that
 * fails. */
static int handle_finish(ompi_communicator_t *comm, mca_pml_epml_ep_t *ep, uint64_t context,
                         mca_pml_epml_peers_t *peers, mca_pml_epml_peers_t *local)
{
    int rc = mca_pml_epml_comm_place(comm, context);

    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_comm_attach(comm, ep, context, peers, local);
    }
    if (OMPI_SUCCESS == rc) {
        OMPI_COMM_SET_PML_ADDED(comm);
        rc = mca_pml_epml_comm_furnish(comm);
    }
    if (OMPI_SUCCESS == rc) {
        rc = select_coll(comm);
    }
    if (OMPI_SUCCESS != rc) {
        OBJ_RELEASE(comm);
    }
    return rc;
}

int mca_pml_epml_handle_intra(ompi_communicator_t *parent, mca_pml_epml_ep_t *ep, uint64_t context,
                              mca_pml_epml_peers_t *members, int rank, ompi_communicator_t **comm_p)
{
    ompi_group_t *group = mca_pml_epml_group_new(parent->c_local_group, members, rank);
    ompi_communicator_t *comm = NULL;
    int rc;

    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = ompi_comm_set(&comm, parent, 0, NULL, 0, NULL, NULL, parent->error_handler, group, NULL,
                       0);
    OBJ_RELEASE(group);
    if (OMPI_SUCCESS == rc) {
        rc = handle_finish(comm, ep, context, members, members);
    }
    if (OMPI_SUCCESS == rc) {
        *comm_p = comm;
    }
    return rc;
}

int mca_pml_epml_handle_inter(ompi_communicator_t *local, uint64_t context,
                              mca_pml_epml_peers_t *remote, ompi_communicator_t **comm_p)
{
    const mca_pml_epml_comm_t *state = mca_pml_epml_comm(local);
    ompi_group_t *group = mca_pml_epml_group_new(local->c_local_group, remote, MPI_UNDEFINED);
    ompi_communicator_t *comm = NULL;
    int rc;

    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rc = ompi_comm_set(&comm, local, 0, NULL, 0, NULL, NULL, local->error_handler,
                       local->c_local_group, group, OMPI_COMM_SET_FLAG_LOCAL_COMM_NODUP);
    OBJ_RELEASE(group);
    if (OMPI_SUCCESS == rc) {
        rc = handle_finish(comm, state->ep, context, remote, state->local);
    }
    if (OMPI_SUCCESS == rc) {
        *comm_p = comm;
    }
    return rc;
}

int mca_pml_epml_handle_attributes(ompi_communicator_t *comm)
{
    static const int keyvals[] = {MPI_TAG_UB,          MPI_HOST,   MPI_IO,
                                  MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE,
                                  MPI_UNIVERSE_SIZE};
    int rc = OMPI_SUCCESS;

    for (size_t i = 0; OMPI_SUCCESS == rc && i < sizeof(keyvals) / sizeof(keyvals[0]); ++i) {
        void *value = NULL;
        int flag = 0;

        rc = ompi_attr_get_c(ompi_mpi_comm_world.comm.c_keyhash, keyvals[i], &value, &flag);
        if (OMPI_SUCCESS == rc && 0 != flag && NULL != value) {
            rc = ompi_attr_set_int(COMM_ATTR, comm, &comm->c_keyhash, keyvals[i], *(int *) value,
                                   true);
        }
    }
    return rc;
}

int mca_pml_epml_handle_descend(ompi_communicator_t *comm, const ompi_communicator_t *handle)
{
    const int rc = mca_pml_epml_handle_attributes(comm);

    return OMPI_SUCCESS == rc ? mca_pml_epml_hints_descend(comm, handle) : rc;
}
