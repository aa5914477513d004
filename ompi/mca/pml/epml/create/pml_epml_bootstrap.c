/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Bootstrap exchanges: agreement within and between groups.
 *
 * Called by pml_epml_creation.c and pml_epml_intercomm.c.
 *
 * Tests: create, comm_bridge, merge, death (told_meet), jobs_endpoints, ulfm_connect, ulfm_spawn
 */

#include "ompi_config.h"

#include "../cid/cid.h"
#include "../object/object.h"
#include "pml_epml_bootstrap.h"
#include "pml_epml_proc_tree.h"
#include "pml_epml_traversal.h"

#include "ompi/constants.h"
#include "ompi/op/op.h"

static bool is_leader(const mca_pml_epml_bootstrap_t *bootstrap)
{
    return ompi_comm_rank(bootstrap->comm) == bootstrap->leader;
}

int mca_pml_epml_bootstrap_within(const mca_pml_epml_bootstrap_t *bootstrap, int rc)
{
    if (OMPI_SUCCESS != rc && !mca_pml_epml_is_loss(rc)
        && mca_pml_epml_is_endpoint_comm(bootstrap->comm)) {
        mca_pml_epml_comm_leave(bootstrap->comm);
    }
    return rc;
}

int mca_pml_epml_bootstrap_pass_on(const mca_pml_epml_bootstrap_t *bootstrap, void *data,
                                   size_t size)
{
    ompi_communicator_t *comm = bootstrap->comm;

    return mca_pml_epml_bootstrap_within(bootstrap,
                                         comm->c_coll->coll_bcast(data, (int) size, MPI_BYTE,
                                                                  bootstrap->leader, comm,
                                                                  comm->c_coll->coll_bcast_module));
}

/** In place of what the other leader waits for: this side cannot go on.  It has one byte, which
 * nothing else that is exchanged has. */
typedef uint8_t excuse_t;
enum { EXCUSE_FAILED = 0, EXCUSE_LOST = 1 /* it has lost a member */ };

/** What the other leader waits for could not be sent, for lack of memory: tell it so, as far as
 * that goes now.  @return OMPI_SUCCESS, or an error: it does not know */
static int send_excuse(const mca_pml_epml_bootstrap_t *bootstrap)
{
    const excuse_t excuse = EXCUSE_FAILED;

    return MCA_PML_CALL(send(&excuse, sizeof(excuse), MPI_BYTE, bootstrap->remote_leader,
                             bootstrap->out_tag, MCA_PML_BASE_SEND_STANDARD, bootstrap->bridge));
}

/** There was no memory to receive with.  @return why */
static int excuse_oneself(const mca_pml_epml_bootstrap_t *bootstrap, int why)
{
    excuse_t rest; /* never read; what is longer is cut off */

    if (OMPI_SUCCESS == send_excuse(bootstrap)) {
        (void) MCA_PML_CALL(recv(&rest, sizeof(rest), MPI_BYTE, bootstrap->remote_leader,
                                 bootstrap->tag, bootstrap->bridge, MPI_STATUS_IGNORE));
    }
    return why;
}

int mca_pml_epml_bootstrap_exchange(mca_pml_epml_bootstrap_t *bootstrap, int own_rc,
                                    const void *mine, size_t my_size, void *theirs,
                                    size_t their_size)
{
    const excuse_t excuse = mca_pml_epml_is_loss(own_rc) ? EXCUSE_LOST : EXCUSE_FAILED;
    ompi_status_public_t status;
    ompi_request_t *request;
    excuse_t rest;
    int rc, send_rc;

    bootstrap->owes = false;
    if (OMPI_SUCCESS != own_rc) {
        mine = &excuse;
        my_size = sizeof(excuse);
        theirs = &rest; /* never read; what is longer is cut off */
        their_size = sizeof(rest);
    }
    rc = MCA_PML_CALL(irecv(theirs, their_size, MPI_BYTE, bootstrap->remote_leader, bootstrap->tag,
                            bootstrap->bridge, &request));
    if (OMPI_SUCCESS != rc) {
        return OMPI_SUCCESS == own_rc ? excuse_oneself(bootstrap, rc) : own_rc;
    }
    send_rc = MCA_PML_CALL(send(mine, my_size, MPI_BYTE, bootstrap->remote_leader,
                                bootstrap->out_tag, MCA_PML_BASE_SEND_STANDARD, bootstrap->bridge));
    if (OMPI_SUCCESS != send_rc) {
        (void) send_excuse(bootstrap);
    }
    rc = ompi_request_wait(&request, &status);
    if (OMPI_SUCCESS != own_rc) {
        return own_rc;
    }
    if (OMPI_SUCCESS != rc || OMPI_SUCCESS != send_rc) {
        return OMPI_SUCCESS != rc ? rc : send_rc;
    }
    if (sizeof(excuse) == status._ucount) {
        return EXCUSE_LOST == *(const excuse_t *) theirs ? MPI_ERR_PROC_FAILED : OMPI_ERROR;
    }
    /* Anything but the expected message is not of this protocol. */
    if (their_size != status._ucount) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    bootstrap->owes = true;
    return OMPI_SUCCESS;
}

int mca_pml_epml_bootstrap_swap(mca_pml_epml_bootstrap_t *bootstrap, int own_rc, const void *mine,
                                size_t my_size, void *theirs, size_t their_size)
{
    int32_t result = own_rc;
    int rc;

    if (is_leader(bootstrap)) {
        result = mca_pml_epml_bootstrap_exchange(bootstrap, own_rc, mine, my_size, theirs,
                                                 their_size);
    }
    rc = mca_pml_epml_bootstrap_pass_on(bootstrap, &result, sizeof(result));
    if (OMPI_SUCCESS == rc) {
        rc = result;
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_bootstrap_pass_on(bootstrap, theirs, their_size);
    }
    return OMPI_SUCCESS != own_rc ? own_rc : rc;
}

int mca_pml_epml_bootstrap_max(mca_pml_epml_bootstrap_t *bootstrap, int64_t *values, int count,
                               int64_t *own_side)
{
    ompi_communicator_t *comm = bootstrap->comm;
    int64_t theirs[count];
    int rc = OMPI_SUCCESS;

    if (NULL != bootstrap->traversal) {
        rc = mca_pml_epml_traversal_max(bootstrap->traversal, values, count, &bootstrap->owes);
    } else if (NULL != bootstrap->tree) {
        rc = mca_pml_epml_proc_tree_max(bootstrap->tree, values, count);
    } else if (1 < ompi_comm_size(comm)) {
        rc = mca_pml_epml_bootstrap_within(
            bootstrap,
            comm->c_coll->coll_allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, comm,
                                         comm->c_coll->coll_allreduce_module));
    }
    if (NULL != own_side) {
        memcpy(own_side, values, (size_t) count * sizeof(*values));
    }
    if (!bootstrap->two_sided) {
        return rc;
    }
    rc = mca_pml_epml_bootstrap_swap(bootstrap, rc, values, sizeof(theirs), theirs, sizeof(theirs));
    for (int i = 0; (OMPI_SUCCESS == rc || bootstrap->owes) && i < count; ++i) {
        values[i] = values[i] < theirs[i] ? theirs[i] : values[i];
    }
    return rc;
}
