/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Agreement on context ids, blocking (pml_epml_cid.c) and nonblocking (pml_epml_cid_nb.c), and what it has in common
 * with the activation after it (pml_epml_cid_activate.h).
 *
 * Tests: comm_tree, comm_group_tag
 */

#ifndef MCA_PML_EPML_CID_H
#define MCA_PML_EPML_CID_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

/** ompi_comm_nextcid of an endpoint: the same arguments that matter, the same results. */
int mca_pml_epml_cid_agree(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                           const void *arg0, int mode);

/** ompi_comm_nextcid_nb of an endpoint, likewise. */
int mca_pml_epml_cid_agree_nb(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int mode,
                              ompi_request_t **request_p);

/** What members send each other while they agree. */
enum {
    EPML_CID_ID = 0,     /**< the id, or the first one of a block */
    EPML_CID_STATUS = 1, /**< not 0: something failed, and so must the receiver */
    EPML_CID_WORDS = 2
};

/** The kinds of messages between members; part of the tag. */
typedef enum mca_pml_epml_cid_kind_t {
    EPML_CID_AGREE = 0,      /**< an id, along the tree */
    EPML_CID_AGREE_INTER,    /**< an id, between the sides of an intercommunicator */
    EPML_CID_ACTIVATE,       /**< all members are ready, along a tree */
    EPML_CID_ACTIVATE_INTER, /**< this side is ready */
    EPML_CID_KINDS
} mca_pml_epml_cid_kind_t;

/** How many operations of a kind may be under way on one communicator. */
#define EPML_CID_TAGS (1 << 24)

/**
 * The tag of a message.  Open MPI has a range of tags for coll/hcoll, which is never let onto
 * communicators of endpoints.
 *
 * @param[in] key  the agreement's number, or the context id; those under way at a time differ in
 *                 their low bits
 */
static inline int mca_pml_epml_cid_tag(mca_pml_epml_cid_kind_t kind, uint64_t key)
{
    return MCA_COLL_BASE_TAG_NEIGHBOR_END - 1 - (int) (key % EPML_CID_TAGS) * EPML_CID_KINDS
           - (int) kind;
}

/* ---- pml_epml_cid_assign.c ---------------------------------------------------------------------------- */

/** Will this process be a member of newcomm?  If not it only helps the others to agree. */
static inline bool mca_pml_epml_cid_participates(const ompi_communicator_t *newcomm)
{
    return MPI_UNDEFINED != newcomm->c_local_group->grp_my_rank;
}

/** How many ids the member that draws needs: one for each communicator that the call can make. */
uint32_t mca_pml_epml_cid_block(const ompi_communicator_t *newcomm,
                                const ompi_communicator_t *comm);

/**
 * Modes INTRA and INTER: the beginning of the block is known, finish newcomm.
 *
 * @param[in] number  of the nonblocking agreement, or 0
 */
int mca_pml_epml_cid_assign(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int mode,
                            uint64_t base, uint64_t number);

/** Finish newcomm with a context id of its own.  @param[in] number  likewise */
int mca_pml_epml_cid_place(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                           uint64_t context, uint64_t number);

/**
 * The lowest rank in group that one of the first count members of new_group has.
 *
 * @param[out] index_p  that member's rank in new_group; may be NULL
 *
 * @return the rank, or MPI_UNDEFINED
 */
int mca_pml_epml_cid_lowest_rank(ompi_group_t *new_group, int count, ompi_group_t *group,
                                 int *index_p);

/**
 * MPI_COMM_NULL, for a caller in libmpi whose new communicator has come to nothing.  Some of them
 * release what they find there, as if it were still a communicator of theirs; a reference more lets
 * them.
 */
static inline ompi_communicator_t *mca_pml_epml_cid_null(void)
{
    OBJ_RETAIN(MPI_COMM_NULL);
    return MPI_COMM_NULL;
}

/** Rank in comm of a rank of newcomm, which is a part of it. */
int mca_pml_epml_cid_comm_rank(const ompi_communicator_t *newcomm, const ompi_communicator_t *comm,
                               int rank);

END_C_DECLS

#endif /* MCA_PML_EPML_CID_H */
