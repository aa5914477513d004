/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The third phase of a creation: all get the addresses, and make their handles of them.  Have all
 * members succeeded, and could each reach all others on its node?
 *
 * Called by pml_epml_creation.c.
 *
 * Tests: create, comm_bridge, comm_nomem, merge
 */

#include "ompi_config.h"

#include "../cid/cid.h"
#include "../engine/engine.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_address.h"
#include "pml_epml_creation.h"
#include "pml_epml_handle.h"
#include "pml_epml_proc_tree.h"
#include "pml_epml_traversal.h"

#include "ompi/constants.h"

typedef mca_pml_epml_creation_t creation_t;

/** The addresses of own side. */
static int gather_addresses(creation_t *creation)
{
    ompi_communicator_t *comm = creation->bootstrap.comm;
    epml_side_t *local = &creation->local;

    if (NULL != creation->bootstrap.traversal) {
        return mca_pml_epml_traversal_gather(creation->bootstrap.traversal, local->addresses,
                                             (int) ((size_t) local->total * local->address_size));
    }
    if (NULL != creation->bootstrap.tree) {
        return mca_pml_epml_proc_tree_gather(creation->bootstrap.tree, local->addresses,
                                             local->places,
                                             (int) ((size_t) local->total * local->address_size));
    }
    if (1 == local->members) {
        return OMPI_SUCCESS;
    }
    if (!creation->agreed.no_promise) {
        return comm->c_coll->coll_allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, local->addresses,
                                            local->bytes[0], MPI_BYTE, comm,
                                            comm->c_coll->coll_allgather_module);
    }
    return comm->c_coll->coll_allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, local->addresses,
                                         EPML_COMPAT_COUNTS(local->bytes),
                                         EPML_COMPAT_DISPS(local->places), MPI_BYTE, comm,
                                         comm->c_coll->coll_allgatherv_module);
}

static int exchange_addresses(void *work, int rc)
{
    creation_t *creation = work;
    epml_side_t *local = &creation->local, *remote = &creation->remote;
    int gathered = gather_addresses(creation);

    if (NULL == creation->bootstrap.traversal && NULL == creation->bootstrap.tree) {
        gathered = mca_pml_epml_bootstrap_within(&creation->bootstrap, gathered);
    }
    rc = OMPI_SUCCESS != rc ? rc : gathered;
    return !creation->bootstrap.two_sided
               ? rc
               : mca_pml_epml_bootstrap_swap(&creation->bootstrap, rc, local->addresses,
                                             (size_t) local->total * local->address_size,
                                             remote->addresses,
                                             (size_t) remote->total * remote->address_size);
}

/** Can this be the address of endpoint number index of a member? */
static bool address_belongs_to(const mca_pml_epml_address_t *address, int index,
                               const ompi_proc_t *member)
{
    const opal_process_name_t *name = &member->super.proc_name;

    return 0 == index ? 0 == memcmp(&address->name, name, sizeof(*name))
                      : mca_pml_epml_same_process(&address->name, name);
}

/** The rank that address number of a side is for. */
static int place_of(const creation_t *creation, const epml_side_t *side, int number)
{
    return side == &creation->local ? mca_pml_epml_creation_rank(creation, number) : number;
}

/** Make peers of the addresses of one member's endpoints, from rank on. */
static int make_peers_of(creation_t *creation, epml_side_t *side, int member, int rank)
{
    const ompi_proc_t *proc = NULL != side->group ? ompi_group_peer_lookup(side->group, member)
                                                  : NULL;
    int rc = OMPI_SUCCESS;

    for (int i = 0; OMPI_SUCCESS == rc && i < side->counts[member]; ++i) {
        const mca_pml_epml_address_t *address = epml_side_address(side, rank + i);

        rc = mca_pml_epml_address_check(address, side->address_size);
        if (OMPI_SUCCESS == rc && NULL != proc && !address_belongs_to(address, i, proc)) {
            rc = OMPI_ERR_BAD_PARAM;
        }
        if (OMPI_SUCCESS == rc) {
            rc = mca_pml_epml_address_peer(
                address, creation->eps[0],
                &side->peers->member[place_of(creation, side, rank + i)]);
        }
    }
    if (OMPI_SUCCESS == rc && NULL != proc && mca_pml_epml_proc_is_near(proc)) {
        creation->on_node += side->counts[member];
    }
    return rc;
}

static int make_peers(creation_t *creation, epml_side_t *side)
{
    int rc = OMPI_SUCCESS;

    side->peers = mca_pml_epml_peers_create(side->total);
    if (NULL == side->peers) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0, rank = 0; OMPI_SUCCESS == rc && i < side->members; ++i) {
        rc = make_peers_of(creation, side, i, rank);
        rank += side->counts[i];
    }
    return rc;
}

