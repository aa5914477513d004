/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which algorithm executes a call whose members live in several processes.
 *
 * Called by libmpi, by way of the layer calls.
 *
 * Tests: coll_layout, coll_nomem (own), death_coll
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "hier.h"
#include "coll_epcoll_immediate.h"

#include "mpi.h"

/* ---- calls ----------------------------------------------------------------------------------- */

/** Has a kind functions of its own for blocking calls, beside its schedule? */
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

bool mca_coll_epcoll_hier_has(const mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_ALLGATHERV:
    case EPCOLL_ALLTOALLV:
    case EPCOLL_ALLTOALLW:
    case EPCOLL_GATHERV:
    case EPCOLL_SCATTERV:
        return NULL != mca_coll_epcoll_builders[kind];
    default:
        return NULL != mca_coll_epcoll_builders[kind] || mca_coll_epcoll_is_on_node(handle);
    }
}

/** How does a call go?  Each question is asked once, here. */
static mca_coll_epcoll_algorithm_t hier_choose(const mca_coll_epcoll_hier_t *hier,
                                               const mca_coll_epcoll_call_t *call)
{
    if (mca_coll_epcoll_uses_node_rings(hier, call)) {
        return EPCOLL_ALGORITHM_NODE_RINGS;
    }
    if (mca_coll_epcoll_uses_node_slots(hier, call)) {
        return EPCOLL_ALGORITHM_NODE_SLOTS;
    }
    if (!mca_coll_epcoll_schedule_serves(&hier->super, call)) {
        return EPCOLL_ALGORITHM_FALLBACK;
    }
    if (!has_own(call->kind)) {
        return EPCOLL_ALGORITHM_SCHEDULE;
    }
    if (mca_coll_epcoll_is_hier_small(call)) {
        return EPCOLL_ALGORITHM_LEADER_SLOTS;
    }
    return mca_coll_epcoll_is_double_buffered(&hier->super, call) ? EPCOLL_ALGORITHM_LEADER_BUFFERS
                                                                  : EPCOLL_ALGORITHM_SCHEDULE;
}

bool mca_coll_epcoll_hier_serves(mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_node_segment_next(handle, call);
    if (OPAL_UNLIKELY(
            !handle->is_hier)) { /* all members are in this process, and its segment is broken */
        return true;
    }
    call->algorithm = hier_choose(mca_coll_epcoll_hier(handle), call);
    return EPCOLL_ALGORITHM_FALLBACK != call->algorithm;
}

/** Calls of a communicator that would use bounce buffers before it gets them. */
#define BOUNCE_CALLS 8

/** Make bounce buffers: in one barrier of all members. */
static int bounce_make(mca_coll_epcoll_hier_t *hier)
{
    mca_coll_epcoll_call_t barrier = {.kind = EPCOLL_BARRIER};
    int rc;

    mca_coll_epcoll_bounce_begin(hier);
    barrier.algorithm = hier_choose(hier, &barrier);
    if (EPCOLL_ALGORITHM_NODE_SLOTS == barrier.algorithm) {
        rc = mca_coll_epcoll_node_segment_run(hier, &barrier);
        rc = OPAL_LIKELY(MPI_SUCCESS == rc) ? rc : mca_coll_epcoll_ended(&hier->super, rc);
    } else {
        ++hier->calls; /* for a tag of its own */
        rc = mca_coll_epcoll_hier_small_run(&hier->super, &barrier);
    }
    mca_coll_epcoll_bounce_made(hier);
    return rc;
}

/** Does a call go by bounce buffers?  @param rc  becomes an error if making them has failed */
static bool uses_bounce(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call, int *rc)
{
    if ((hier->bounce_is_known && !hier->bounce_is_used)
        || !mca_coll_epcoll_bounce_fits(&hier->super, call)) {
        return false;
    }
    if (OPAL_UNLIKELY(!hier->bounce_is_known) && BOUNCE_CALLS <= ++hier->bounce_calls) {
        *rc = bounce_make(hier);
    }
    return hier->bounce_is_used;
}

int mca_coll_epcoll_hier_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_hier_t *hier = mca_coll_epcoll_hier(handle);
    int rc = MPI_SUCCESS;

    if (EPCOLL_ALGORITHM_NODE_SLOTS == call->algorithm
        || EPCOLL_ALGORITHM_NODE_RINGS == call->algorithm) {
        mca_coll_epcoll_count(handle, call->kind, EPCOLL_PATH_SLOTS);
        rc = mca_coll_epcoll_node_segment_run(hier, call);
        if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) { /* the others may use another path next */
            rc = mca_coll_epcoll_ended(handle, rc);
            mca_coll_epcoll_break_all(handle, rc);
        }
        return rc;
    }
    mca_coll_epcoll_count(handle, call->kind, EPCOLL_PATH_HIER);
    if (uses_bounce(hier, call, &rc)) {
        rc = MPI_SUCCESS == rc ? mca_coll_epcoll_bounce_run(hier, call) : rc;
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
    ++hier->calls;
    rc = EPCOLL_ALGORITHM_SCHEDULE == call->algorithm
             ? mca_coll_epcoll_immediate_run(handle, call)
             : mca_coll_epcoll_hier_small_run(handle, call);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) {
        mca_coll_epcoll_break_all(handle, rc);
    }
    return rc;
}
