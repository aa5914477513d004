/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Context ids: what tells the messages of one communicator from those of another.
 *
 * libmpi lets all members agree on one slot in their communicator tables.  Two endpoints of a
 * process share that table, so for them there is no such slot.  Here each handle takes whatever
 * slot is free (comm_assign in pml/epml does), and what the members agree on is a 64 bit id: one
 * member draws it, and sends it to the others.  One message to each, where libmpi needs two or more
 * allreduces.
 *
 * Which member draws the block, and how the others get it, depends on how the communicator comes
 * about (mode):
 *   INTRA         dup, create, split, topologies; collective over comm: rank 0 draws a block and
 *                 tells its beginning, along a tree
 *   INTER         the same on an intercommunicator, and merge: rank 0 of one side, the same side
 *                 seen from both, draws and broadcasts to both sides
 *   GROUP         create_group, only the new members take part: rank 0 of the new communicator
 *                 draws; likewise, with the user's tag
 * MPI_Intercomm_create does not come here (hook_intercomm.c).
 * Here is the blocking form; pml_epml_cid_nb.c has the nonblocking one, pml_epml_cid_assign.c what both do with the
 * id, pml_epml_cid_activate.c what follows.
 *
 * Tests: comm_tree, comm_nomem, comm_group_tag, cut (left_)
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_cid_activate.h"
#include "pml_epml_cid.h"
#include "pml_epml_cid_tree.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/common/ep/common_ep_group.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/proc/proc.h"

#define CID_ID EPML_CID_ID
#define CID_STATUS EPML_CID_STATUS
#define CID_WORDS EPML_CID_WORDS

/* ---- the modes ------------------------------------------------------------------------------- */

static int cid_bcast(void *buf, int words, int root, ompi_communicator_t *comm)
{
    return comm->c_coll->coll_bcast(buf, words, MPI_UINT64_T, root, comm,
                                    comm->c_coll->coll_bcast_module);
}

/** @param[in] rank, rc  of cid_own_group */
static int cid_intra(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int rank, int rc)
{
    mca_pml_epml_cid_tree_t tree = {.comm = comm,
                                    .rank = ompi_comm_rank(comm),
                                    .size = ompi_comm_size(comm),
                                    .tag = mca_pml_epml_cid_tag(EPML_CID_AGREE, 0)};
    uint64_t words[CID_WORDS] = {0, 0};
    int spread_rc;

    if (0 == tree.rank) {
        words[CID_ID] = mca_pml_epml_context_ids(mca_pml_epml_cid_block(newcomm, comm));
    }
    spread_rc = mca_pml_epml_cid_tree_bcast(&tree, words);
    if (OMPI_SUCCESS == rc) {
        rc = spread_rc;
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_cid_assign(newcomm, comm, OMPI_COMM_CID_INTRA, words[CID_ID], 0);
    }
    tree.newcomm = newcomm;
    tree.rank = rank;
    tree.size = newcomm->c_local_group->grp_proc_count;
    tree.tag = mca_pml_epml_cid_activation_tag();
    return mca_pml_epml_cid_activation_cancel(&tree, rc);
}

/** The root of a broadcast over an intercommunicator, from rank 0 of the side that draws. */
static int cid_inter_root(const ompi_communicator_t *comm, bool local_draws)
{
    if (!local_draws) {
        return 0;
    }
    return 0 == ompi_comm_rank(comm) ? MPI_ROOT : MPI_PROC_NULL;
}

static int cid_inter(ompi_communicator_t *newcomm, ompi_communicator_t *comm)
{
    bool local_draws = mpix_endpoints_group_local_draws(comm);
    uint64_t base = 0;
    int rc;

    if (local_draws && 0 == ompi_comm_rank(comm)) {
        base = mca_pml_epml_context_ids(mca_pml_epml_cid_block(newcomm, comm));
    }
    rc = cid_bcast(&base, 1, cid_inter_root(comm, local_draws), comm);
    if (OMPI_SUCCESS == rc && local_draws) {
        rc = cid_bcast(&base, 1, 0, comm->c_local_comm);
    }
    return OMPI_SUCCESS == rc ? mca_pml_epml_cid_assign(newcomm, comm, OMPI_COMM_CID_INTER, base, 0)
                              : rc;
}

