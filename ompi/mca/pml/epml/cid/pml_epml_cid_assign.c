/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which context id a communicator gets, and which member draws it, by what all members know of the
 * groups.
 *
 * A split makes several communicators in one call.  Each takes its id from the block that has been
 * drawn by the rank in comm of one of its own members, which no two of them can share.
 *
 * Tests: comm_tree, comm_nomem
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_cid.h"

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_group.h"

/**
 * Is newcomm an intracommunicator of one side of comm?  MPI_Comm_split_type makes one of an
 * intercommunicator where libmpi finds no member on the other side: an error, of libmpi's, at that
 * member alone.
 */
static bool cid_is_half(const ompi_communicator_t *newcomm, const ompi_communicator_t *comm)
{
    return OMPI_COMM_IS_INTER(comm) && OMPI_COMM_IS_INTRA(newcomm)
           && newcomm->c_local_group->grp_proc_count
                  != comm->c_local_group->grp_proc_count + comm->c_remote_group->grp_proc_count;
}

/** Does newcomm have all the members of comm?  Then it is the only one that the call makes. */
static bool cid_is_whole(const ompi_communicator_t *newcomm, const ompi_communicator_t *comm)
{
    if (OMPI_COMM_IS_INTER(comm) && OMPI_COMM_IS_INTRA(newcomm)) {
        return !cid_is_half(newcomm, comm); /* a merge */
    }
    return newcomm->c_local_group->grp_proc_count == comm->c_local_group->grp_proc_count
           && newcomm->c_remote_group->grp_proc_count == comm->c_remote_group->grp_proc_count;
}

uint32_t mca_pml_epml_cid_block(const ompi_communicator_t *newcomm, const ompi_communicator_t *comm)
{
    return cid_is_whole(newcomm, comm) ? 1 : (uint32_t) comm->c_local_group->grp_proc_count;
}

int mca_pml_epml_cid_lowest_rank(ompi_group_t *new_group, int count, ompi_group_t *group,
                                 int *index_p)
{
    int lowest = MPI_UNDEFINED;

    for (int i = 0; i < count; ++i) {
        int rank = MPI_UNDEFINED;

        ompi_group_translate_ranks(new_group, 1, &i, group, &rank);
        if (0 <= rank && (0 > lowest || rank < lowest)) {
            lowest = rank;
            if (NULL != index_p) {
                *index_p = i;
            }
        }
    }
    return lowest;
}

int mca_pml_epml_cid_comm_rank(const ompi_communicator_t *newcomm, const ompi_communicator_t *comm,
                               int rank)
{
    int comm_rank = rank;

    if (newcomm->c_local_group != comm->c_local_group) {
        ompi_group_translate_ranks(newcomm->c_local_group, 1, &rank, comm->c_local_group,
                                   &comm_rank);
    }
    return comm_rank;
}

/** Which id of the block is newcomm's; participants only.  @return MPI_UNDEFINED if none is */
static int cid_offset(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int mode)
{
    if (cid_is_whole(newcomm, comm)) {
        return 0;
    }
    if (OMPI_COMM_CID_INTER == mode) {
        /* All members, not the first: the two sides need not have the same order of them
         * (MPI_Comm_create in libmpi lists the remote side in the order of the old ranks). */
        bool local = mpix_endpoints_group_local_draws(comm);
        ompi_group_t *new_group = local ? newcomm->c_local_group : newcomm->c_remote_group;

        return mca_pml_epml_cid_lowest_rank(new_group, new_group->grp_proc_count,
                                            local ? comm->c_local_group : comm->c_remote_group,
                                            NULL);
    }
    return mca_pml_epml_cid_comm_rank(newcomm, comm, 0);
}

int mca_pml_epml_cid_place(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                           uint64_t context, uint64_t number)
{
    const int rc = mca_pml_epml_comm_assign(newcomm, comm, context,
                                            mca_pml_epml_cid_participates(newcomm));

    mca_pml_epml_notes_init(newcomm, context, number);
    return rc;
}

int mca_pml_epml_cid_assign(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int mode,
                            uint64_t base, uint64_t number)
{
    int offset;

    if (!mca_pml_epml_cid_participates(newcomm)) {
        /* Freed again without a message sent; but until then it must look like a communicator. */
        return mca_pml_epml_cid_place(newcomm, comm, mca_pml_epml_context_ids(1), number);
    }
    if (cid_is_half(newcomm, comm)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    offset = cid_offset(newcomm, comm, mode);
    return 0 <= offset ? mca_pml_epml_cid_place(newcomm, comm, base + (uint64_t) offset, number)
                       : MPI_ERR_GROUP;
}
