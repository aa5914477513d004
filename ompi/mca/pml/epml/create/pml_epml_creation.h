/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A creation: members of one group, or of two that do not know each other yet, make communicators
 * of endpoints together.  docs/creation.md has what is said in which phase, and how it ends when
 * something goes wrong.
 *
 * Four things are made so: endpoints from a communicator (pml_epml_create.c), intercommunicators
 * between groups that meet (pml_epml_intercomm.c), what connected communicators are
 * merged into (pml_epml_merge.c), and communicators of a group alone (pml_epml_from_group.c).
 */

#ifndef MCA_PML_EPML_CREATION_H
#define MCA_PML_EPML_CREATION_H

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_bootstrap.h"
#include "pml_epml_phases.h"
#include "pml_epml_side.h"

#include "opal/util/info.h"

BEGIN_C_DECLS

/** What is agreed on in the first phase; all are maxima over the members. */
typedef struct mca_pml_epml_agreement_t {
    int64_t error;        /**< mpix_endpoints_error_t */
    int64_t num_ep;       /**< largest count */
    int64_t minus_ep;     /**< minus the smallest count */
    int64_t address_size; /**< largest address */
    int64_t no_promise;   /**< a member does not promise the same count everywhere */
    int64_t context;      /**< of the drawings of the sides' first members; the others give 0 */
    int64_t lacking_node; /**< a member needs the node side and has none */
    int64_t having_node;  /**< a member has it */
} mca_pml_epml_agreement_t;

struct mca_pml_epml_creation_t;

/** What the kinds of creation do differently, alone.  NULL: nothing. */
typedef struct mca_pml_epml_creation_ops_t {
    /** An endpoint could not be made, after some others: tell the user. */
    void (*short_of)(const struct mca_pml_epml_creation_t *creation, int made, int rc);

    /** Do the members fit together, by their addresses?
     * @return OMPI_SUCCESS, or an error of the arguments, the same on all members */
    int (*fit)(const struct mca_pml_epml_creation_t *creation);

    /** What a new handle says of itself.  @return OMPI_SUCCESS or an error */
    int (*dress)(const struct mca_pml_epml_creation_t *creation, ompi_communicator_t *handle);
} mca_pml_epml_creation_ops_t;

/** In progress, at one member. */
typedef struct mca_pml_epml_creation_t {
    /* Set by the creating function. */
    const mca_pml_epml_creation_ops_t *ops;
    ompi_communicator_t *parent; /**< for instance, error handler and name */
    int rank;                    /**< this member's number on its side */
    opal_process_name_t name;    /**< of its first endpoint */
    const opal_process_name_t *names; /**< of all of them; NULL: the others get new ones */
    mca_pml_epml_bootstrap_t bootstrap;
    epml_side_t local;             /**< group and number of members */
    epml_side_t remote;            /**< of none, if the exchange is one-sided */
    const int *counts;             /**< endpoints of each member, if they are known; else NULL */
    const int *order;              /**< rank that each endpoint gets, in the order of the members;
                                    * NULL: that order.  One-sided only */
    mca_pml_epml_peers_t *known;   /**< of own side, if its members are endpoints; else NULL */
    int num_ep;                    /**< this member's endpoints */
    mca_pml_epml_ep_t **eps;       /**< room for them; references of the creation's */
    ompi_communicator_t **handles; /**< room for theirs, empty */
    bool has_eps;                  /**< they are there; else they are made */
    bool promise;                  /**< all bring as many */
    mca_pml_epml_level_t level;    /**< of new endpoints */
    unsigned int transports;       /**< that our endpoints need, set of EPML_WITH_* */
    opal_info_t *info;             /**< the user's, or NULL */
    mpix_endpoints_error_t error;  /**< what is wrong with this member's arguments; what was */

    /* What comes of it. */
    bool without_node; /**< a member cannot use the node side: none does */
    mca_pml_epml_agreement_t agreed;
    uint64_t local_context; /**< of own side's communicator, if there are two */
    int first;              /**< number of our endpoint 0, in the order of the members */
    int on_node;            /**< endpoints of this node */
    int64_t failed;         /**< the worst error, and the member that has it */
    int64_t unreached;      /**< a member cannot share memory with one on its node */
} mca_pml_epml_creation_t;

/**
 * Create.  Collective over all members.
 *
 * @param[in] failed  OMPI_SUCCESS; else see epml_phases_run
 *
 * @return OMPI_SUCCESS: every member has its handles, or finds out in its first collective that
 *         another one has left; all of them are MPI_COMM_NULL if a side has no endpoints.  Or an
 *         error, of which creation->error says more unless it is MPIX_ENDPOINTS_OK; then there are
 *         no handles
 */
int mca_pml_epml_creation_run(mca_pml_epml_creation_t *creation, int failed);

/* ---- for the phases -------------------------------------------------------------------------- */

extern const epml_phase_t mca_pml_epml_phase_endpoints;
extern const epml_phase_t mca_pml_epml_phase_tables;
extern const epml_phase_t mca_pml_epml_phase_handles;

/** The rank of an endpoint in the new communicator.  @param[in] number  in the order of the
 * members */
static inline int mca_pml_epml_creation_rank(const mca_pml_epml_creation_t *creation, int number)
{
    return NULL != creation->order ? creation->order[number] : number;
}

/** How many endpoints there are so far. */
int mca_pml_epml_creation_eps(const mca_pml_epml_creation_t *creation);

static inline bool mca_pml_epml_creation_uses_node(const mca_pml_epml_creation_t *creation)
{
    return 0 != (creation->transports & EPML_WITH_NODE);
}

/** How bad it is, for a maximum over the members. */
enum {
    EPML_FAILED_NOT = 0,
    EPML_FAILED = 1,
    EPML_FAILED_LOST = 2 /**< a member is lost */
};

/** @param[in] rc  of this member */
int64_t mca_pml_epml_creation_failure(int rc);

/** It has failed at a member, here or elsewhere.  @param[in,out] rc  of this member */
epml_verdict_t mca_pml_epml_creation_fail(mca_pml_epml_creation_t *creation, int *rc);

/** A member cannot use the node side: then none does, and the network reaches all of them.  Routes
 * that differ in the two directions would do, but an endpoint opens a network only if it must. */
epml_verdict_t mca_pml_epml_creation_without_node(mca_pml_epml_creation_t *creation);

/** Give up the lists of peers. */
void mca_pml_epml_creation_forget_peers(mca_pml_epml_creation_t *creation);

END_C_DECLS

#endif /* MCA_PML_EPML_CREATION_H */
