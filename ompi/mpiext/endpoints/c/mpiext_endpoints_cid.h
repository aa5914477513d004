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
 * What the blocking (seam_cid.c) and the nonblocking (seam_cid_nb.c) agreement on context ids have
 * in common.  Neither is called by anybody but libmpi.
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
    MPIX_ENDPOINTS_CID_STATUS = 1, /**< 0, or 1: something failed, and so must the receiver */
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

/**
 * Nothing if rc is OMPI_SUCCESS.  Otherwise this member cannot go on with newcomm, whose id is
 * agreed: so that the other members, who wait for it to put newcomm to use, get an error as well.
 *
 * @param[in] tag  mode GROUP: of the user's call; otherwise NULL
 * @param[in] rc   of mpix_endpoints_cid_assign.  MPI_ERR_GROUP is an error that all members see
 */
void mpix_endpoints_activation_cancel(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                                      const int *tag, int rc);

/** Is newcomm to be made out of a group with endpoints alone, which cannot be done?  Any newcomm,
 * any comm. */
bool mpix_endpoints_cid_refused(const ompi_communicator_t *newcomm,
                                const ompi_communicator_t *comm);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_CID_H */
