/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Putting a new communicator to use, the blocking form: its members set it up, and wait for each
 * other, because nobody may send on a communicator that somebody has not set up.
 *
 * libmpi does that by a request, whose steps are run by process-wide progress: all waiting threads
 * of a process walk through the requests of all of them, one at a time.  Here messages along a tree
 * do it (tree.c), for which a thread waits on its own endpoint alone.
 *
 * Tests: comm_nomem, comm_tree
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "mpiext_endpoints_activate.h"
#include "mpiext_endpoints_cid.h"
#include "mpiext_endpoints_tree.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

/** What libmpi's activation does for a member of an intracommunicator; but its collectives are
 * chosen before the members meet, so that nothing is left that could fail at one of them alone.
 * Those that may serve here do not communicate then (docs/collectives.md). */
static int activate_intra(ompi_communicator_t **newcomm_p, ompi_communicator_t *comm, int tag)
{
    ompi_communicator_t *newcomm = *newcomm_p;
    const mpix_endpoints_tree_t tree = {.comm = comm,
                                        .newcomm = newcomm,
                                        .rank = newcomm->c_local_group->grp_my_rank,
                                        .size = newcomm->c_local_group->grp_proc_count,
                                        .tag = tag};
    bool shares = mpix_endpoints_compat_shares_node(newcomm);
    int rc = MCA_PML_CALL(add_comm(newcomm));
    bool is_ready;

    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_base_comm_select(newcomm);
    }
    is_ready = OMPI_SUCCESS == rc;
    rc = mpix_endpoints_tree_meet(&tree, rc, &shares);
    if (OMPI_SUCCESS != rc) {
        if (is_ready) { /* else nobody has got it */
            mpix_endpoints_table()->comm_leave(newcomm);
        }
        OBJ_RELEASE(newcomm);
        *newcomm_p = mpix_endpoints_cid_null();
        return rc;
    }
    mpix_endpoints_compat_activated(newcomm, shares);
    return OMPI_SUCCESS;
}

int mpix_endpoints_activation_cancel(const mpix_endpoints_tree_t *tree, int rc)
{
    bool shares = false;

    return OMPI_SUCCESS == rc || MPI_ERR_GROUP == rc || MPI_UNDEFINED == tree->rank
               ? rc
               : mpix_endpoints_tree_meet(tree, rc, &shares);
}

/** The other modes: through the nonblocking form.  libmpi's own blocking one would park this thread
 * behind the process's progress; this way of waiting can be replaced, and pml/epml has replaced
 * it. */
static int activate_by_request(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                               ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                               bool send_first, int mode)
{
    ompi_request_t *request;
    int rc = mpix_endpoints_activate_nb(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode,
                                        &request);

    return OMPI_SUCCESS == rc ? ompi_request_wait(&request, MPI_STATUS_IGNORE) : rc;
}

int mpix_endpoints_activate(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                            ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                            bool send_first, int mode)
{
    if (OMPI_COMM_CID_GROUP == mode) {
        return activate_intra(newcomm, comm, *(const int *) arg0);
    }
    if (OMPI_COMM_CID_INTRA == mode) {
        return mpix_endpoints_cid_participates(*newcomm)
                   ? activate_intra(newcomm, comm, mpix_endpoints_activation_tag())
                   : OMPI_SUCCESS; /* nothing to activate, and nobody to wait for */
    }
    return activate_by_request(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode);
}
