/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The tree along which members agree, each at its place (pml_epml_cid_tree.c).
 */

#ifndef MCA_PML_EPML_CID_TREE_H
#define MCA_PML_EPML_CID_TREE_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/communicator/communicator.h"

BEGIN_C_DECLS

/** The members that agree, at one of them. */
typedef struct mca_pml_epml_cid_tree_t {
    ompi_communicator_t *comm;    /**< whose members they are */
    ompi_communicator_t *newcomm; /**< all members of it, and no others; NULL: all of comm */
    int rank;                     /**< own, in newcomm or comm */
    int size;
    int tag; /**< the user's, or one of mca_pml_epml_cid_tag */
} mca_pml_epml_cid_tree_t;

/**
 * From rank 0 to all.
 *
 * @param[in,out] words  rank 0's; EPML_CID_WORDS
 *
 * @return OMPI_SUCCESS, or an error: this member has nothing, or cannot tell those below it, which
 *         do not know that.  All must meet, and say so
 */
int mca_pml_epml_cid_tree_bcast(const mca_pml_epml_cid_tree_t *tree, uint64_t *words);

/**
 * All wait for all, up the tree and down again.
 *
 * @param[in] rc       how this member has fared
 * @param[in,out] any  something that is so here; then, whether it is at any member
 *
 * @return rc if that is an error, otherwise an error if another member had one
 */
int mca_pml_epml_cid_tree_barrier(const mca_pml_epml_cid_tree_t *tree, int rc, bool *any);

END_C_DECLS

#endif /* MCA_PML_EPML_CID_TREE_H */