/** All that are to be talked to. */
static int make_sides(creation_t *creation)
{
    const bool two_sided = creation->bootstrap.two_sided;
    int rc = OMPI_SUCCESS;

    if (NULL != creation->known) {
        creation->local.peers = creation->known;
        mca_pml_epml_peers_retain(creation->known);
    } else {
        rc = make_peers(creation, &creation->local);
    }
    if (OMPI_SUCCESS == rc && two_sided) {
        rc = make_peers(creation, &creation->remote);
    }
    if (OMPI_SUCCESS == rc) {
        /* Where the members are endpoints, others here are making their handles, too. */
        mca_pml_epml_shared_peers_find((uint64_t) creation->agreed.context, &creation->local.peers,
                                       two_sided ? &creation->remote.peers : NULL);
    }
    return rc;
}

/** The communicator of one of our endpoints; what there is after a failure is freed as well. */
static int make_handle(const creation_t *creation, int index, ompi_communicator_t **handle_p)
{
    const bool inter = creation->bootstrap.two_sided;
    const uint64_t context = (uint64_t) creation->agreed.context;
    const int rank = mca_pml_epml_creation_rank(creation, creation->first + index);
    int rc = mca_pml_epml_handle_intra(creation->parent, creation->eps[index],
                                       inter ? creation->local_context : context,
                                       creation->local.peers, rank, handle_p);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (!creation->has_eps) {
        mca_pml_epml_ep_introduce(creation->eps[index], creation->local.peers->member[rank]);
    }
    if (inter) {
        rc = mca_pml_epml_handle_inter(*handle_p, context, creation->remote.peers, handle_p);
    }
    return OMPI_SUCCESS == rc ? creation->ops->dress(creation, *handle_p) : rc;
}

static int make_handles(void *work)
{
    creation_t *creation = work;
    int rc = NULL != creation->ops->fit ? creation->ops->fit(creation) : OMPI_SUCCESS;

    if (OMPI_SUCCESS == rc && 0 < creation->num_ep) {
        rc = make_sides(creation);
    }
    for (int i = 0; OMPI_SUCCESS == rc && i < creation->num_ep; ++i) {
        rc = make_handle(creation, i, &creation->handles[i]);
    }
    return rc;
}

/** Others may have agreed that all is well: they are not to wait for this member's endpoints. */
static void leave_handles(const creation_t *creation)
{
    for (int i = 0; i < creation->num_ep; ++i) {
        mca_pml_epml_comm_leave(creation->handles[i]);
    }
}

static int agree_on_handles(void *work, int rc)
{
    creation_t *creation = work;
    const bool is_made = OMPI_SUCCESS == rc, is_unreached = OMPI_ERR_UNREACH == rc;
    int64_t outcome[2] = {mca_pml_epml_creation_failure(is_unreached ? OMPI_SUCCESS : rc),
                          is_unreached};

    rc = mca_pml_epml_bootstrap_max(&creation->bootstrap, outcome, 2, NULL);
    creation->failed = outcome[0];
    creation->unreached = outcome[1];
    if (OMPI_SUCCESS != rc) {
        creation->error = MPIX_ENDPOINTS_ERR_RESOURCE;
        if (is_made) {
            leave_handles(creation);
        }
    }
    return rc;
}

static epml_verdict_t conclude_handles(void *work, int *rc)
{
    creation_t *creation = work;

    if (EPML_FAILED_NOT == creation->failed && 0 == creation->unreached) {
        return EPML_VERDICT_NEXT;
    }
    if (EPML_FAILED_NOT == creation->failed && !creation->without_node) {
        return mca_pml_epml_creation_without_node(creation);
    }
    (void) mca_pml_epml_creation_fail(creation, rc);
    if (EPML_FAILED_NOT == creation->failed) {
        creation->error = MPIX_ENDPOINTS_ERR_INTERN; /* of a node side that no member offered */
    }
    return EPML_VERDICT_FAILED;
}

static void undo_handles(void *work)
{
    creation_t *creation = work;

    for (int i = 0; i < creation->num_ep; ++i) {
        if (NULL != creation->handles[i]) {
            (void) ompi_comm_free(&creation->handles[i]);
            creation->handles[i] = NULL;
        }
    }
    mca_pml_epml_creation_forget_peers(creation);
    creation->on_node = 0;
}

const epml_phase_t mca_pml_epml_phase_handles = {.exchange = exchange_addresses,
                                                 .make = make_handles,
                                                 .agree = agree_on_handles,
                                                 .conclude = conclude_handles,
                                                 .undo = undo_handles};
