/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Exploring, by rounds: in each one all members of a communicator tell each other what they have
 * come to know elsewhere, until they know all.
 *
 * A member of two communicators takes each step in both at once, by nonblocking collectives, and
 * the next step when it has both: so members that pass the two in different orders do not wait for
 * each other in a circle.  All members take the same step of the same communicator.  An error is
 * told in each second step, and stops each communicator whose members have not come to the end yet.
 * They are at the end, or stopped, after the same step, all of a communicator: all have been told
 * the same.
 *
 * A round is three steps: the amount of news of each member; the agreement that all have memory for
 * it; the news.
 *
 * Called by pml_epml_merge.c.
 *
 * Tests: merge, merge_errors, comm_nomem, death (told_merge)
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_explore.h"
#include "pml_epml_meeting.h"

#include "ompi/constants.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

typedef mca_pml_epml_explore_t explore_t;
typedef mca_pml_epml_trail_t trail_t;

/* ---- steps ----------------------------------------------------------------------------------- */

typedef int (*step_fn_t)(trail_t *trail, ompi_request_t **request_p);

static int start_max(trail_t *trail, ompi_request_t **request_p)
{
    ompi_communicator_t *comm = trail->comm;

    return comm->c_coll->coll_iallreduce(MPI_IN_PLACE, trail->words, 2, MPI_INT64_T, MPI_MAX, comm,
                                         request_p, comm->c_coll->coll_iallreduce_module);
}

static int start_counts(trail_t *trail, ompi_request_t **request_p)
{
    ompi_communicator_t *comm = trail->comm;

    return comm->c_coll->coll_iallgather(&trail->news, 1, MPI_INT, trail->counts, 1, MPI_INT, comm,
                                         request_p, comm->c_coll->coll_iallgather_module);
}

static int start_news(trail_t *trail, ompi_request_t **request_p)
{
    ompi_communicator_t *comm = trail->comm;

    return comm->c_coll->coll_iallgatherv(trail->said,
                                          (size_t) trail->news * sizeof(*trail->said), MPI_BYTE,
                                          trail->heard, EPML_COMPAT_COUNTS(trail->bytes),
                                          EPML_COMPAT_DISPS(trail->places), MPI_BYTE, comm,
                                          request_p, comm->c_coll->coll_iallgatherv_module);
}

static void break_trail(explore_t *explore, trail_t *trail, mpix_endpoints_error_t error)
{
    trail->state = EPML_TRAIL_BROKEN;
    explore->error = explore->error < error ? error : explore->error;
}

