/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The members that an endpoint has lost, as the calls of fault tolerance (ULFM) have them: a group,
 * and how many of it the user has acknowledged.
 *
 * An acknowledgement is of the first members of the group that the user has seen.  So the group has
 * an order, which is kept with the communicator from the first question on.
 *
 * Called through the link table.
 *
 * Tests: ulfm_ack
 */

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"
#include "pml_epml_acked.h"
#include "pml_epml_lost.h"

#include "ompi/constants.h"
#include "ompi/group/group.h"

/** Lost members of one side that are not in the list yet go to its end.
 *
 * @param[in,out] listed  by rank; @param[in] local  peers is the local group of two */
static void add_side(mca_pml_epml_comm_t *comm, const mca_pml_epml_peers_t *peers,
                     const bool *listed, bool local)
{
    for (int32_t i = 0; i < peers->count; ++i) {
        if (!listed[i] && mca_pml_epml_lost_is(comm->ep, peers->member[i])) {
            comm->loss.list[comm->loss.listed++] = local ? ~i : i;
        }
    }
}

/** Bring the list up to date.  Under the lock. */
static int acked_refresh(mca_pml_epml_comm_t *comm)
{
    const bool has_two = comm->local != comm->peers;
    const size_t peers = (size_t) comm->peers->count,
                 all = peers + (has_two ? (size_t) comm->local->count : 0);
    bool *listed;

    if (mca_pml_epml_lost_has_unseen(comm->ep)) {
        mca_pml_epml_lost_look(comm->ep);
    }
    if (comm->loss.listed == comm->loss.count) {
        return OMPI_SUCCESS;
    }
    if (NULL == comm->loss.list) {
        comm->loss.list = malloc(all * sizeof(*comm->loss.list));
    }
    listed = calloc(all, sizeof(*listed));
    if (NULL == comm->loss.list || NULL == listed) {
        free(listed);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int32_t i = 0; i < comm->loss.listed; ++i) {
        const int32_t rank = comm->loss.list[i];

        listed[0 <= rank ? (size_t) rank : peers + (size_t) ~rank] = true;
    }
    add_side(comm, comm->peers, listed, false);
    if (has_two) {
        add_side(comm, comm->local, listed + peers, true);
    }
    free(listed);
    return OMPI_SUCCESS;
}

/** The first members of the list.  Under the lock. */
static int make_group(const mca_pml_epml_comm_t *comm, int32_t count, ompi_group_t **group_p)
{
    ompi_group_t *group;

    if (0 == count) {
        OBJ_RETAIN(MPI_GROUP_EMPTY);
        *group_p = MPI_GROUP_EMPTY;
        return OMPI_SUCCESS;
    }
    group = ompi_group_allocate(comm->comm->c_local_group, count);
    if (NULL == group) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int32_t i = 0; i < count; ++i) {
        const int32_t rank = comm->loss.list[i];

        group->grp_proc_pointers[i] = 0 <= rank ? comm->peers->member[rank]->proc
                                                : comm->local->member[~rank]->proc;
    }
    ompi_group_increment_proc_count(group);
    group->grp_my_rank = MPI_UNDEFINED;
    *group_p = group;
    return OMPI_SUCCESS;
}

int mca_pml_epml_acked_group(ompi_communicator_t *ompi_comm, bool acked, ompi_group_t **group_p)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);
    int rc;

    mca_pml_epml_lock(comm->ep);
    rc = acked ? OMPI_SUCCESS : acked_refresh(comm);
    if (OMPI_SUCCESS == rc) {
        rc = make_group(comm, acked ? comm->loss.acked : comm->loss.listed, group_p);
    }
    mca_pml_epml_unlock(comm->ep);
    return rc;
}

int mca_pml_epml_acked_add(ompi_communicator_t *ompi_comm, int wanted, int *acked_p)
{
    mca_pml_epml_comm_t *comm = mca_pml_epml_comm(ompi_comm);
    int rc;

    mca_pml_epml_lock(comm->ep);
    rc = acked_refresh(comm);
    if (OMPI_SUCCESS == rc) {
        const int32_t most = wanted < comm->loss.listed ? wanted : comm->loss.listed;

        comm->loss.acked = comm->loss.acked < most ? most : comm->loss.acked;
        *acked_p = comm->loss.acked;
    }
    mca_pml_epml_unlock(comm->ep);
    return rc;
}
