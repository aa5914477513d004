/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Peers by the topology of a communicator.
 *
 * Called by coll_epcoll_direct.c.
 *
 * Tests: coll_neighbor, coll_blocks
 */

#include "ompi_config.h"

#include "coll_epcoll_peers.h"

#include "mpi.h"
#include "ompi/mca/topo/base/base.h"
#include "ompi/mca/topo/topo.h"

/** Edges of the own node in a graph. */
static const int *graph_edges(const ompi_communicator_t *comm, uint32_t *count)
{
    const int rank = ompi_comm_rank(comm), *index = comm->c_topo->mtc.graph->index;
    const int first = 0 == rank ? 0 : index[rank - 1];

    *count = (uint32_t) (index[rank] - first);
    return comm->c_topo->mtc.graph->edges + first;
}

mca_coll_epcoll_peers_t mca_coll_epcoll_peers_of(ompi_communicator_t *comm, bool are_neighbors)
{
    mca_coll_epcoll_peers_t peers = {.comm = comm, .are_neighbors = are_neighbors};

    if (!are_neighbors) {
        peers.sources = (uint32_t) ompi_comm_size(comm);
    } else if (OMPI_COMM_IS_CART(comm)) {
        peers.sources = 2 * (uint32_t) comm->c_topo->mtc.cart->ndims;
    } else if (OMPI_COMM_IS_GRAPH(comm)) {
        (void) graph_edges(comm, &peers.sources);
    } else {
        peers.sources = (uint32_t) comm->c_topo->mtc.dist_graph->indegree;
        peers.targets = (uint32_t) comm->c_topo->mtc.dist_graph->outdegree;
        return peers;
    }
    peers.targets = peers.sources;
    return peers;
}

/** Where both are the same, or both ends of a dimension. */
static int peers_same(const mca_coll_epcoll_peers_t *peers, uint32_t block)
{
    int ends[2];
    uint32_t count;

    if (!peers->are_neighbors) {
        return (int) block;
    }
    if (OMPI_COMM_IS_GRAPH(peers->comm)) {
        return graph_edges(peers->comm, &count)[block];
    }
    (void) mca_topo_base_cart_shift(peers->comm, (int) block / 2, 1, &ends[0], &ends[1]);
    return ends[block % 2];
}

static bool is_directed(const mca_coll_epcoll_peers_t *peers)
{
    return peers->are_neighbors && OMPI_COMM_IS_DIST_GRAPH(peers->comm);
}

int mca_coll_epcoll_peers_target(const mca_coll_epcoll_peers_t *peers, uint32_t block)
{
    return is_directed(peers) ? peers->comm->c_topo->mtc.dist_graph->out[block]
                              : peers_same(peers, block);
}

int mca_coll_epcoll_peers_source(const mca_coll_epcoll_peers_t *peers, uint32_t block)
{
    return is_directed(peers) ? peers->comm->c_topo->mtc.dist_graph->in[block]
                              : peers_same(peers, block);
}

uint32_t mca_coll_epcoll_peers_in_turn(const mca_coll_epcoll_peers_t *peers, uint32_t turn)
{
    return peers->are_neighbors && OMPI_COMM_IS_CART(peers->comm) ? turn ^ 1 : turn;
}
