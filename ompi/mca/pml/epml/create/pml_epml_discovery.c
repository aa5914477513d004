/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Discovery takes rounds: in each one all members of a communicator tell each other what they have
 * come to know elsewhere, until they know all.
 *
 * A member of two communicators takes each step in both at once, by nonblocking collectives, and
 * the next step when it has both: so members that pass the two in different orders do not wait for
 * each other in a circle.  All members take the same step of the same communicator.  An error is
 * exchanged in each second step, and stops each communicator whose members have not come to the end
 * yet. They are at the end, or stopped, after the same step, all of a communicator: all have
 * received the same.
 *
 * A round is three steps: the number of updates of each member; the agreement that all have memory
 * for them; the updates.
 *
 * Called by pml_epml_merge.c.
 *
 * Tests: merge, merge_errors, comm_nomem, death (told_merge)
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_discovery.h"
#include "pml_epml_bootstrap.h"

#include "ompi/constants.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

typedef mca_pml_epml_discovery_t discovery_t;
typedef mca_pml_epml_discovery_comm_t trail_t;

/* ---- steps ----------------------------------------------------------------------------------- */

typedef int (*step_fn_t)(trail_t *comms, ompi_request_t **request_p);

static int start_max(trail_t *comms, ompi_request_t **request_p)
{
    ompi_communicator_t *comm = comms->comm;

    return comm->c_coll->coll_iallreduce(MPI_IN_PLACE, comms->words, 2, MPI_INT64_T, MPI_MAX, comm,
                                         request_p, comm->c_coll->coll_iallreduce_module);
}

static int start_counts(trail_t *comms, ompi_request_t **request_p)
{
    ompi_communicator_t *comm = comms->comm;

    return comm->c_coll->coll_iallgather(&comms->updates, 1, MPI_INT, comms->counts, 1, MPI_INT,
                                         comm, request_p, comm->c_coll->coll_iallgather_module);
}

static int start_updates(trail_t *comms, ompi_request_t **request_p)
{
    ompi_communicator_t *comm = comms->comm;

    return comm->c_coll->coll_iallgatherv(comms->said,
                                          (size_t) comms->updates * sizeof(*comms->said), MPI_BYTE,
                                          comms->heard, EPML_COMPAT_COUNTS(comms->bytes),
                                          EPML_COMPAT_DISPS(comms->places), MPI_BYTE, comm,
                                          request_p, comm->c_coll->coll_iallgatherv_module);
}

static void break_trail(discovery_t *discovery, trail_t *comms, mpix_endpoints_error_t error)
{
    comms->state = EPML_TRAIL_BROKEN;
    discovery->error = discovery->error < error ? error : discovery->error;
}

/** One step in all open communicators at once.  A communicator of one member needs none. */
static void discovery_step(discovery_t *discovery, step_fn_t start)
{
    ompi_request_t *requests[EPML_GRAPH_EDGES] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    ompi_status_public_t statuses[EPML_GRAPH_EDGES] = {{.MPI_ERROR = OMPI_SUCCESS},
                                                       {.MPI_ERROR = OMPI_SUCCESS}};
    int started[EPML_GRAPH_EDGES] = {OMPI_SUCCESS, OMPI_SUCCESS};
    const int count = discovery->comm_count;

    for (int i = 0; i < count; ++i) {
        trail_t *comms = &discovery->comms[i];

        if (EPML_TRAIL_OPEN == comms->state && 1 < ompi_comm_size(comms->comm)) {
            started[i] = start(comms, &requests[i]);
        }
        requests[i] = OMPI_SUCCESS == started[i] ? requests[i] : MPI_REQUEST_NULL;
    }
    /* One after the other: of several libmpi leaves those under way where one has failed, and the
     * others of that communicator would wait for us.  Nor does it free what has failed. */
    for (int i = 0; i < count; ++i) {
        if (OMPI_SUCCESS == ompi_request_wait_all(1, &requests[i], &statuses[i])) {
            statuses[i].MPI_ERROR = OMPI_SUCCESS;
        }
        if (MPI_REQUEST_NULL != requests[i]) {
            (void) ompi_request_free(&requests[i]);
        }
    }
    for (int i = 0; i < count; ++i) {
        trail_t *comms = &discovery->comms[i];
        const int rc = OMPI_SUCCESS != started[i] ? started[i] : statuses[i].MPI_ERROR;

        if (OMPI_SUCCESS != rc && EPML_TRAIL_OPEN == comms->state) {
            (void) mca_pml_epml_bootstrap_within(&(mca_pml_epml_bootstrap_t){.comm = comms->comm},
                                                 rc);
            break_trail(discovery, comms,
                        mca_pml_epml_is_loss(rc) ? MPIX_ENDPOINTS_ERR_LOST
                                                 : MPIX_ENDPOINTS_ERR_INTERN);
        }
    }
}

