/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Layouts, in memory that the members of a process share.
 *
 * Called by coll_epcoll_component.c.
 *
 * Tests: coll_layout, coll_nodes
 */

#include "ompi_config.h"

#include "coll_epcoll.h"
#include "coll_epcoll_layout.h"

#include "mpi.h"

#include <pthread.h>

/** Ranks of a communicator that is examined without memory. */
#define RANKS_FEW 64

/** Several threads may make members of a process at a time: the first one fills it in. */
static pthread_mutex_t filling = PTHREAD_MUTEX_INITIALIZER;

static void place_arrays(mca_coll_epcoll_layout_t *layout, uint32_t size)
{
    layout->process_of = (uint32_t *) (layout + 1);
    layout->index_of = layout->process_of + size;
    layout->member = layout->index_of + size;
    layout->first = layout->member + size;
    layout->node_of = layout->first + size + 1;
    layout->position = layout->node_of + size;
    layout->on_node = layout->position + size;
    layout->node_first = layout->on_node + size;
}

/** The number of a process among those that have been seen; a new one if it has not.
 * @param known  their ranks in the job, by number */
static uint32_t number_of(mca_coll_epcoll_layout_t *layout, uint32_t *known, uint32_t process,
                          uint32_t before)
{
    if (0 < layout->processes && process == known[before]) {
        return before; /* as that of the rank before it, mostly */
    }
    for (uint32_t i = 0; i < layout->processes; ++i) {
        if (process == known[i]) {
            return i;
        }
    }
    known[layout->processes] = process;
    return layout->processes++;
}

/** Counts in first, then sums: where each process begins. */
static void layout_sort(mca_coll_epcoll_layout_t *layout, uint32_t size)
{
    uint32_t begin = 0;

    memset(layout->first, 0, (layout->processes + 1) * sizeof(*layout->first));
    for (uint32_t rank = 0; rank < size; ++rank) {
        layout->index_of[rank] = layout->first[layout->process_of[rank]]++;
    }
    layout->slices = EPCOLL_SLICES;
    for (uint32_t i = 0; i <= layout->processes; ++i) {
        const uint32_t count = layout->first[i];

        layout->first[i] = begin;
        begin += count;
        if (i < layout->processes) {
            layout->slices = count < layout->slices ? count : layout->slices;
            layout->is_shared = layout->is_shared || 1 < count;
        }
    }
    layout->is_even = layout->slices * layout->processes == size;
    for (uint32_t rank = 0; rank < size; ++rank) {
        layout->member[layout->first[layout->process_of[rank]] + layout->index_of[rank]] = rank;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/** The number of a process's node: that of a process before it, or a new one.
 * @param known  the engine's numbers, by process */
static void number_node(mca_coll_epcoll_layout_t *layout, const uint32_t *known, uint32_t process)
{
    const bool is_known = MPIX_ENDPOINTS_NODE_UNKNOWN != known[process];

    for (uint32_t i = process; i-- > 0 && is_known;) { /* that of the process before it, mostly */
        if (known[process] == known[i]) {
            layout->node_of[process] = layout->node_of[i];
            return;
        }
    }
    layout->node_of[process] = layout->nodes++;
}

/** Processes by node.
 * @param known  the engine's numbers, by process; where on_node is, which is written last */
static void sort_nodes(mca_coll_epcoll_layout_t *layout, const uint32_t *known)
{
    uint32_t begin = 0;

    layout->nodes = 0;
    for (uint32_t i = 0; i < layout->processes; ++i) {
        number_node(layout, known, i);
    }
    for (uint32_t i = 0; i < layout->processes && 1 == layout->nodes; ++i) {
        layout->node_of[i] = i;
    }
    layout->nodes = 1 == layout->nodes ? layout->processes : layout->nodes;
    layout->is_by_node = true;
    memset(layout->node_first, 0, (layout->nodes + 1) * sizeof(*layout->node_first));
    for (uint32_t i = 0; i < layout->processes; ++i) {
        layout->position[i] = layout->node_first[layout->node_of[i]]++;
        layout->is_by_node = layout->is_by_node
                             && (0 == i || layout->node_of[i - 1] <= layout->node_of[i]);
    }
    for (uint32_t i = 0; i <= layout->nodes; ++i) {
        const uint32_t count = layout->node_first[i];

        layout->node_first[i] = begin;
        begin += count;
    }
    for (uint32_t i = 0; i < layout->processes; ++i) {
        layout->position[i] += layout->node_first[layout->node_of[i]];
        layout->on_node[layout->position[i]] = i;
    }
}

static int layout_fill(mca_coll_epcoll_layout_t *layout, ompi_communicator_t *comm, uint32_t size)
{
    uint32_t before = 0, *known_node;

    place_arrays(layout, size);
    known_node = layout->on_node; /* which is written last */
    layout->aux.order = layout;
    layout->processes = 0;
    layout->is_ordered = true;
    for (uint32_t rank = 0; rank < size; ++rank) {
        const uint32_t known = layout->processes;
        mpix_endpoints_locality_t place;
        uint32_t number;

        if (!mca_coll_epcoll_component.engine->locality(comm, (int) rank, &place)) {
            return MPI_ERR_INTERN;
        }
        number = number_of(layout, layout->first, place.process, before);
        if (known < layout->processes) {
            known_node[number] = place.node;
        }
        layout->is_ordered = layout->is_ordered && number >= before;
        layout->process_of[rank] = before = number;
        if (place.in_process) {
            layout->own = number;
        }
    }
    layout_sort(layout, size);
    sort_nodes(layout, known_node);
    layout->is_made = true;
    return MPI_SUCCESS;
}

bool mca_coll_epcoll_some_share(const ompi_communicator_t *comm)
{
    const int size = ompi_comm_size(comm);
    uint32_t process[RANKS_FEW];

    if (RANKS_FEW < size) {
        return true;
    }
    for (int rank = 0; rank < size; ++rank) {
        mpix_endpoints_locality_t place;

        if (!mca_coll_epcoll_component.engine->locality(comm, rank, &place)) {
            return false;
        }
        process[rank] = place.process;
        for (int i = 0; i < rank; ++i) {
            if (process[i] == process[rank]) {
                return true;
            }
        }
    }
    return false;
}

int mca_coll_epcoll_layout_get(ompi_communicator_t *comm, uint32_t key,
                               const mca_coll_epcoll_layout_t **layout_p)
{
    const uint32_t size = (uint32_t) ompi_comm_size(comm);
    mca_coll_epcoll_layout_t *layout;
    mpix_endpoints_memory_t *memory;
    int rc = mca_coll_epcoll_component.engine->memory_get(
        comm, MPIX_ENDPOINTS_SCOPE_PROCESS, mca_coll_epcoll_component.client, key,
        sizeof(*layout) + (8 * (size_t) size + 2) * sizeof(uint32_t), &memory);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    layout = memory->base;
    pthread_mutex_lock(&filling);
    if (!layout->is_made) {
        layout->memory = memory;
        rc = layout_fill(layout, comm, size);
    }
    pthread_mutex_unlock(&filling);
    if (MPI_SUCCESS != rc) {
        mca_coll_epcoll_component.engine->memory_put(memory);
        return rc;
    }
    *layout_p = layout;
    return MPI_SUCCESS;
}
