/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Putting a new communicator to use, the blocking form: its members set it up, and wait for each
 * other, because no member may send on a communicator that another has not set up.
 *
 * libmpi does that by a request, whose steps are run by process-wide progress: all waiting threads
 * of a process walk through the requests of all of them, one at a time.  Here messages along a tree
 * do it (pml_epml_cid_tree.c), for which a thread waits on its own endpoint alone.
 *
 * Tests: comm_nomem, comm_tree
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_cid_activate.h"
#include "pml_epml_cid.h"
#include "pml_epml_cid_message.h"
#include "pml_epml_cid_tree.h"

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
    const mca_pml_epml_cid_tree_t tree = {.comm = comm,
                                          .newcomm = newcomm,
                                          .rank = newcomm->c_local_group->grp_my_rank,
                                          .size = newcomm->c_local_group->grp_proc_count,
                                          .tag = tag};
    bool shares = mca_pml_epml_compat_shares_node(newcomm);
    int rc = MCA_PML_CALL(add_comm(newcomm));
    bool is_ready;

    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_base_comm_select(newcomm);
    }
    is_ready = OMPI_SUCCESS == rc;
    rc = mca_pml_epml_cid_tree_barrier(&tree, rc, &shares);
    if (OMPI_SUCCESS != rc) {
        if (is_ready) { /* else no caller has got it */
            mca_pml_epml_comm_leave(newcomm);
        }
        OBJ_RELEASE(newcomm);
        *newcomm_p = mca_pml_epml_cid_null();
        return rc;
    }
    mca_pml_epml_compat_activated(newcomm, shares);
    return OMPI_SUCCESS;
}

int mca_pml_epml_cid_activation_cancel(const mca_pml_epml_cid_tree_t *tree, int rc)
{
    bool shares = false;

    return OMPI_SUCCESS == rc || MPI_ERR_GROUP == rc || MPI_UNDEFINED == tree->rank
               ? rc
               : mca_pml_epml_cid_tree_barrier(tree, rc, &shares);
}

/** The other modes: through the nonblocking form.  libmpi's own blocking one would park this thread
 * behind the process's progress; this way of waiting can be replaced, and pml/epml has replaced
 * it. */
static int activate_by_request(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                               ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                               bool send_first, int mode)
{
    ompi_request_t *request;
    int rc = mca_pml_epml_cid_activate_nb(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode,
                                          &request);

    return OMPI_SUCCESS == rc ? ompi_request_wait(&request, MPI_STATUS_IGNORE) : rc;
}

int mca_pml_epml_cid_activate(ompi_communicator_t **newcomm, ompi_communicator_t *comm,
                              ompi_communicator_t *bridgecomm, const void *arg0, const void *arg1,
                              bool send_first, int mode)
{
    if (OMPI_COMM_CID_GROUP == mode) {
        return activate_intra(newcomm, comm, *(const int *) arg0);
    }
    if (OMPI_COMM_CID_INTRA == mode) {
        return mca_pml_epml_cid_participates(*newcomm)
                   ? activate_intra(newcomm, comm, mca_pml_epml_cid_activation_tag())
                   : OMPI_SUCCESS; /* nothing to activate, and no member to wait for */
    }
    return activate_by_request(newcomm, comm, bridgecomm, arg0, arg1, send_first, mode);
}
