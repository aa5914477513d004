/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Tours over a tree of communicators.
 *
 * Where an exchange fails in one of them its members know, and the path through it is closed: a
 * root below it has nothing to pass on, and reports that.  A member may be in one communicator
 * where all has succeeded and in another where it has not (the tree leads to it through one of the
 * two). The members of the first go on; so it takes part in one more exchange there, and reports
 * that it has failed, as a leader does that owes the other side an answer (pml_epml_rounds.h).
 *
 * Called by pml_epml_meeting.c and the rounds of a creation.
 *
 * Tests: unit/test_epml_tour, merge, merge_errors, comm_nomem, death (told_merge)
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_meeting.h"
#include "pml_epml_tour.h"

#include "ompi/constants.h"
#include "ompi/op/op.h"

typedef mca_pml_epml_stop_t stop_t;

/** How badly an exchange has failed, for a maximum; told behind the values. */
enum { WELL = 0, FAILED = 1, LOST = 2 };

static bool is_root(const stop_t *stop)
{
    return ompi_comm_rank(stop->comm) == stop->root;
}

/** What an exchange here has come to.  @return how badly it has failed */
static int64_t tour_outcome(stop_t *stop, int rc)
{
    if (OMPI_SUCCESS == rc) {
        return WELL;
    }
    stop->is_over = true;
    (void) mca_pml_epml_meeting_within(&(mca_pml_epml_meeting_t){.comm = stop->comm}, rc);
    return mca_pml_epml_is_loss(rc) ? LOST : FAILED;
}

/** Up: the root has what comes of all.  @return how badly it has failed */
static int64_t tour_reduce(stop_t *stop, void *data, int count, ompi_datatype_t *type,
                           ompi_op_t *op)
{
    ompi_communicator_t *comm = stop->comm;
    const bool root = is_root(stop);

    if (stop->is_over || 1 == ompi_comm_size(comm)) {
        return WELL;
    }
    return tour_outcome(stop,
                        comm->c_coll->coll_reduce(root ? MPI_IN_PLACE : data, root ? data : NULL,
                                                  count, type, op, stop->root, comm,
                                                  comm->c_coll->coll_reduce_module));
}

/** Down: from the root to all.  Not where it is over.  @return likewise */
static int64_t pass_on(stop_t *stop, void *data, int count, ompi_datatype_t *type)
{
    ompi_communicator_t *comm = stop->comm;

    if (1 == ompi_comm_size(comm)) {
        return WELL;
    }
    return tour_outcome(stop, comm->c_coll->coll_bcast(data, count, type, stop->root, comm,
                                                       comm->c_coll->coll_bcast_module));
}

static int64_t tour_worse(int64_t a, int64_t b)
{
    return a < b ? b : a;
}

/** @param[in] failed  how badly, in this exchange.  @return an error if it has, or has before */
static int tour_result(const mca_pml_epml_tour_t *tour, int64_t failed)
{
    for (int i = 0; i < tour->stops; ++i) {
        failed = tour_worse(failed, tour->stop[i].is_over ? FAILED : WELL);
    }
    if (WELL == failed) {
        return OMPI_SUCCESS;
    }
    return LOST == failed ? MPI_ERR_PROC_FAILED : OMPI_ERROR;
}

/** All values up.  @param[in,out] mine  count values, and how badly it has failed so far */
static void go_up(mca_pml_epml_tour_t *tour, int64_t *mine, int count)
{
    for (int i = tour->stops - 1; 0 <= i; --i) {
        const int64_t before = mine[count],
                      failed = tour_reduce(&tour->stop[i], mine, count + 1, MPI_INT64_T, MPI_MAX);

        if (WELL != failed) {
            mine[count] = tour_worse(before, failed); /* of the buffer nothing is known */
        }
    }
}

int mca_pml_epml_tour_max(mca_pml_epml_tour_t *tour, int64_t *values, int count, bool *owes)
{
    const size_t size = (size_t) (count + 1) * sizeof(*values);
    int64_t mine[count + 1], heard[count + 1], failed;
    bool have = false;

    memcpy(mine, values, size - sizeof(*values));
    mine[count] = WELL;
    go_up(tour, mine, count);
    failed = mine[count];
    for (int i = 0; i < tour->stops; ++i) {
        stop_t *stop = &tour->stop[i];

        if (stop->is_over) {
            continue;
        }
        /* The root of the first stop is the tree's; that of the second one has heard in the first
         * what it passes on, or has not. */
        memcpy(heard, have ? values : mine, size - sizeof(*values));
        heard[count] = 0 == i ? mine[count]
                       : have ? WELL
                              : tour_worse(tour->is_lost ? LOST : FAILED, failed);
        failed = tour_worse(failed, pass_on(stop, heard, count + 1, MPI_INT64_T));
        if (!stop->is_over && WELL != heard[count]) {
            failed = tour_worse(failed, heard[count]);
            stop->is_over = true; /* as all here have heard */
        } else if (!stop->is_over) {
            memcpy(values, heard, size - sizeof(*values));
            have = true;
        }
    }
    *owes = have && OMPI_SUCCESS != tour_result(tour, failed);
    return tour_result(tour, failed);
}

int mca_pml_epml_tour_gather(mca_pml_epml_tour_t *tour, void *data, int size)
{
    int64_t failed = WELL;

    for (int i = tour->stops - 1; 0 <= i; --i) {
        failed = tour_worse(failed, tour_reduce(&tour->stop[i], data, size, MPI_BYTE, MPI_BOR));
    }
    for (int i = 0; i < tour->stops; ++i) {
        if (!tour->stop[i].is_over) {
            failed = tour_worse(failed, pass_on(&tour->stop[i], data, size, MPI_BYTE));
        }
    }
    return tour_result(tour, failed);
}
