/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Locality of members, for the engine's clients: their processes, their nodes, and the members in
 * each.  Processes are known from creation, nodes from the launcher's library in this process.  No
 * message is sent.
 *
 * Called by the layer service.
 *
 * Tests: client
 */

#include "ompi_config.h"

#include "pml_epml_proc.h"
#include "pml_epml_who.h"

#include "ompi/constants.h"
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

/** The launcher's numbers, by process, as they were asked for: each costs a microsecond or more. */
static struct {
    opal_mutex_t lock;
    uint64_t *by_process; /**< the number + 1; 0: not asked yet.  NULL: none, or no memory */
} nodes = {.lock = OPAL_MUTEX_STATIC_INIT};

/** What the launcher's library has of it: without asking the launcher itself. */
static uint32_t ask_node(opal_vpid_t process)
{
    opal_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = process};
    uint32_t number = MPIX_ENDPOINTS_NODE_UNKNOWN, *number_p = &number;
    int rc;

    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, PMIX_NODEID, &name, &number_p, PMIX_UINT32);
    return PMIX_SUCCESS == rc ? number : MPIX_ENDPOINTS_NODE_UNKNOWN;
}

static uint32_t node_of(opal_vpid_t process)
{
    MCA_BTL_EP_HOLD_CANCEL(); /* it may wait for PMIx, with a lock */
    uint32_t number;

    opal_mutex_lock(&nodes.lock);
    if (NULL == nodes.by_process) {
        nodes.by_process = calloc(ompi_process_info.num_procs, sizeof(*nodes.by_process));
    }
    if (NULL != nodes.by_process && 0 != nodes.by_process[process]) {
        number = (uint32_t) (nodes.by_process[process] - 1);
    } else {
        number = ask_node(process);
        if (NULL != nodes.by_process) {
            nodes.by_process[process] = (uint64_t) number + 1;
        }
    }
    opal_mutex_unlock(&nodes.lock);
    return number;
}

void mca_pml_epml_who_finalize(void)
{
    free(nodes.by_process);
    nodes.by_process = NULL;
}

/* ---- members --------------------------------------------------------------------------------- */

void mca_pml_epml_who_place(const mca_pml_epml_comm_t *comm, int rank,
                            mpix_endpoints_locality_t *place)
{
    const mca_pml_epml_peer_t *peer = comm->local->member[rank];

    place->in_process = mca_pml_epml_who_reaches(peer, MPIX_ENDPOINTS_SCOPE_PROCESS);
    place->on_node = mca_pml_epml_who_reaches(peer, MPIX_ENDPOINTS_SCOPE_NODE);
    place->process = mca_pml_epml_name_process(&peer->proc->super.proc_name);
    place->node = node_of(place->process);
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
        const opal_vpid_t process = mca_pml_epml_name_process(&peer->proc->super.proc_name);

        if (!mca_pml_epml_who_reaches(peer, reach)) {
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
        unsigned char *seen = calloc(ompi_process_info.num_procs / 8 + 1, 1);

        if (NULL == seen) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        count_within(list, (mpix_endpoints_scope_t) reach, seen);
        free(seen);
    }
    /* Release pairs with the acquire in mca_pml_epml_who_members: what has been counted. */
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
        index += mca_pml_epml_who_reaches(list->member[i], reach);
    }
    return index;
}

int mca_pml_epml_who_members(const mca_pml_epml_comm_t *comm, mpix_endpoints_scope_t reach,
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