/** The worst error of all members of each open communicator, and what its rank 0 draws for it. */
static void step_max(discovery_t *discovery, bool draws)
{
    for (int i = 0; i < discovery->comm_count; ++i) {
        trail_t *comms = &discovery->comms[i];

        comms->words[0] = discovery->error;
        comms->words[1] = draws && 0 == ompi_comm_rank(comms->comm)
                              ? (int64_t) mca_pml_epml_context_wide_ids(1)
                              : 0;
    }
    discovery_step(discovery, start_max);
    for (int i = 0; i < discovery->comm_count; ++i) {
        trail_t *comms = &discovery->comms[i];

        if (EPML_TRAIL_OPEN == comms->state && MPIX_ENDPOINTS_OK != comms->words[0]) {
            break_trail(discovery, comms, (mpix_endpoints_error_t) comms->words[0]);
        }
    }
}

/* ---- a round --------------------------------------------------------------------------------- */

/** How much does each have to tell? */
static void step_counts(discovery_t *discovery)
{
    for (int i = 0; i < discovery->comm_count; ++i) {
        trail_t *comms = &discovery->comms[i];

        if (EPML_TRAIL_OPEN == comms->state) {
            comms->updates = epml_graph_updates(&discovery->graph, i, NULL);
            comms->counts[0] = comms->updates; /* of one member */
        }
    }
    discovery_step(discovery, start_counts);
}

/** Room for what members of a communicator tell.  @return participants, or -1: there is none */
static int make_trail_room(trail_t *comms)
{
    size_t total = 0;

    for (int member = 0; member < ompi_comm_size(comms->comm); ++member) {
        const size_t place = total * sizeof(*comms->heard);

        total += (size_t) comms->counts[member];
        if ((size_t) INT_MAX / sizeof(*comms->heard) < total) {
            return -1;
        }
        comms->places[member] = (int) place;
        comms->bytes[member] = (int) ((size_t) comms->counts[member] * sizeof(*comms->heard));
    }
    free(comms->said);
    comms->said = calloc((size_t) comms->updates + 1, sizeof(*comms->said));
    free(comms->heard);
    comms->heard = calloc(total + 1, sizeof(*comms->heard));
    comms->heard_count = (int) total;
    return NULL != comms->said && NULL != comms->heard ? (int) total : -1;
}

static void make_room(discovery_t *discovery)
{
    bool has_room = true;
    size_t room = (size_t) discovery->graph.count;

    for (int i = 0; i < discovery->comm_count; ++i) {
        trail_t *comms = &discovery->comms[i];

        if (EPML_TRAIL_OPEN == comms->state) {
            const int more = make_trail_room(comms);

            has_room = has_room && 0 <= more;
            room += 0 <= more ? (size_t) more : 0;
        }
    }
    has_room = has_room && (size_t) INT_MAX / EPML_GRAPH_EDGES >= room;
    if (!has_room || !epml_graph_reserve(&discovery->graph, (int) room)) {
        discovery->error = MPIX_ENDPOINTS_ERR_RESOURCE > discovery->error
                               ? MPIX_ENDPOINTS_ERR_RESOURCE
                               : discovery->error;
    }
}

