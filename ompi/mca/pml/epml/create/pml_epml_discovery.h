/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Discovery: a member of one communicator or of two finds out which members are connected with it,
 * from communicator to communicator, by members that have passed two (pml_epml_graph.h).
 */

#ifndef MCA_PML_EPML_DISCOVERY_H
#define MCA_PML_EPML_DISCOVERY_H

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_graph.h"

#include "ompi/mca/common/ep/common_ep_link.h"

BEGIN_C_DECLS

/** How it stands with a communicator; the same with all its members. */
typedef enum mca_pml_epml_trail_state_t {
    EPML_TRAIL_OPEN,
    EPML_TRAIL_WHOLE, /**< its members know all connected ones */
    EPML_TRAIL_BROKEN /**< they know that it has failed */
} mca_pml_epml_trail_state_t;

/** A communicator of this member's, and what is exchanged there. */
typedef struct mca_pml_epml_discovery_comm_t {
    ompi_communicator_t *comm;
    mca_pml_epml_trail_state_t state;
    int64_t words[2];             /**< the worst error; rank 0's number for the communicator */
    int updates;                  /**< participants to be sent */
    int *counts, *bytes, *places; /**< by member: what each tells */
    int heard_count;
    epml_graph_participant_t *said, *heard;
} mca_pml_epml_discovery_comm_t;

typedef struct mca_pml_epml_discovery_t {
    int comm_count; /**< 1 or 2 */
    mca_pml_epml_discovery_comm_t comms[EPML_GRAPH_EDGES];
    epml_graph_t graph;
    epml_graph_participant_t self;
    mpix_endpoints_error_t error; /**< what has failed, here or elsewhere */
} mca_pml_epml_discovery_t;

/** A name as a graph has it, and back. */
static inline uint64_t mca_pml_epml_discovery_word(const opal_process_name_t *name)
{
    return (uint64_t) name->jobid << 32 | name->vpid;
}

static inline opal_process_name_t mca_pml_epml_discovery_name(uint64_t word)
{
    return (opal_process_name_t){.jobid = (opal_jobid_t) (word >> 32), .vpid = (opal_vpid_t) word};
}

/**
 * Collective over all connected members; blocks.  A member waits only for members of its
 * own communicators that have not called.
 *
 * @param[in,out] discovery  comm_count, their communicators and error are set, all else is zero;
 *                         afterwards each trail is whole or broken, and if one is broken there is
 *                         an error.  To be ended in any case
 */
void mca_pml_epml_discovery(mca_pml_epml_discovery_t *discovery);

/** Does this member know all connected ones? */
bool mca_pml_epml_discovery_knows(const mca_pml_epml_discovery_t *discovery);

void mca_pml_epml_discovery_end(mca_pml_epml_discovery_t *discovery);

END_C_DECLS

#endif /* MCA_PML_EPML_DISCOVERY_H */
