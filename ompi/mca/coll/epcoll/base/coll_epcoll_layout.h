/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which members of a communicator live in which process, and which processes on which node.  Known
 * to all, the same at all, without a message; one for all members of a process.
 */

#ifndef MCA_COLL_EPCOLL_LAYOUT_H
#define MCA_COLL_EPCOLL_LAYOUT_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "../segment/segment.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

/** Slices of a long vector, at most: members of a process that own one each. */
#define EPCOLL_SLICES 8

/** Written once, before any member has it. */
typedef struct mca_coll_epcoll_layout_t {
    epcoll_aux_t aux;                /**< of views by rank that have no rings */
    mpix_endpoints_memory_t *memory; /**< that it is in */
    bool is_made;
    bool is_ordered;    /**< ranks of a process follow each other; so the processes' are in order */
    bool is_shared;     /**< there is a process with two members */
    bool is_even;       /**< each process has as many members, EPCOLL_SLICES at most */
    uint32_t processes; /**< in the order of their lowest ranks */
    uint32_t own;       /**< this one among them */
    uint32_t slices;    /**< members that each process has, EPCOLL_SLICES at most */
    /** In the order of their first processes.  Where all processes are on one node, each counts as
     * one; so does one whose node the launcher does not know. */
    uint32_t nodes;
    bool is_by_node; /**< processes of a node follow each other: their order is that of positions */
    uint32_t *process_of; /**< by rank */
    uint32_t *index_of;   /**< of a rank, in its process */
    uint32_t *first;      /**< by process, and one more: where its ranks begin in member */
    uint32_t *member;     /**< ranks by process, in order */
    uint32_t *node_of;    /**< of a process */
    uint32_t *position;   /**< likewise: where it is in on_node */
    uint32_t *on_node;    /**< processes by node, in order */
    uint32_t *node_first; /**< by node, and one more: where its processes begin in on_node */
} mca_coll_epcoll_layout_t;

/**
 * Make the layout of a handle's communicator, or find it.  In the client's make.
 *
 * @param[in]  key       of the memory, for memory_get
 * @param[out] layout_p  its memory is to be put back after the last use
 * @return MPI_SUCCESS or an error code
 */
int mca_coll_epcoll_layout_get(ompi_communicator_t *comm, uint32_t key,
                               const mca_coll_epcoll_layout_t **layout_p);

static inline uint32_t mca_coll_epcoll_layout_count(const mca_coll_epcoll_layout_t *layout,
                                                    uint32_t process)
{
    return layout->first[process + 1] - layout->first[process];
}

/** The rank of a process's member, by its index there. */
static inline uint32_t mca_coll_epcoll_layout_rank(const mca_coll_epcoll_layout_t *layout,
                                                   uint32_t process, uint32_t index)
{
    return layout->member[layout->first[process] + index];
}

/** May a process have two members?  Without memory: communicators of none are made often.
 * @return false: none has; the same at all members */
bool mca_coll_epcoll_some_share(const ompi_communicator_t *comm);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_LAYOUT_H */
