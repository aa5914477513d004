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
 * What the blocking (seam_cid.c) and the nonblocking (seam_cid_nb.c) agreement on context ids, and
 * the activation after it (seam_activate.c), have in common.  Nobody but libmpi calls them.
 *
 * Tests: comm_tree, comm_group_tag
 */

#ifndef MPIEXT_ENDPOINTS_CID_H
#define MPIEXT_ENDPOINTS_CID_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mpiext/endpoints/c/mpiext_endpoints_link.h"

BEGIN_C_DECLS

/** What members send each other while they agree. */
enum {
    MPIX_ENDPOINTS_CID_ID = 0,     /**< the id, or the first one of a block */
    MPIX_ENDPOINTS_CID_STATUS = 1, /**< not 0: something failed, and so must the receiver */
    MPIX_ENDPOINTS_CID_WORDS = 2
};

/** The kinds of messages between members; part of the tag. */
typedef enum mpix_endpoints_cid_kind_t {
    MPIX_ENDPOINTS_CID_AGREE = 0,      /**< an id, along the tree */
    MPIX_ENDPOINTS_CID_AGREE_INTER,    /**< an id, between the sides of an intercommunicator */
    MPIX_ENDPOINTS_CID_ACTIVATE,       /**< everybody is ready, along a tree */
    MPIX_ENDPOINTS_CID_ACTIVATE_INTER, /**< this side is ready */
    MPIX_ENDPOINTS_CID_KINDS
} mpix_endpoints_cid_kind_t;

/** How many operations of a kind may be under way on one communicator. */
#define MPIX_ENDPOINTS_CID_TAGS (1 << 24)

/** Before there are threads (seam_cid_nb.c). */
void mpix_endpoints_cid_init(void);

/**
 * The tag of a message.  Open MPI has a range of tags for coll/hcoll, which is never let onto
 * communicators of endpoints.
 *
 * @param[in] key  the agreement's number, or the context id; those under way at a time differ in
 *                 their low bits
 */
static inline int mpix_endpoints_cid_tag(mpix_endpoints_cid_kind_t kind, uint64_t key)
{
    return MCA_COLL_BASE_TAG_NEIGHBOR_END - 1
           - (int) (key % MPIX_ENDPOINTS_CID_TAGS) * MPIX_ENDPOINTS_CID_KINDS - (int) kind;
}

/* ---- notes on a communicator ------------------------------------------------------------------
 *
 * libmpi has an id block in each communicator that it uses only for those made through the launcher
 * (MPI_Comm_create_from_group); in communicators of endpoints it is free for our notes. */

/** Start the notes of a new communicator of endpoints. */
static inline void mpix_endpoints_notes_init(ompi_communicator_t *comm, uint64_t context,
                                             uint64_t number)
{
    comm->c_contextidb.block_cid.cid_base = context;
    comm->c_contextidb.block_cid.cid_sub.u64 = number;
    comm->c_contextidb.block_nexttag = 0;
}

/** Likewise of one that came about without an agreement, and of its local communicator, if any:
 * their context ids are not asked for, only those of descendants are. */
static inline void mpix_endpoints_notes_begin(ompi_communicator_t *comm)
{
    if (MPI_COMM_NULL == comm) {
        return;
    }
    mpix_endpoints_notes_init(comm, 0, 0);
    if (OMPI_COMM_IS_INTER(comm)) {
        mpix_endpoints_notes_init(comm->c_local_comm, 0, 0);
    }
}

/** The context id that the members have agreed on. */
static inline uint64_t mpix_endpoints_notes_context(const ompi_communicator_t *comm)
{
    return comm->c_contextidb.block_cid.cid_base;
}

/** Which nonblocking agreement on its parent the communicator comes from. */
static inline uint64_t mpix_endpoints_notes_number(const ompi_communicator_t *comm)
{
    return comm->c_contextidb.block_cid.cid_sub.u64;
}

/** Count a nonblocking agreement on the communicator; libmpi begins them one at a time. */
static inline uint64_t mpix_endpoints_notes_count(ompi_communicator_t *comm)
{
    return ++comm->c_contextidb.block_nexttag;
}

/* ---- who and which --------------------------------------------------------------------------- */

