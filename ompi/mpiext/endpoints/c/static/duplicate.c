/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Duplicates of MPI_COMM_WORLD and MPI_COMM_SELF that need no message, so that a job in which
 * nobody asks for endpoints can have them from MPI_Init on.
 *
 * The members of a new communicator agree on its context id, and wait until all have set it up.
 * Neither is needed here.  Right after MPI_Init the tables of communicators of all processes of a
 * job are alike: its own three, and, where it was spawned, the intercommunicator to its parents,
 * under a number that all have agreed on; a process that has used a session before takes no part.
 * So the lowest number that is free is the same everywhere, and libmpi itself finds all later ones
 * by agreement.  A message that comes before its communicator is kept by the PMLs, as it has to be
 * between processes that leave MPI_Init at different times.
 *
 * Tests: static_world (none)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_duplicate.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/pml/pml.h"

/** The same context id everywhere, as libmpi's agreement gives it. */
static int take_id(ompi_communicator_t *copy)
{
    const int index = opal_pointer_array_add(&ompi_mpi_communicators, copy);

    if (0 > index) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    copy->c_index = (uint32_t) index;
    copy->c_flags |= OMPI_COMM_GLOBAL_INDEX;
    copy->c_contextid.cid_base = 0;
    copy->c_contextid.cid_sub.u64 = (uint64_t) index;
    return OMPI_SUCCESS;
}

int mpix_endpoints_duplicate(ompi_communicator_t *comm, ompi_communicator_t **copy_p)
{
    ompi_communicator_t *copy = NULL;
    int rc = ompi_comm_set(&copy, comm, 0, NULL, 0, NULL, comm->c_keyhash, comm->error_handler,
                           comm->c_local_group, NULL, 0);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = take_id(copy);
    if (OMPI_SUCCESS == rc) {
        rc = MCA_PML_CALL(add_comm(copy));
    }
    if (OMPI_SUCCESS == rc) {
        OMPI_COMM_SET_PML_ADDED(copy); /* from now on messages are for it, and are not kept */
        rc = mca_coll_base_comm_select(copy);
    }
    if (OMPI_SUCCESS != rc) {
        OBJ_RELEASE(copy);
        return rc;
    }
    mpix_endpoints_compat_alike(copy, comm);
    *copy_p = copy;
    return OMPI_SUCCESS;
}
