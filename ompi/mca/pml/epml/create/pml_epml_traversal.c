/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Traversals of a tree of communicators.
 *
 * Where an exchange fails in one of them its members know, and the path through it is closed: a
 * root below it has nothing to pass on, and reports that.  A member may be in one communicator
 * where all has succeeded and in another where it has not (the tree leads to it through one of the
 * two). The members of the first go on; so it takes part in one more exchange there, and reports
 * that it has failed, as a leader does that owes the other side an answer (pml_epml_phases.h).
 *
 * Called by pml_epml_bootstrap.c and the rounds of a creation.
 *
 * Tests: unit/test_epml_traversal, merge, merge_errors, comm_nomem, death (told_merge)
 */

#include "ompi_config.h"

#include "../object/object.h"
#include "pml_epml_bootstrap.h"
#include "pml_epml_traversal.h"

#include "ompi/constants.h"
#include "ompi/op/op.h"

typedef mca_pml_epml_stop_t stop_t;

/** How badly an exchange has failed, for a maximum; sent behind the values. */
enum { WELL = 0, FAILED = 1, LOST = 2 };

static bool is_root(const stop_t *stop)
{
    return ompi_comm_rank(stop->comm) == stop->root;
}

/** What an exchange here has come to.  @return how badly it has failed */
static int64_t traversal_outcome(stop_t *stop, int rc)
{
    if (OMPI_SUCCESS == rc) {
        return WELL;
    }
    stop->is_over = true;
    (void) mca_pml_epml_bootstrap_within(&(mca_pml_epml_bootstrap_t){.comm = stop->comm}, rc);
    return mca_pml_epml_is_loss(rc) ? LOST : FAILED;
}

/** Up: the root has what comes of all.  @return how badly it has failed */
static int64_t traversal_reduce(stop_t *stop, void *data, int count, ompi_datatype_t *type,
                                ompi_op_t *op)
{
    ompi_communicator_t *comm = stop->comm;
    const bool root = is_root(stop);

    if (stop->is_over || 1 == ompi_comm_size(comm)) {
        return WELL;
    }
    return traversal_outcome(stop, comm->c_coll->coll_reduce(root ? MPI_IN_PLACE : data,
                                                             root ? data : NULL, count, type, op,
                                                             stop->root, comm,
                                                             comm->c_coll->coll_reduce_module));
}

/** Down: from the root to all.  Not where it is over.  @return likewise */
static int64_t pass_on(stop_t *stop, void *data, int count, ompi_datatype_t *type)
{
    ompi_communicator_t *comm = stop->comm;

    if (1 == ompi_comm_size(comm)) {
        return WELL;
    }
    return traversal_outcome(stop, comm->c_coll->coll_bcast(data, count, type, stop->root, comm,
                                                            comm->c_coll->coll_bcast_module));
}

static int64_t traversal_worse(int64_t a, int64_t b)
{
    return a < b ? b : a;
}

/** @param[in] failed  how badly, in this exchange.  @return an error if it has, or has before */
static int traversal_result(const mca_pml_epml_traversal_t *traversal, int64_t failed)
{
    for (int i = 0; i < traversal->stops; ++i) {
        failed = traversal_worse(failed, traversal->stop[i].is_over ? FAILED : WELL);
    }
    if (WELL == failed) {
        return OMPI_SUCCESS;
    }
    return LOST == failed ? MPI_ERR_PROC_FAILED : OMPI_ERROR;
}

/** All values up.  @param[in,out] mine  count values, and how badly it has failed so far */
static void go_up(mca_pml_epml_traversal_t *traversal, int64_t *mine, int count)
{
    for (int i = traversal->stops - 1; 0 <= i; --i) {
        const int64_t before = mine[count],
                      failed = traversal_reduce(&traversal->stop[i], mine, count + 1, MPI_INT64_T,
                                                MPI_MAX);

        if (WELL != failed) {
            mine[count] = traversal_worse(before, failed); /* of the buffer nothing is known */
        }
    }
}

int mca_pml_epml_traversal_max(mca_pml_epml_traversal_t *traversal, int64_t *values, int count,
                               bool *owes)
{
    const size_t size = (size_t) (count + 1) * sizeof(*values);
    int64_t mine[count + 1], heard[count + 1], failed;
    bool have = false;

    memcpy(mine, values, size - sizeof(*values));
    mine[count] = WELL;
    go_up(traversal, mine, count);
    failed = mine[count];
    for (int i = 0; i < traversal->stops; ++i) {
        stop_t *stop = &traversal->stop[i];

        if (stop->is_over) {
            continue;
        }
        /* The root of the first stop is the tree's; that of the second one has heard in the first
         * what it passes on, or has not. */
        memcpy(heard, have ? values : mine, size - sizeof(*values));
        heard[count] = 0 == i ? mine[count]
                       : have ? WELL
                              : traversal_worse(traversal->is_lost ? LOST : FAILED, failed);
        failed = traversal_worse(failed, pass_on(stop, heard, count + 1, MPI_INT64_T));
        if (!stop->is_over && WELL != heard[count]) {
            failed = traversal_worse(failed, heard[count]);
            stop->is_over = true; /* as all here have heard */
        } else if (!stop->is_over) {
            memcpy(values, heard, size - sizeof(*values));
            have = true;
        }
    }
    *owes = have && OMPI_SUCCESS != traversal_result(traversal, failed);
    return traversal_result(traversal, failed);
}

int mca_pml_epml_traversal_gather(mca_pml_epml_traversal_t *traversal, void *data, int size)
{
    int64_t failed = WELL;

    for (int i = traversal->stops - 1; 0 <= i; --i) {
        failed = traversal_worse(failed, traversal_reduce(&traversal->stop[i], data, size, MPI_BYTE,
                                                          MPI_BOR));
    }
    for (int i = 0; i < traversal->stops; ++i) {
        if (!traversal->stop[i].is_over) {
            failed = traversal_worse(failed, pass_on(&traversal->stop[i], data, size, MPI_BYTE));
        }
    }
    return traversal_result(traversal, failed);
}
