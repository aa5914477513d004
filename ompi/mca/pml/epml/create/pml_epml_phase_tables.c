/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The second phase of a creation: all get the number of endpoints of each member, unless all
 * promise the same; each allocates memory for all addresses, and writes its own.  Have all
 * succeeded?
 *
 * Called by pml_epml_creation.c.
 *
 * Tests: create, create_errors, comm_nomem
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_address.h"
#include "pml_epml_creation.h"

#include "ompi/constants.h"

typedef mca_pml_epml_creation_t creation_t;

static int exchange_counts(void *work, int rc)
{
    creation_t *creation = work;
    ompi_communicator_t *comm = creation->bootstrap.comm;
    epml_side_t *local = &creation->local, *remote = &creation->remote;
    int gathered;

    if (NULL != creation->counts) {
        memcpy(local->counts, creation->counts, (size_t) local->members * sizeof(*local->counts));
        return rc;
    }
    if (!creation->agreed.no_promise) {
        epml_side_fill(local, creation->num_ep);
        epml_side_fill(remote, creation->num_ep);
        return rc;
    }
    gathered = comm->c_coll->coll_allgather(&creation->num_ep, 1, MPI_INT, local->counts, 1,
                                            MPI_INT, comm, comm->c_coll->coll_allgather_module);
    gathered = mca_pml_epml_bootstrap_within(&creation->bootstrap, gathered);
    rc = OMPI_SUCCESS != rc ? rc : gathered;
    return !creation->bootstrap.two_sided
               ? rc
               : mca_pml_epml_bootstrap_swap(&creation->bootstrap, rc, local->counts,
                                             (size_t) local->members * sizeof(int), remote->counts,
                                             (size_t) remote->members * sizeof(int));
}

/** The name of endpoint number index of this member. */
static opal_process_name_t name_of(const creation_t *creation, int index)
{
    if (NULL != creation->names) {
        return creation->names[index];
    }
    return 0 == index ? creation->name : mca_pml_epml_name_new();
}

static int make_room(void *work)
{
    creation_t *creation = work;
    epml_side_t *local = &creation->local;
    const size_t address_size = (size_t) creation->agreed.address_size;

    if (!epml_side_make_room(local, address_size)
        || !epml_side_make_room(&creation->remote, address_size)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    creation->first = epml_side_first(local, creation->rank);
    for (int i = 0; i < creation->num_ep; ++i) {
        const opal_process_name_t name = name_of(creation, i);

        mca_pml_epml_address_write(epml_side_address(local, creation->first + i), creation->eps[i],
                                   mca_pml_epml_creation_uses_node(creation), &name);
    }
    return OMPI_SUCCESS;
}

static int agree_on_room(void *work, int rc)
{
    creation_t *creation = work;

    creation->failed = mca_pml_epml_creation_failure(rc);
    rc = mca_pml_epml_bootstrap_max(&creation->bootstrap, &creation->failed, 1, NULL);
    if (OMPI_SUCCESS != rc) {
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
    return rc;
}

static epml_verdict_t conclude_room(void *work, int *rc)
{
    creation_t *creation = work;

    if (EPML_FAILED_NOT != creation->failed) {
        return mca_pml_epml_creation_fail(creation, rc);
    }
    if (creation->bootstrap.two_sided
        && (0 == creation->local.total || 0 == creation->remote.total)) {
        /* A side without endpoints: there is nobody to talk to. */
        for (int i = 0; i < creation->num_ep; ++i) {
            creation->handles[i] = MPI_COMM_NULL;
        }
        return EPML_VERDICT_DONE;
    }
    return EPML_VERDICT_NEXT;
}

static void undo_room(void *work)
{
    creation_t *creation = work;

    epml_side_forget(&creation->local);
    epml_side_forget(&creation->remote);
}

const epml_phase_t mca_pml_epml_phase_tables = {.exchange = exchange_counts,
                                                .make = make_room,
                                                .agree = agree_on_room,
                                                .conclude = conclude_room,
                                                .undo = undo_room};
