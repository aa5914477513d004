/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The peers of a member: its neighbours in a topology, or all members.  The topology is asked in
 * each call, as libmpi attaches it to a communicator after the components have been asked.
 */

#ifndef MCA_COLL_EPCOLL_PEERS_H
#define MCA_COLL_EPCOLL_PEERS_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"

BEGIN_C_DECLS

typedef struct mca_coll_epcoll_peers_t {
    ompi_communicator_t *comm;
    bool are_neighbors;         /**< else all members, in the order of ranks */
    uint32_t sources, targets; /**< blocks that are received, and sent */
} mca_coll_epcoll_peers_t;

/** @param are_neighbors  comm has a topology */
mca_coll_epcoll_peers_t mca_coll_epcoll_peers_of(ompi_communicator_t *comm, bool are_neighbors);

/** The rank that a block goes to or comes from.  @return MPI_PROC_NULL: nobody */
int mca_coll_epcoll_peers_target(const mca_coll_epcoll_peers_t *peers, uint32_t block);
int mca_coll_epcoll_peers_source(const mca_coll_epcoll_peers_t *peers, uint32_t block);

/**
 * Which block is received in a turn?  Blocks are sent in their order, and messages between two
 * members are received in the order in which they were sent.  Where two members have several edges
 * to each other, the order of receives says which block meets which:
 *
 *  - In a Cartesian grid what goes in the negative direction comes from the positive one (MPI 4.1,
 *    8.6, example of MPI_NEIGHBOR_ALLTOALL), so the blocks of a dimension are received in the
 *    opposite order.  That shows in periodic dimensions of one or two members.
 *  - In a graph the first edge of the sender is the first one of the receiver, and so on.
 */
uint32_t mca_coll_epcoll_peers_in_turn(const mca_coll_epcoll_peers_t *peers, uint32_t turn);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_PEERS_H */
