/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The steps of a schedule: what they are, and how they go on.  For coll_epcoll_schedule.c.
 */

#ifndef MCA_COLL_EPCOLL_STEP_H
#define MCA_COLL_EPCOLL_STEP_H

#include "ompi_config.h"

#include "coll_epcoll_schedule.h"

BEGIN_C_DECLS

typedef enum mca_coll_epcoll_step_kind_t {
    EPCOLL_STEP_LOCAL,
    EPCOLL_STEP_SEND,
    EPCOLL_STEP_RECEIVE,
    EPCOLL_STEP_WAIT,
    EPCOLL_STEP_REDUCE,
    EPCOLL_STEP_COPY
} mca_coll_epcoll_step_kind_t;

struct mca_coll_epcoll_step_t {
    mca_coll_epcoll_step_kind_t kind;
    int rank;                /**< of the other one */
    ompi_request_t *request; /**< of a message; MPI_REQUEST_NULL: it is over, or has not begun */
    mca_coll_epcoll_buffer_t from, into;
    size_t first, size; /**< of a copy; first of LOCAL: its part */
};

/** What a LOCAL step is. */
struct mca_coll_epcoll_part_t {
    mca_coll_epcoll_call_t call;
    mca_coll_epcoll_plan_t plan;
    bool has_plan;
};

/**
 * Go on with the step that a schedule is in.
 *
 * @param most  chunks to do at most, of a LOCAL one; 0: nor anything else that takes long
 *
 * @return MPI_SUCCESS: it is over; EPCOLL_SOME; EPCOLL_NOTHING; EPCOLL_MISMATCH, or an error code
 */
int mca_coll_epcoll_step_progress(mca_coll_epcoll_schedule_t *schedule, uint32_t most);

/** Are the messages over that have begun?  @return likewise, but EPCOLL_SOME */
int mca_coll_epcoll_step_messages(mca_coll_epcoll_schedule_t *schedule);

/** The schedule has failed: cancel messages, as they may never be matched.  To be called until all
 * are over. */
void mca_coll_epcoll_step_cancel(mca_coll_epcoll_schedule_t *schedule);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_STEP_H */
