/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The operations of an algorithm (coll_epcoll_schedule.h), done at once: by blocking calls.
 * Messages begin, and are over in the next wait; all else is over when its function returns.  The
 * schedule has no steps then, and is on the stack of the call; its first error is kept in it, and
 * nothing is done after that.
 */

#ifndef MCA_COLL_EPCOLL_IMMEDIATE_H
#define MCA_COLL_EPCOLL_IMMEDIATE_H

#include "ompi_config.h"

#include "coll_epcoll_schedule.h"

BEGIN_C_DECLS

/** Messages that are under way together without memory for their requests. */
#define EPCOLL_IMMEDIATE_REQUESTS 64

/** A blocking call's schedule. */
typedef struct mca_coll_epcoll_immediate_t {
    mca_coll_epcoll_schedule_t schedule;
    ompi_request_t *requests[EPCOLL_IMMEDIATE_REQUESTS]; /**< requests; of more, there is memory */
} mca_coll_epcoll_immediate_t;

/** Begin a call that is done at once, of an algorithm that needs neither rounds nor a builder. */
static inline void mca_coll_epcoll_immediate_begin(mca_coll_epcoll_immediate_t *immediate,
                                                   mca_coll_epcoll_handle_t *handle,
                                                   const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_schedule_t *schedule = &immediate->schedule;

    schedule->is_immediate = true;
    schedule->handle = handle;
    schedule->call = call;
    schedule->tag = (int) (mca_coll_epcoll_hier(handle)->calls & EPCOLL_TAGS_BLOCKING);
    schedule->error = MPI_SUCCESS;
    schedule->open = 0;
    schedule->request = immediate->requests;
    schedule->request_capacity = EPCOLL_IMMEDIATE_REQUESTS;
}

/** Its end: when this returns, no message of it is under way any more.
 * @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_immediate_end(mca_coll_epcoll_immediate_t *immediate);

/** All of a blocking call, by its builder.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_immediate_run(mca_coll_epcoll_handle_t *handle,
                                  const mca_coll_epcoll_call_t *call);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_IMMEDIATE_H */
