/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Locality of members, for the engine's clients: their processes, their nodes, and the members in
 * each.  Processes and their nodes are known from creation (pml_epml_job.c).  No message is sent.
 *
 * Called by the layer service.
 *
 * Tests: client
 */

#include "ompi_config.h"

#include "pml_epml_proc.h"
#include "pml_epml_locality.h"

#include "ompi/constants.h"
#include "opal/mca/threads/mutex.h"

/* ---- members --------------------------------------------------------------------------------- */

void mca_pml_epml_locality_place(const mca_pml_epml_peer_t *peer, mpix_endpoints_locality_t *place)
{
    place->in_process = mca_pml_epml_locality_reaches(peer, MPIX_ENDPOINTS_SCOPE_PROCESS);
    place->on_node = mca_pml_epml_locality_reaches(peer, MPIX_ENDPOINTS_SCOPE_NODE);
    place->process = mca_pml_epml_process_number(&peer->proc->super.proc_name);
    place->node = mca_pml_epml_host(&peer->proc->super.proc_name);
}

/** One at a time counts the members of a list. */
static opal_mutex_t counting = OPAL_MUTEX_STATIC_INIT;

/** @param[in] seen  a bit for each process, all 0 */
static void count_within(mca_pml_epml_peers_t *list, mpix_endpoints_scope_t reach,
                         unsigned char *seen)
{
    mca_pml_epml_within_t *within = &list->within[reach];

    *within = (mca_pml_epml_within_t){.first = MPI_UNDEFINED};
    for (int rank = 0; rank < list->count; ++rank) {
        const mca_pml_epml_peer_t *peer = list->member[rank];
        const uint32_t process = mca_pml_epml_process_number(&peer->proc->super.proc_name);

        if (!mca_pml_epml_locality_reaches(peer, reach)) {
            continue;
        }
        if (0 == within->count++) {
            within->first = rank;
        }
        within->last = rank;
        if (0 == (seen[process / 8] & 1u << process % 8)) {
            seen[process / 8] |= (unsigned char) (1u << process % 8);
            ++within->processes;
        }
    }
}

/** Under the lock. */
static int count_all(mca_pml_epml_peers_t *list)
{
    for (int reach = 0; reach < 2; ++reach) {
        unsigned char *seen = calloc(mca_pml_epml_process_numbers() / 8 + 1, 1);

        if (NULL == seen) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        count_within(list, (mpix_endpoints_scope_t) reach, seen);
        free(seen);
    }
    /* Release pairs with the acquire in mca_pml_epml_locality_members: what has been counted. */
    atomic_store_explicit(&list->is_counted, true, memory_order_release);
    return OMPI_SUCCESS;
}

/** The number of members within reach before a rank. */
static int index_within(const mca_pml_epml_peers_t *list, mpix_endpoints_scope_t reach, int rank)
{
    const mca_pml_epml_within_t *within = &list->within[reach];
    int index = 0;

    if (within->count == within->last - within->first + 1) { /* as mostly */
        return rank - within->first;
    }
    for (int i = 0; i < rank; ++i) {
        index += mca_pml_epml_locality_reaches(list->member[i], reach);
    }
    return index;
}

int mca_pml_epml_locality_members(const mca_pml_epml_comm_t *comm, mpix_endpoints_scope_t reach,
                                  mpix_endpoints_members_t *members)
{
    mca_pml_epml_peers_t *list = comm->local;
    int rc = OMPI_SUCCESS;

    /* Acquire pairs with the release in count_all. */
    if (!atomic_load_explicit(&list->is_counted, memory_order_acquire)) {
        opal_mutex_lock(&counting);
        /* Relaxed: under the lock. */
        if (!atomic_load_explicit(&list->is_counted, memory_order_relaxed)) {
            rc = count_all(list);
        }
        opal_mutex_unlock(&counting);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    *members = (mpix_endpoints_members_t){.count = list->within[reach].count,
                                          .first = list->within[reach].first,
                                          .index = index_within(list, reach, comm->rank),
                                          .processes = list->within[reach].processes};
    return OMPI_SUCCESS;
}
