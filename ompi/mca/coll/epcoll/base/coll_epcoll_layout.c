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
 * Layouts, in memory that the members of a process share.
 *
 * Called by coll_epcoll_component.c.
 *
 * Tests: coll_layout
 */

#include "ompi_config.h"

#include "coll_epcoll.h"
#include "coll_epcoll_layout.h"

#include "mpi.h"

#include <pthread.h>

/** Ranks of a communicator that is looked at without memory. */
#define RANKS_FEW 64

/** Members of a process are made by several threads at a time: who is first fills it in. */
static pthread_mutex_t filling = PTHREAD_MUTEX_INITIALIZER;

static void place_arrays(mca_coll_epcoll_layout_t *layout, uint32_t size)
{
    layout->process_of = (uint32_t *) (layout + 1);
    layout->index_of = layout->process_of + size;
    layout->member = layout->index_of + size;
    layout->first = layout->member + size;
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
static void sort(mca_coll_epcoll_layout_t *layout, uint32_t size)
{
    uint32_t begin = 0;

    memset(layout->first, 0, (layout->processes + 1) * sizeof(*layout->first));
    for (uint32_t rank = 0; rank < size; ++rank) {
        layout->index_of[rank] = layout->first[layout->process_of[rank]]++;
    }
    layout->rails = EPCOLL_RAILS;
    for (uint32_t i = 0; i <= layout->processes; ++i) {
        const uint32_t count = layout->first[i];

        layout->first[i] = begin;
        begin += count;
        if (i < layout->processes) {
            layout->rails = count < layout->rails ? count : layout->rails;
            layout->is_shared = layout->is_shared || 1 < count;
        }
    }
    layout->is_even = layout->rails * layout->processes == size;
    for (uint32_t rank = 0; rank < size; ++rank) {
        layout->member[layout->first[layout->process_of[rank]] + layout->index_of[rank]] = rank;
    }
}

/** Processes of a node that follow each other. */
typedef struct runs_t {
    uint32_t node, length; /**< of the last run */
    uint32_t count, each;  /**< runs before it; and their length, 0 if they differ */
} runs_t;

/** The last run is over. */
static void close_run(runs_t *runs)
{
    if (0 < runs->length) {
        runs->each = 0 == runs->count || runs->length == runs->each ? runs->length : 0;
        ++runs->count;
    }
    runs->length = 0;
}

/** One more process. */
static void add_to_runs(runs_t *runs, uint32_t node)
{
    if (node != runs->node || MPIX_ENDPOINTS_NODE_UNKNOWN == node) {
        close_run(runs);
        runs->node = node;
    }
    ++runs->length;
}

/** @return how many processes of a node there are in each run; 1: they differ, or it is none of 2, 4, 8 ... */
static uint32_t processes_in_runs(runs_t *runs)
{
    close_run(runs);
    return 2 > runs->count || 0 == runs->each || 0 != (runs->each & (runs->each - 1)) ? 1
                                                                                      : runs->each;
}

static int fill(mca_coll_epcoll_layout_t *layout, ompi_communicator_t *comm, uint32_t size)
{
    runs_t runs = {.node = MPIX_ENDPOINTS_NODE_UNKNOWN};
    uint32_t before = 0;

    place_arrays(layout, size);
    layout->beside.order = layout;
    layout->processes = 0;
    layout->is_ordered = true;
    for (uint32_t rank = 0; rank < size; ++rank) {
        const uint32_t known = layout->processes;
        mpix_endpoints_place_t place;
        uint32_t number;

        if (!mca_coll_epcoll_component.door->place(comm, (int) rank, &place)) {
            return MPI_ERR_INTERN;
        }
        number = number_of(layout, layout->first, place.process, before);
        if (known < layout->processes) {
            add_to_runs(&runs, place.node);
        }
        layout->is_ordered = layout->is_ordered && number >= before;
        layout->process_of[rank] = before = number;
        if (place.in_process) {
            layout->own = number;
        }
    }
    layout->on_node = processes_in_runs(&runs);
    sort(layout, size);
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
        mpix_endpoints_place_t place;

        if (!mca_coll_epcoll_component.door->place(comm, rank, &place)) {
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
    int rc = mca_coll_epcoll_component.door->memory_get(
        comm, MPIX_ENDPOINTS_PROCESS, mca_coll_epcoll_component.guest, key,
        sizeof(*layout) + (4 * (size_t) size + 1) * sizeof(uint32_t), &memory);

    if (MPI_SUCCESS != rc) {
        return rc;
    }
    layout = memory->base;
    pthread_mutex_lock(&filling);
    if (!layout->is_made) {
        layout->memory = memory;
        rc = fill(layout, comm, size);
    }
    pthread_mutex_unlock(&filling);
    if (MPI_SUCCESS != rc) {
        mca_coll_epcoll_component.door->memory_put(memory);
        return rc;
    }
    *layout_p = layout;
    return MPI_SUCCESS;
}
