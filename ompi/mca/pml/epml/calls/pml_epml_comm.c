/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What hangs from an endpoint communicator: its context, its members, its place in Open MPI's
 * tables.
 *
 * Tests: comm_tree, comm_flat, comm_local, comm_pending, left, ulfm
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_calls.h"
#include "pml_epml_coll.h"
#include "pml_epml_comm.h"
#include "pml_epml_hints.h"
#include "pml_epml_hold.h"
#include "pml_epml_notes.h"

#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_array.h"

/* ---- Open MPI's tables ----------------------------------------------------------------------- */

/** Ordinary communicators have cid_base 0 or one that the launcher gave out; ours have this bit. */
#define EPML_CID_BASE_MARK (UINT64_C(1) << 63)

int mca_pml_epml_comm_place(ompi_communicator_t *newcomm, uint64_t context)
{
    int slot = mpix_endpoints_array_add(&ompi_mpi_communicators, newcomm);

    if (0 > slot) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if ((uint32_t) slot >= mca_pml.pml_max_contextid) {
        opal_pointer_array_set_item(&ompi_mpi_communicators, slot, NULL);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    newcomm->c_index = (uint32_t) slot;
    newcomm->c_contextid.cid_base = context | EPML_CID_BASE_MARK;
    /* Handles of one communicator differ, or they would compare as identical. */
    newcomm->c_contextid.cid_sub.u64 = (uint64_t) slot;
    newcomm->c_flags |= OMPI_COMM_GLOBAL_INDEX | EPML_COMM_FLAG;
    mca_pml_epml_notes_init(newcomm, 0, 0); /* an agreement writes its own */
#if OPAL_ENABLE_FT_MPI
    /* Open MPI's epochs count up from 0.  A revocation is for the slot and the epoch that a
     * communicator has at its sender, and would be passed on to the handle's members. */
    newcomm->c_epoch = UINT32_MAX;
#endif
    return OMPI_SUCCESS;
}

/* ---- our state ------------------------------------------------------------------------------- */

/** Note which communicator an intercommunicator uses within its group.  Under the lock. */
static void link_inner(mca_pml_epml_comm_t *comm, const ompi_communicator_t *newcomm)
{
    mca_pml_epml_comm_t *inner = NULL;

    if (comm->is_inter && NULL != newcomm->c_local_comm
        && mca_pml_epml_is_endpoint_comm(newcomm->c_local_comm)) {
        inner = mca_pml_epml_comm(newcomm->c_local_comm);
    }
    if (NULL != inner && inner->ep == comm->ep) {
        comm->inner = inner;
        inner->outer = comm;
    }
}

static void unlink_inner(mca_pml_epml_comm_t *comm)
{
    if (NULL != comm->inner) {
        comm->inner->outer = NULL;
    }
    if (NULL != comm->outer) {
        comm->outer->inner = NULL;
    }
}

int mca_pml_epml_comm_attach(ompi_communicator_t *newcomm, mca_pml_epml_ep_t *ep, uint64_t context,
                             mca_pml_epml_peers_t *peers, mca_pml_epml_peers_t *local)
{
    mca_pml_epml_comm_t *comm = calloc(1, sizeof(*comm));
    int rc;

    if (NULL == comm) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    comm->ep = ep;
    comm->context = context;
    comm->rank = newcomm->c_local_group->grp_my_rank;
    comm->is_inter = OMPI_COMM_IS_INTER(newcomm);
    comm->peers = peers;
    comm->local = local;
    comm->comm = newcomm;
    comm->level = EPML_LEVEL_NONE;

    mca_pml_epml_lock(ep);
    rc = mca_pml_epml_comms_add(comm);
    if (OPAL_SUCCESS == rc) {
        link_inner(comm, newcomm);
        mca_pml_epml_lost_attach(comm);
        mca_pml_epml_leave_attach(comm);
    }
    mca_pml_epml_unlock(ep);
    if (OPAL_SUCCESS != rc) {
        free(comm);
        return rc;
    }
    mca_pml_epml_ep_retain(ep);
    mca_pml_epml_peers_retain(peers);
    mca_pml_epml_peers_retain(local);
    newcomm->c_pml_comm = (struct mca_pml_comm_t *) comm;
    return OMPI_SUCCESS;
}

/**
 * The members of a group of a new communicator, by rank; shared with the parent where the group is.
 *
 * @param[in] same   the side of the parent that the group comes from
 * @param[in] other  the other one: a merged group has members of both
 */
static int comm_members(ompi_group_t *group, ompi_group_t *parent_group, mca_pml_epml_peers_t *same,
                        mca_pml_epml_peers_t *other, mca_pml_epml_peers_t **peers_p)
{
    if (group == parent_group) {
        mca_pml_epml_peers_retain(same);
        *peers_p = same;
        return OMPI_SUCCESS;
    }
    return mca_pml_epml_peers_for_group(group, same, other, peers_p);
}

/** Take the lists that other endpoints of this process have for the same communicator, and let its
 * group's procs be theirs, too: the list and array of each would make squares. */
static void intern_sides(ompi_communicator_t *newcomm, uint64_t context,
                         mca_pml_epml_peers_t **local_p, mca_pml_epml_peers_t **remote_p)
{
    if (OMPI_COMM_IS_INTER(newcomm)) {
        mca_pml_epml_shared_peers_find(context, local_p, remote_p);
        return;
    }
    mca_pml_epml_shared_peers_find(context, local_p, NULL);
    mca_pml_epml_peers_release(*remote_p);
    mca_pml_epml_peers_retain(*local_p);
    *remote_p = *local_p;
    mca_pml_epml_group_use_procs(newcomm, *local_p);
}

/** The members of both sides of a new communicator, out of its parent's. */
static int both_sides(const ompi_communicator_t *newcomm, const mca_pml_epml_comm_t *parent,
                      uint64_t context, mca_pml_epml_peers_t **local_p,
                      mca_pml_epml_peers_t **remote_p)
{
    const bool intra = OMPI_COMM_IS_INTRA(newcomm);
    int rc;

    *local_p = intra ? mca_pml_epml_shared_peers_finded(context, newcomm->c_local_group) : NULL;
    if (NULL == *local_p) {
        rc = comm_members(newcomm->c_local_group, parent->comm->c_local_group, parent->local,
                          parent->peers, local_p);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    if (intra) {
        mca_pml_epml_peers_retain(*local_p);
        *remote_p = *local_p;
        return OMPI_SUCCESS;
    }
    rc = comm_members(newcomm->c_remote_group, parent->comm->c_remote_group, parent->peers,
                      parent->local, remote_p);
    if (OMPI_SUCCESS != rc) {
        mca_pml_epml_peers_release(*local_p);
    }
    return rc;
}

int mca_pml_epml_comm_assign(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                             uint64_t context, bool member)
{
    const mca_pml_epml_comm_t *parent = mca_pml_epml_comm(comm);
    mca_pml_epml_peers_t *local, *remote;
    int rc;

    if (!member) {
        return mca_pml_epml_comm_place(newcomm, context);
    }
    /* A group that is no part of comm is an error that all members see: before one that not all
     * do. */
    rc = both_sides(newcomm, parent, context, &local, &remote);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    intern_sides(newcomm, context, &local, &remote);
    rc = mca_pml_epml_comm_place(newcomm, context);
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_comm_attach(newcomm, parent->ep, context, remote, local);
    }
    if (OMPI_SUCCESS == rc) {
        OMPI_COMM_SET_PML_ADDED(newcomm); /* its end is ours to hear of from now on */
    }
    mca_pml_epml_peers_release(remote);
    mca_pml_epml_peers_release(local);
    return rc;
}

int mca_pml_epml_comm_furnish(ompi_communicator_t *newcomm)
{
    int rc = mca_pml_epml_coll_restrict(newcomm);

    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_hints_subscribe(newcomm);
    }
    return OMPI_SUCCESS == rc ? mca_pml_epml_clients_make(mca_pml_epml_comm(newcomm)) : rc;
}