/** Will this process be a member of newcomm?  If not it only helps the others to agree. */
static inline bool mpix_endpoints_cid_participates(const ompi_communicator_t *newcomm)
{
    return MPI_UNDEFINED != newcomm->c_local_group->grp_my_rank;
}

/**
 * Intercommunicators: is it the local side that draws the ids?  Any rule will do by which both
 * sides come to the same answer.
 */
bool mpix_endpoints_cid_local_draws(ompi_communicator_t *comm);

/** How many ids the member that draws needs: one for each communicator that the call can make. */
uint32_t mpix_endpoints_cid_block(const ompi_communicator_t *newcomm,
                                  const ompi_communicator_t *comm);

/**
 * Modes INTRA and INTER: the beginning of the block is known, finish newcomm.
 *
 * @param[in] number  of the nonblocking agreement, or 0
 */
int mpix_endpoints_cid_assign(ompi_communicator_t *newcomm, ompi_communicator_t *comm, int mode,
                              uint64_t base, uint64_t number);

/**
 * The lowest rank in group that one of the first count members of new_group has.
 *
 * @param[out] index_p  that member's rank in new_group; may be NULL
 *
 * @return the rank, or MPI_UNDEFINED
 */
int mpix_endpoints_cid_lowest_rank(ompi_group_t *new_group, int count, ompi_group_t *group,
                                   int *index_p);

/**
 * MPI_COMM_NULL, for a caller in libmpi whose new communicator has come to nothing.  Some of them
 * release what they find there, as if it were still a communicator of theirs; a reference more lets
 * them.
 */
static inline ompi_communicator_t *mpix_endpoints_cid_null(void)
{
    OBJ_RETAIN(MPI_COMM_NULL);
    return MPI_COMM_NULL;
}

/** Rank in comm of a rank of newcomm, which is a part of it. */
int mpix_endpoints_cid_comm_rank(const ompi_communicator_t *newcomm,
                                 const ompi_communicator_t *comm, int rank);

/* ---- the tree (seam_tree.c) ------------------------------------------------------------------ */

/** Those who agree, at one of them. */
typedef struct mpix_endpoints_tree_t {
    ompi_communicator_t *comm;    /**< whose members they are */
    ompi_communicator_t *newcomm; /**< all members of it, and no others; NULL: all of comm */
    int rank;                     /**< own, in newcomm or comm */
    int size;
    int tag;                      /**< the user's, or one of mpix_endpoints_cid_tag */
} mpix_endpoints_tree_t;

/**
 * From rank 0 to all.
 *
 * @param[in,out] words  rank 0's; MPIX_ENDPOINTS_CID_WORDS
 *
 * @return OMPI_SUCCESS, or an error: this member has nothing, or cannot tell those below it, who do
 *         not know that.  All must meet, and say so
 */
int mpix_endpoints_tree_spread(const mpix_endpoints_tree_t *tree, uint64_t *words);

/**
 * All wait for all, up the tree and down again.
 *
 * @param[in] rc       how this member has fared
 * @param[in,out] any  something that is so here; then, whether it is at any member
 *
 * @return rc if that is an error, otherwise an error if another member had one
 */
int mpix_endpoints_tree_meet(const mpix_endpoints_tree_t *tree, int rc, bool *any);

/**
 * Nothing if rc is OMPI_SUCCESS.  Otherwise this member cannot go on with the new communicator: so
 * that the other members, who wait for it to put that to use, get an error as well.
 *
 * @param[in] tree  of its members
 * @param[in] rc    MPI_ERR_GROUP is an error that all members see
 *
 * @return rc
 */
int mpix_endpoints_activation_cancel(const mpix_endpoints_tree_t *tree, int rc);

/** The tag of the activation that ends a blocking agreement in mode INTRA: one at a time, in an
 * order that all members of comm see. */
static inline int mpix_endpoints_activation_tag(void)
{
    return mpix_endpoints_cid_tag(MPIX_ENDPOINTS_CID_ACTIVATE, 0);
}

/** Is newcomm to be made out of a group with endpoints alone, which cannot be done?  Any newcomm,
 * any comm. */
bool mpix_endpoints_cid_refused(const ompi_communicator_t *newcomm,
                                const ompi_communicator_t *comm);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_CID_H */
