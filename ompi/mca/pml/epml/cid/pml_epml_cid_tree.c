/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The tree along which members agree, for the blocking forms (pml_epml_cid.c, pml_epml_cid_activate.c): the lowest bit of
 * a rank leads to its parent, the bits below that one to its children.
 *
 * Every member sends and receives all messages of the tree whatever has failed, at itself or at
 * others, and reports it in them.  So all get an error if one does, no member waits, and none of
 * these messages is left over for the next agreement.  The last messages, to the children, are an
 * exception: a member that has lost a member of comm, even one that is not in newcomm, does not
 * wait for them.  It says then that it leaves newcomm, in which the others may believe
 * (comm_leave).
 *
 * Tests: comm_ops, comm_tree, ulfm_revoke
 */

#include "ompi_config.h"

#include "../calls/calls.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_cid.h"
#include "pml_epml_cid_message.h"
#include "pml_epml_cid_tree.h"

#include "ompi/constants.h"

#define CID_STATUS EPML_CID_STATUS
#define CID_ANY EPML_CID_ID /* where there is no id to tell of */
#define CID_WORDS EPML_CID_WORDS

/** In words[CID_STATUS]: a member has failed; because a member is lost; because comm is revoked. */
enum { FAILED = 0x1, LOST = 0x2, REVOKED = 0x4 };

static uint64_t status_of(int rc)
{
    switch (rc) {
    case OMPI_SUCCESS:
        return 0;
    case MPI_ERR_PROC_FAILED:
        return FAILED | LOST;
    case MPI_ERR_REVOKED:
        return FAILED | REVOKED;
    default:
        return FAILED;
    }
}

static int error_of(uint64_t status)
{
    return 0 == status               ? OMPI_SUCCESS
           : 0 != (status & REVOKED) ? MPI_ERR_REVOKED
           : 0 != (status & LOST)    ? MPI_ERR_PROC_FAILED
                                     : OMPI_ERROR;
}

/** The rank in comm of one in the tree. */
static int comm_rank(const mca_pml_epml_cid_tree_t *tree, int rank)
{
    return NULL == tree->newcomm ? rank
                                 : mca_pml_epml_cid_comm_rank(tree->newcomm, tree->comm, rank);
}

/** Notes in the words that they could not be had. */
static int tree_receive(const mca_pml_epml_cid_tree_t *tree, int rank, uint64_t *words)
{
    const int rc = mca_pml_epml_cid_recv(tree->comm, comm_rank(tree, rank), tree->tag, words);

    if (OMPI_SUCCESS != rc) {
        words[CID_STATUS] = status_of(rc);
    }
    return rc;
}

static int tree_send(const mca_pml_epml_cid_tree_t *tree, int rank, const uint64_t *words)
{
    return mca_pml_epml_cid_send(tree->comm, comm_rank(tree, rank), tree->tag, words);
}

/** The bit that leads to the parent; of the root, one that is above all ranks. */
static int parent_bit(const mca_pml_epml_cid_tree_t *tree)
{
    int bit = 1;

    while (bit < tree->size && 0 == (tree->rank & bit)) {
        bit <<= 1;
    }
    return bit;
}

/** To all children of the member whose parent is over there. */
static int tell_children(const mca_pml_epml_cid_tree_t *tree, int bit, const uint64_t *words)
{
    int rc = OMPI_SUCCESS;

    for (bit >>= 1; 0 < bit; bit >>= 1) {
        if (tree->rank + bit < tree->size) {
            const int sent = tree_send(tree, tree->rank + bit, words);

            rc = OMPI_SUCCESS == rc ? sent : rc;
        }
    }
    return rc;
}

int mca_pml_epml_cid_tree_bcast(const mca_pml_epml_cid_tree_t *tree, uint64_t *words)
{
    const int bit = parent_bit(tree);
    int rc = OMPI_SUCCESS, sent;

    if (0 != tree->rank) {
        rc = tree_receive(tree, tree->rank - bit, words);
    }
    sent = tell_children(tree, bit, words);
    if (OMPI_SUCCESS == rc) {
        rc = 0 != words[CID_STATUS] ? error_of(words[CID_STATUS]) : sent;
    }
    return rc;
}

int mca_pml_epml_cid_tree_barrier(const mca_pml_epml_cid_tree_t *tree, int rc, bool *any)
{
    const int top = parent_bit(tree);
    uint64_t words[CID_WORDS] = {0};

    words[CID_STATUS] = status_of(rc);
    words[CID_ANY] = *any;
    for (int bit = 1; bit < top; bit <<= 1) {
        uint64_t theirs[CID_WORDS] = {0};

        if (tree->rank + bit < tree->size) {
            (void) tree_receive(tree, tree->rank + bit, theirs);
            words[CID_STATUS] |= theirs[CID_STATUS];
            words[CID_ANY] |= theirs[CID_ANY];
        }
    }
    if (0 != tree->rank) {
        const int sent = tree_send(tree, tree->rank - top, words);

        (void) tree_receive(tree, tree->rank - top, words);
        words[CID_STATUS] |= status_of(sent);
    }
    words[CID_STATUS] |= status_of(tell_children(tree, top, words));
    *any = 0 != words[CID_ANY];
    return OMPI_SUCCESS == rc ? error_of(words[CID_STATUS]) : rc;
}