int mca_pml_epml_call_add_comm(ompi_communicator_t *newcomm)
{
    /* All else was done when it got its context id. */
    if (NULL == newcomm->c_pml_comm) {
        return OMPI_ERR_BAD_PARAM;
    }
    return mca_pml_epml_comm_furnish(newcomm);
}

int mca_pml_epml_call_del_comm(ompi_communicator_t *ompi_comm)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);
    mca_pml_epml_ep_t *ep;
    epml_match_unexpected_t *message;

    if (NULL == comm) {
        return OMPI_SUCCESS;
    }
    mpix_endpoints_handle_ends(ompi_comm);
    ep = comm->ep;
    mca_pml_epml_lock(ep);
    mca_pml_epml_comms_remove(comm);
    while (NULL != (message = epml_match_some_of_context(&ep->match, comm->context))) {
        mca_pml_epml_rndv_cancel_unexpected(comm, message);
    }
    /* What members that gave up have not waited for. */
    while (comm->agrees
           && NULL
                  != (message = epml_match_some_of_context(&ep->match,
                                                           comm->context | EPML_AGREE_CONTEXT))) {
        mca_pml_epml_rndv_cancel_unexpected(comm, message);
    }
    mca_pml_epml_part_del_comm(comm);
    mca_pml_epml_am_del_comm(comm);
    unlink_inner(comm);
    epml_match_end_promise(&ep->match, comm->context);
    mca_pml_epml_unlock(ep);

    mca_pml_epml_clients_free(comm);
    ompi_comm->c_pml_comm = NULL;
    if (comm->may_owe) {
        mca_pml_epml_former_peers_add(comm->peers);
    }
    mca_pml_epml_peers_release(comm->peers);
    mca_pml_epml_peers_release(comm->local);
    free(comm->loss.list);
    free(comm);
    mca_pml_epml_hold_local_end(ompi_comm);
    mca_pml_epml_ep_release(ep);
    return OMPI_SUCCESS;
}
