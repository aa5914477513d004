/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which way a call goes whose members live in several processes.
 *
 * Called by libmpi, by way of the layer calls.
 *
 * Tests: coll_layout, coll_nomem (own), death_coll
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "between.h"
#include "coll_epcoll_now.h"

#include "mpi.h"

/* ---- calls ----------------------------------------------------------------------------------- */

/** Has a kind functions of its own for blocking calls, beside its program? */
static bool has_own(mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_ALLREDUCE:
    case EPCOLL_BARRIER:
    case EPCOLL_BCAST:
    case EPCOLL_REDUCE:
        return true;
    default:
        return false;
    }
}

bool mca_coll_epcoll_between_has(const mca_coll_epcoll_handle_t *handle,
                                 mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
    case EPCOLL_GATHERV:
    case EPCOLL_SCATTERV:
        return NULL != mca_coll_epcoll_builders[kind];
    default:
        return NULL != mca_coll_epcoll_builders[kind] || mca_coll_epcoll_may_be_near(handle);
    }
}

/** How does a call go?  Each question is asked once, here. */
static mca_coll_epcoll_algorithm_t between_choose(const mca_coll_epcoll_wide_t *wide,
                                                  const mca_coll_epcoll_call_t *call)
{
    if (mca_coll_epcoll_is_ahead(wide, call)) {
        return EPCOLL_ALGORITHM_AHEAD;
    }
    if (mca_coll_epcoll_is_near(wide, call)) {
        return EPCOLL_ALGORITHM_NEAR;
    }
    if (!mca_coll_epcoll_program_serves(&wide->super, call)) {
        return EPCOLL_ALGORITHM_BELOW;
    }
    if (!has_own(call->kind)) {
        return EPCOLL_ALGORITHM_PROGRAM;
    }
    if (mca_coll_epcoll_is_short(call)) {
        return EPCOLL_ALGORITHM_SLOTS;
    }
    return mca_coll_epcoll_is_tray(&wide->super, call) ? EPCOLL_ALGORITHM_TRAYS
                                                       : EPCOLL_ALGORITHM_PROGRAM;
}

bool mca_coll_epcoll_between_serves(mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_near_next(handle, call);
    if (OPAL_UNLIKELY(!handle->is_wide)) { /* it is a block of one process, and broken */
        return true;
    }
    call->algorithm = between_choose(mca_coll_epcoll_wide(handle), call);
    return EPCOLL_ALGORITHM_BELOW != call->algorithm;
}

/** Calls of a communicator that would use shelves before it gets them. */
#define SHELF_CALLS 8

/** Memory of the node for long data: all meet in one barrier for it. */
static int shelf_make(mca_coll_epcoll_wide_t *wide)
{
    mca_coll_epcoll_call_t barrier = {.kind = EPCOLL_BARRIER};
    int rc;

    mca_coll_epcoll_shelf_begin(wide);
    barrier.algorithm = between_choose(wide, &barrier);
    if (EPCOLL_ALGORITHM_NEAR == barrier.algorithm) {
        rc = mca_coll_epcoll_near_run(wide, &barrier);
        rc = OPAL_LIKELY(MPI_SUCCESS == rc) ? rc : mca_coll_epcoll_ended(&wide->super, rc);
    } else {
        ++wide->calls; /* for a tag of its own */
        rc = mca_coll_epcoll_short_run(&wide->super, &barrier);
    }
    mca_coll_epcoll_shelf_made(wide);
    return rc;
}

/** Does a call go by shelves?  @param rc  becomes an error if making them has failed */
static bool is_shelved(mca_coll_epcoll_wide_t *wide, const mca_coll_epcoll_call_t *call, int *rc)
{
    if ((wide->shelf_is_known && !wide->shelf_is_used)
        || !mca_coll_epcoll_shelf_fits(&wide->super, call)) {
        return false;
    }
    if (OPAL_UNLIKELY(!wide->shelf_is_known) && SHELF_CALLS <= ++wide->shelf_calls) {
        *rc = shelf_make(wide);
    }
    return wide->shelf_is_used;
}

int mca_coll_epcoll_between_run(mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_wide_t *wide = mca_coll_epcoll_wide(handle);
    int rc = MPI_SUCCESS;

    if (EPCOLL_ALGORITHM_NEAR == call->algorithm || EPCOLL_ALGORITHM_AHEAD == call->algorithm) {
        mca_coll_epcoll_count(handle, call->kind, EPCOLL_WAY_SMALL);
        rc = mca_coll_epcoll_near_run(wide, call);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) { /* the others may come another way next */
            rc = mca_coll_epcoll_ended(handle, rc);
            mca_coll_epcoll_break_all(handle, rc);
        }
        return rc;
    }
    mca_coll_epcoll_count(handle, call->kind, EPCOLL_WAY_BETWEEN);
    if (is_shelved(wide, call, &rc)) {
        rc = MPI_SUCCESS == rc ? mca_coll_epcoll_shelf_run(wide, call) : rc;
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
            rc = mca_coll_epcoll_ended(handle, rc);
            mca_coll_epcoll_break_all(handle, rc);
        }
        return rc;
    }
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        mca_coll_epcoll_break_all(handle, rc);
        return rc;
    }
    ++wide->calls;
    rc = EPCOLL_ALGORITHM_PROGRAM == call->algorithm ? mca_coll_epcoll_now_run(handle, call)
                                                     : mca_coll_epcoll_short_run(handle, call);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        mca_coll_epcoll_break_all(handle, rc);
    }
    return rc;
}