/** One step in all open communicators at once.  A communicator of one member needs none. */
static void explore_step(explore_t *explore, step_fn_t start)
{
    ompi_request_t *requests[EPML_WEB_EDGES] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    ompi_status_public_t statuses[EPML_WEB_EDGES] = {{.MPI_ERROR = OMPI_SUCCESS},
                                                     {.MPI_ERROR = OMPI_SUCCESS}};
    int started[EPML_WEB_EDGES] = {OMPI_SUCCESS, OMPI_SUCCESS};
    const int count = explore->trails;

    for (int i = 0; i < count; ++i) {
        trail_t *trail = &explore->trail[i];

        if (EPML_TRAIL_OPEN == trail->state && 1 < ompi_comm_size(trail->comm)) {
            started[i] = start(trail, &requests[i]);
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
        trail_t *trail = &explore->trail[i];
        const int rc = OMPI_SUCCESS != started[i] ? started[i] : statuses[i].MPI_ERROR;

        if (OMPI_SUCCESS != rc && EPML_TRAIL_OPEN == trail->state) {
            (void) mca_pml_epml_meeting_within(&(mca_pml_epml_meeting_t){.comm = trail->comm}, rc);
            break_trail(explore, trail,
                        mca_pml_epml_is_loss(rc) ? MPIX_ENDPOINTS_ERR_LOST
                                                 : MPIX_ENDPOINTS_ERR_INTERN);
        }
    }
}

/** The worst error of all members of each open communicator, and what its rank 0 draws for it. */
static void step_max(explore_t *explore, bool draws)
{
    for (int i = 0; i < explore->trails; ++i) {
        trail_t *trail = &explore->trail[i];

        trail->words[0] = explore->error;
        trail->words[1] = draws && 0 == ompi_comm_rank(trail->comm)
                              ? (int64_t) mca_pml_epml_context_wide_ids(1)
                              : 0;
    }
    explore_step(explore, start_max);
    for (int i = 0; i < explore->trails; ++i) {
        trail_t *trail = &explore->trail[i];

        if (EPML_TRAIL_OPEN == trail->state && MPIX_ENDPOINTS_OK != trail->words[0]) {
            break_trail(explore, trail, (mpix_endpoints_error_t) trail->words[0]);
        }
    }
}

/* ---- a round --------------------------------------------------------------------------------- */

/** How much does each have to tell? */
static void step_counts(explore_t *explore)
{
    for (int i = 0; i < explore->trails; ++i) {
        trail_t *trail = &explore->trail[i];

        if (EPML_TRAIL_OPEN == trail->state) {
            trail->news = epml_web_news(&explore->web, i, NULL);
            trail->counts[0] = trail->news; /* of one member */
        }
    }
    explore_step(explore, start_counts);
}

/** Room for what members of a communicator tell.  @return callers, or -1: there is none */
static int make_trail_room(trail_t *trail)
{
    size_t total = 0;

    for (int member = 0; member < ompi_comm_size(trail->comm); ++member) {
        const size_t place = total * sizeof(*trail->heard);

        total += (size_t) trail->counts[member];
        if ((size_t) INT_MAX / sizeof(*trail->heard) < total) {
            return -1;
        }
        trail->places[member] = (int) place;
        trail->bytes[member] = (int) ((size_t) trail->counts[member] * sizeof(*trail->heard));
    }
    free(trail->said);
    trail->said = calloc((size_t) trail->news + 1, sizeof(*trail->said));
    free(trail->heard);
    trail->heard = calloc(total + 1, sizeof(*trail->heard));
    trail->heard_count = (int) total;
    return NULL != trail->said && NULL != trail->heard ? (int) total : -1;
}

static void make_room(explore_t *explore)
{
    bool has_room = true;
    size_t room = (size_t) explore->web.count;

    for (int i = 0; i < explore->trails; ++i) {
        trail_t *trail = &explore->trail[i];

        if (EPML_TRAIL_OPEN == trail->state) {
            const int more = make_trail_room(trail);

            has_room = has_room && 0 <= more;
            room += 0 <= more ? (size_t) more : 0;
        }
    }
    has_room = has_room && (size_t) INT_MAX / EPML_WEB_EDGES >= room;
    if (!has_room || !epml_web_reserve(&explore->web, (int) room)) {
        explore->error = MPIX_ENDPOINTS_ERR_RESOURCE > explore->error ? MPIX_ENDPOINTS_ERR_RESOURCE
                                                                      : explore->error;
    }
}

/** Hear the news.  Own ones are among them: so all know alike what has been told. */
static void step_news(explore_t *explore)
{
    for (int i = 0; i < explore->trails; ++i) {
        trail_t *trail = &explore->trail[i];

        if (EPML_TRAIL_OPEN == trail->state) {
            (void) epml_web_news(&explore->web, i, trail->said);
            memcpy(trail->heard, trail->said, (size_t) trail->news * sizeof(*trail->said));
        }
    }
    explore_step(explore, start_news);
    for (int i = 0; i < explore->trails; ++i) {
        const trail_t *trail = &explore->trail[i];

        for (int j = 0; EPML_TRAIL_OPEN == trail->state && j < trail->heard_count; ++j) {
            epml_web_learn(&explore->web, &trail->heard[j], i);
        }
    }
    epml_web_settle(&explore->web);
}

static void explore_poll(explore_t *explore)
{
    for (int i = 0; i < explore->trails; ++i) {
        trail_t *trail = &explore->trail[i];

        if (EPML_TRAIL_OPEN != trail->state) {
            continue;
        }
        switch (epml_web_look(&explore->web, i)) {
        case EPML_WEB_OPEN:
            break;
        case EPML_WEB_WHOLE:
            trail->state = EPML_TRAIL_WHOLE;
            break;
        case EPML_WEB_TWICE:
            break_trail(explore, trail, MPIX_ENDPOINTS_ERR_COMM);
            break;
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool is_open(const explore_t *explore)
{
    for (int i = 0; i < explore->trails; ++i) {
        if (EPML_TRAIL_OPEN == explore->trail[i].state) {
            return true;
        }
    }
    return false;
}

bool mca_pml_epml_explore_knows(const explore_t *explore)
{
    for (int i = 0; i < explore->trails; ++i) {
        if (EPML_TRAIL_WHOLE == explore->trail[i].state) {
            return true;
        }
    }
    return false;
}

/** Own part of what is known, and room for what members tell how much they will tell. */
static void explore_begin(explore_t *explore)
{
    bool has_room = epml_web_reserve(&explore->web, 1);

    for (int i = 0; i < explore->trails; ++i) {
        trail_t *trail = &explore->trail[i];
        const size_t size = (size_t) ompi_comm_size(trail->comm);

        trail->counts = calloc(3 * size, sizeof(*trail->counts));
        has_room = has_room && NULL != trail->counts;
        if (NULL != trail->counts) {
            trail->bytes = trail->counts + size;
            trail->places = trail->bytes + size;
        }
    }
    if (!has_room && MPIX_ENDPOINTS_OK == explore->error) {
        explore->error = MPIX_ENDPOINTS_ERR_RESOURCE;
    }
}

/** Agree on numbers for the communicators; then this member can publish its identity. */
static void explore_introduce(explore_t *explore)
{
    ompi_communicator_t *comm = explore->trail[0].comm;
    const opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group,
                                                              ompi_comm_rank(comm));
    const opal_process_name_t process = mca_pml_epml_name_process(&name);

    step_max(explore, true);
    explore->self = (epml_web_caller_t){.name = mca_pml_epml_explore_word(&name),
                                        .process = mca_pml_epml_explore_word(&process)};
    for (int i = 0; i < explore->trails; ++i) {
        const trail_t *trail = &explore->trail[i];

        explore->self.edge[i] = (epml_web_edge_t){.id = (uint64_t) trail->words[1],
                                                  .size = ompi_comm_size(trail->comm),
                                                  .rank = ompi_comm_rank(trail->comm)};
    }
    if (is_open(explore)) { /* then there is room */
        epml_web_learn(&explore->web, &explore->self, -1);
    }
}

void mca_pml_epml_explore(explore_t *explore)
{
    explore_begin(explore);
    explore_introduce(explore);
    while (is_open(explore)) {
        step_counts(explore);
        make_room(explore);
        step_max(explore, false);
        step_news(explore);
        explore_poll(explore);
    }
}

void mca_pml_epml_explore_end(explore_t *explore)
{
    for (int i = 0; i < explore->trails; ++i) {
        free(explore->trail[i].counts);
        free(explore->trail[i].said);
        free(explore->trail[i].heard);
    }
    epml_web_end(&explore->web);
}
