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

/** An algorithm of blocking calls. */
typedef struct algorithm_t {
    /** Can it execute a call?  The same answer at all members. */
    bool (*fits)(const mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call);
    /** Execute it.  @return MPI_SUCCESS or an error code */
    int (*run)(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call);
    mca_coll_epcoll_path_t path; /**< as what it is counted */
} algorithm_t;

/* ---- algorithms ------------------------------------------------------------------------------ */

static bool schedule_fits(const mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_schedule_serves(&hier->super, call);
}

static int schedule_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    ++hier->calls;
    return mca_coll_epcoll_immediate_run(&hier->super, call);
}

/** By leaders: is the call served, and do its data fit in slots? */
static bool leader_slots_fit(const mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_is_hier_small(call) && schedule_fits(hier, call);
}

static bool leader_buffers_fit(const mca_coll_epcoll_hier_t *hier,
                               const mca_coll_epcoll_call_t *call)
{
    return mca_coll_epcoll_is_double_buffered(&hier->super, call) && schedule_fits(hier, call);
}

static int leader_slots_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    ++hier->calls;
    return mca_coll_epcoll_hier_small_run(&hier->super, call, false);
}

static int leader_buffers_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    ++hier->calls;
    return mca_coll_epcoll_hier_small_run(&hier->super, call, true);
}

/** Calls of a communicator that would use bounce buffers before it gets them. */
#define BOUNCE_CALLS 8

/** Make bounce buffers: in one barrier of all members. */
static int bounce_make(mca_coll_epcoll_hier_t *hier)
{
    static const mca_coll_epcoll_call_t barrier = {.kind = EPCOLL_BARRIER};
    int rc;

    mca_coll_epcoll_bounce_begin(hier);
    rc = mca_coll_epcoll_uses_node_slots(hier, &barrier)
             ? mca_coll_epcoll_node_slots_run(hier, &barrier)
             : leader_slots_run(hier, &barrier);
    mca_coll_epcoll_bounce_made(hier);
    return rc;
}

/** By bounce buffers, which the eighth of such calls makes; until then, and where not all members
 * have them, by the schedule. */
static int bounce_run(mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    if (OPAL_UNLIKELY(!hier->bounce_is_known) && BOUNCE_CALLS <= ++hier->bounce_calls) {
        const int rc = bounce_make(hier);

        if (MPI_SUCCESS != rc) {
            return rc;
        }
    }
    return hier->bounce_is_used ? mca_coll_epcoll_bounce_run(hier, call) : schedule_run(hier, call);
}

static bool bounce_fits(const mca_coll_epcoll_hier_t *hier, const mca_coll_epcoll_call_t *call)
{
    return (!hier->bounce_is_known || hier->bounce_is_used)
           && mca_coll_epcoll_bounce_fits(&hier->super, call) && schedule_fits(hier, call);
}

static const algorithm_t node_rings = {mca_coll_epcoll_uses_node_rings,
                                       mca_coll_epcoll_node_rings_run, EPCOLL_PATH_SLOTS};
static const algorithm_t node_slots = {mca_coll_epcoll_uses_node_slots,
                                       mca_coll_epcoll_node_slots_run, EPCOLL_PATH_SLOTS};
static const algorithm_t leader_slots = {leader_slots_fit, leader_slots_run, EPCOLL_PATH_HIER};
static const algorithm_t leader_buffers = {leader_buffers_fit, leader_buffers_run,
                                           EPCOLL_PATH_HIER};
static const algorithm_t bounce = {bounce_fits, bounce_run, EPCOLL_PATH_HIER};
static const algorithm_t schedule = {schedule_fits, schedule_run, EPCOLL_PATH_HIER};

/** Algorithms that a kind has, at most, and a NULL behind them. */
#define ALGORITHMS 5

/** The algorithms of each kind, from those of short data to those of long ones: the first that fits
 * executes a call.  If none does: the fallback components. */
static const algorithm_t *const algorithms[EPCOLL_KINDS][ALGORITHMS] = {
    [EPCOLL_ALLGATHER] = {&node_slots, &bounce, &schedule},
    [EPCOLL_ALLGATHERV] = {&schedule},
    [EPCOLL_ALLREDUCE] = {&node_slots, &leader_slots, &leader_buffers, &schedule},
    [EPCOLL_ALLTOALL] = {&node_slots, &bounce, &schedule},
    [EPCOLL_ALLTOALLV] = {&schedule},
    [EPCOLL_ALLTOALLW] = {&schedule},
    [EPCOLL_BARRIER] = {&node_slots, &leader_slots},
    [EPCOLL_BCAST] = {&node_rings, &bounce, &leader_slots, &schedule},
    [EPCOLL_EXSCAN] = {&node_rings, &node_slots, &bounce, &schedule},
    [EPCOLL_GATHER] = {&node_rings, &node_slots, &bounce, &schedule},
    [EPCOLL_GATHERV] = {&schedule},
    [EPCOLL_REDUCE] = {&node_rings, &node_slots, &leader_slots, &schedule},
    [EPCOLL_REDUCE_SCATTER] = {&node_slots, &schedule},
    [EPCOLL_REDUCE_SCATTER_BLOCK] = {&node_slots, &schedule},
    [EPCOLL_SCAN] = {&node_rings, &node_slots, &bounce, &schedule},
    [EPCOLL_SCATTER] = {&node_rings, &node_slots, &bounce, &schedule},
    [EPCOLL_SCATTERV] = {&schedule},
};

/* ---- calls ----------------------------------------------------------------------------------- */

bool mca_coll_epcoll_hier_serves(mca_coll_epcoll_handle_t *handle, mca_coll_epcoll_call_t *call)
{
    const algorithm_t *const *list = algorithms[call->kind];

    mca_coll_epcoll_node_segment_next(handle, call);
    if (OPAL_UNLIKELY(!handle->is_hier)) { /* all members are in this process, and it is broken */
        return true;
    }
    call->algorithm = 0;
    while (NULL != list[call->algorithm]
           && !list[call->algorithm]->fits(mca_coll_epcoll_hier(handle), call)) {
        ++call->algorithm;
    }
    return NULL != list[call->algorithm];
}

int mca_coll_epcoll_hier_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    const algorithm_t *algorithm = algorithms[call->kind][call->algorithm];
    int rc;

    mca_coll_epcoll_count(handle, call->kind, algorithm->path);
    rc = algorithm->run(mca_coll_epcoll_hier(handle), call);
    if (OPAL_UNLIKELY(MPI_SUCCESS != rc)) { /* the others may use another path next */
        rc = mca_coll_epcoll_ended(&handle->view, rc);
        mca_coll_epcoll_break_all(handle, rc);
    }
    return rc;
}