/** Exchange the updates, own ones too: so all know alike what has been sent. */
static void step_updates(discovery_t *discovery)
{
    for (int i = 0; i < discovery->comm_count; ++i) {
        trail_t *comms = &discovery->comms[i];

        if (EPML_TRAIL_OPEN == comms->state) {
            (void) epml_graph_updates(&discovery->graph, i, comms->said);
            memcpy(comms->heard, comms->said, (size_t) comms->updates * sizeof(*comms->said));
        }
    }
    discovery_step(discovery, start_updates);
    for (int i = 0; i < discovery->comm_count; ++i) {
        const trail_t *comms = &discovery->comms[i];

        for (int j = 0; EPML_TRAIL_OPEN == comms->state && j < comms->heard_count; ++j) {
            epml_graph_learn(&discovery->graph, &comms->heard[j], i);
        }
    }
    epml_graph_settle(&discovery->graph);
}

static void discovery_poll(discovery_t *discovery)
{
    for (int i = 0; i < discovery->comm_count; ++i) {
        trail_t *comms = &discovery->comms[i];

        if (EPML_TRAIL_OPEN != comms->state) {
            continue;
        }
        switch (epml_graph_look(&discovery->graph, i)) {
        case EPML_GRAPH_OPEN:
            break;
        case EPML_GRAPH_COMPLETE:
            comms->state = EPML_TRAIL_WHOLE;
            break;
        case EPML_GRAPH_TWICE:
            break_trail(discovery, comms, MPIX_ENDPOINTS_ERR_COMM);
            break;
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool is_open(const discovery_t *discovery)
{
    for (int i = 0; i < discovery->comm_count; ++i) {
        if (EPML_TRAIL_OPEN == discovery->comms[i].state) {
            return true;
        }
    }
    return false;
}

bool mca_pml_epml_discovery_knows(const discovery_t *discovery)
{
    for (int i = 0; i < discovery->comm_count; ++i) {
        if (EPML_TRAIL_WHOLE == discovery->comms[i].state) {
            return true;
        }
    }
    return false;
}

/** Own part of what is known, and room for what members tell how much they will tell. */
static void discovery_begin(discovery_t *discovery)
{
    bool has_room = epml_graph_reserve(&discovery->graph, 1);

    for (int i = 0; i < discovery->comm_count; ++i) {
        trail_t *comms = &discovery->comms[i];
        const size_t size = (size_t) ompi_comm_size(comms->comm);

        comms->counts = calloc(3 * size, sizeof(*comms->counts));
        has_room = has_room && NULL != comms->counts;
        if (NULL != comms->counts) {
            comms->bytes = comms->counts + size;
            comms->places = comms->bytes + size;
        }
    }
    if (!has_room && MPIX_ENDPOINTS_OK == discovery->error) {
        discovery->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
}

/** Agree on numbers for the communicators; then this member can publish its identity. */
static void discovery_introduce(discovery_t *discovery)
{
    ompi_communicator_t *comm = discovery->comms[0].comm;
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group,
                                                              ompi_comm_rank(comm));
    const opal_process_name_t process = mca_pml_epml_name_process(&name);

    step_max(discovery, true);
    discovery->self = (epml_graph_participant_t){.name = mca_pml_epml_discovery_word(&name),
                                                 .process = mca_pml_epml_discovery_word(&process)};
    for (int i = 0; i < discovery->comm_count; ++i) {
        const trail_t *comms = &discovery->comms[i];

        discovery->self.edge[i] = (epml_graph_edge_t){.id = (uint64_t) comms->words[1],
                                                      .size = ompi_comm_size(comms->comm),
                                                      .rank = ompi_comm_rank(comms->comm)};
    }
    if (is_open(discovery)) { /* then there is room */
        epml_graph_learn(&discovery->graph, &discovery->self, -1);
    }
}

void mca_pml_epml_discovery(discovery_t *discovery)
{
    discovery_begin(discovery);
    discovery_introduce(discovery);
    while (is_open(discovery)) {
        step_counts(discovery);
        make_room(discovery);
        step_max(discovery, false);
        step_updates(discovery);
        discovery_poll(discovery);
    }
}

void mca_pml_epml_discovery_end(discovery_t *discovery)
{
    for (int i = 0; i < discovery->comm_count; ++i) {
        free(discovery->comms[i].counts);
        free(discovery->comms[i].said);
        free(discovery->comms[i].heard);
    }
    epml_graph_end(&discovery->graph);
}