/** Are all members of newcomm members of comm?  The same answer on all of them. */
static bool cid_is_part(ompi_communicator_t *newcomm, ompi_communicator_t *comm)
{
    for (int i = 0; i < newcomm->c_local_group->grp_proc_count; ++i) {
        if (0 > mca_pml_epml_cid_comm_rank(newcomm, comm, i)) {
            return false;
        }
    }
    return true;
}

/** Mode GROUP.  The tag is the user's: it tells apart two calls on one communicator at a time.
 *
 * @param[in] rank, rc  of cid_own_group */
static int cid_group(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int tag, int rank,
                     int rc)
{
    const mca_pml_epml_cid_tree_t tree = {.comm = comm,
                                          .newcomm = newcomm,
                                          .rank = rank,
                                          .size = newcomm->c_local_group->grp_proc_count,
                                          .tag = tag};
    uint64_t words[CID_WORDS] = {0, 0};
    int spread_rc;

    if (MPI_UNDEFINED == rank || !cid_is_part(newcomm, comm)) {
        return MPI_ERR_GROUP;
    }
    if (0 == rank) {
        words[CID_ID] = mca_pml_epml_context_ids(1);
    }
    spread_rc = mca_pml_epml_cid_tree_bcast(&tree, words);
    if (OMPI_SUCCESS == rc) {
        rc = spread_rc;
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_pml_epml_cid_place(newcomm, comm, words[CID_ID], 0);
    }
    return mca_pml_epml_cid_activation_cancel(&tree, rc);
}

/* ---- the call -------------------------------------------------------------------------------- */

/**
 * Which endpoint is newcomm for?  libmpi asks the group that the user gave, and a group knows its
 * own owner: one that another endpoint of this process made, or the process itself
 * (MPI_COMM_WORLD's), says that one's rank.
 *
 * @return own rank in newcomm, or MPI_UNDEFINED
 */
static int cid_own_rank(const ompi_communicator_t *newcomm, const ompi_communicator_t *comm)
{
    const ompi_group_t *group = newcomm->c_local_group;
    const ompi_proc_t *me = mpix_endpoints_group_owner(comm->c_local_group);

    if (MPI_UNDEFINED == group->grp_my_rank && MPI_UNDEFINED != newcomm->c_my_rank) {
        return MPI_UNDEFINED; /* the sign of a split for a member that stays out; the group is
                                 newcomm's alone */
    }
    if (OPAL_LIKELY(group == comm->c_local_group || me == mpix_endpoints_group_owner(group))) {
        return group->grp_my_rank;
    }
    return mpix_endpoints_group_rank_of(group, me);
}

/** If the group says another rank, newcomm gets a copy that says this one. */
static int cid_own_group(ompi_communicator_t *newcomm, int rank)
{
    ompi_group_t *group = newcomm->c_local_group, *copy;

    if (OPAL_LIKELY(rank == group->grp_my_rank)) {
        return OMPI_SUCCESS;
    }
    copy = ompi_group_allocate(group, group->grp_proc_count);
    if (NULL == copy) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < group->grp_proc_count; ++i) {
        copy->grp_proc_pointers[i] = ompi_group_get_proc_ptr_raw(group, i);
    }
    ompi_group_increment_proc_count(copy);
    copy->grp_my_rank = rank;
    if (OMPI_COMM_IS_INTRA(newcomm)) {
        OBJ_RELEASE(newcomm->c_remote_group);
        newcomm->c_remote_group = copy;
        OBJ_RETAIN(copy);
    }
    OBJ_RELEASE(newcomm->c_local_group);
    newcomm->c_local_group = copy;
    newcomm->c_my_rank = rank;
    return OMPI_SUCCESS;
}

int mca_pml_epml_cid_agree(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                           const void *arg0, int mode)
{
    const int rank = cid_own_rank(newcomm, comm), rc = cid_own_group(newcomm, rank);

    switch (mode) {
    case OMPI_COMM_CID_INTRA:
        return cid_intra(newcomm, comm, rank, rc);
    case OMPI_COMM_CID_INTER:
        return OMPI_SUCCESS == rc ? cid_inter(newcomm, comm) : rc;
    case OMPI_COMM_CID_GROUP:
        return cid_group(newcomm, comm, *(const int *) arg0, rank, rc);
    default:
        /* Connected and spawned jobs: not with endpoints. */
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
}
