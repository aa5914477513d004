/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A bootstrap exchange: one group of processes or endpoints, or two that do not know each other yet, agree on
 * something and exchange their identities.
 *
 * One group: the parent of new endpoints.  Two: the sides of an intercommunicator that is a parent,
 * or is about to be made.  Each side has an intracommunicator of its own, whose collectives are
 * used; the leaders of the sides exchange messages over the bridge and pass on what they hear.
 * Or many groups, which are connected by their members (pml_epml_traversal.h).  Or some processes that
 * have no communicator of their own (pml_epml_proc_tree.h).
 *
 * All functions are collective over all members of the exchange and block.  Where something has
 * failed on a side, its leader says so in place of what the other one waits for: each exchange
 * takes place, so no leader waits for one that has stopped.
 */

#ifndef MCA_PML_EPML_BOOTSTRAP_H
#define MCA_PML_EPML_BOOTSTRAP_H

#include "../object/object.h"

BEGIN_C_DECLS

struct mca_pml_epml_proc_tree_t;
struct mca_pml_epml_traversal_t;

typedef struct mca_pml_epml_bootstrap_t {
    ompi_communicator_t *comm;                   /**< own side */
    struct mca_pml_epml_traversal_t *traversal;  /**< in place of own side: by this; else NULL */
    const struct mca_pml_epml_proc_tree_t *tree; /**< likewise */
    int leader;                                  /**< rank in comm that speaks for it */
    bool two_sided;
    ompi_communicator_t *bridge; /**< the leader's, if two_sided */
    int remote_leader;           /**< rank in bridge, or in its remote group */
    int tag;                     /**< of what the other leader sends */
    int out_tag;                 /**< of what it is sent: another one where both leaders may be one
                                  * process */
    bool owes;                   /**< the leader's: the last exchange succeeded.  So the other side
                                      may go on, and wait for the next one.  Of a traversal: it succeeded
                                      with other members */
} mca_pml_epml_bootstrap_t;

/**
 * The maximum of each value over all members.
 *
 * @param[in,out] values    complete after success, and where bootstrap->owes is set
 * @param[out]    own_side  the same over own side only, count values; or NULL
 *
 * @return OMPI_SUCCESS, or an error; others may have the other
 */
int mca_pml_epml_bootstrap_max(mca_pml_epml_bootstrap_t *bootstrap, int64_t *values, int count,
                               int64_t *own_side);

/**
 * The sides exchange something of which each member of a side has the same copy (only the leader's
 * is read).  Two-sided exchanges only.  Sizes in bytes, 2 to INT_MAX; each side knows both.
 *
 * @param[in] own_rc  what has failed on own side just before, as this member sees it, or
 *                    OMPI_SUCCESS.  After a failure the other side gets an error
 *
 * @return own_rc, or else as mca_pml_epml_bootstrap_max; MPI_ERR_PROC_FAILED if the other side has
 *         lost a member
 */
int mca_pml_epml_bootstrap_swap(mca_pml_epml_bootstrap_t *bootstrap, int own_rc, const void *mine,
                                size_t my_size, void *theirs, size_t their_size);

/** The leaders' part of a swap alone: between the leaders only, called by them only. */
int mca_pml_epml_bootstrap_exchange(mca_pml_epml_bootstrap_t *bootstrap, int own_rc,
                                    const void *mine, size_t my_size, void *theirs,
                                    size_t their_size);

/** The other part: from the leader to its side, up to INT_MAX bytes. */
int mca_pml_epml_bootstrap_pass_on(const mca_pml_epml_bootstrap_t *bootstrap, void *data,
                                   size_t size);

/** A collective of own side is over with this member.  Where it has failed for another reason than
 * a loss, others may wait in it, and what has been sent may pass for a part of the next one:
 * endpoints are notified that this one has left, so that it fails with them, and all later ones of
 * this communicator.
 *
 * @param[in] rc  of the collective
 * @return rc */
int mca_pml_epml_bootstrap_within(const mca_pml_epml_bootstrap_t *bootstrap, int rc);

END_C_DECLS

#endif /* MCA_PML_EPML_BOOTSTRAP_H */
