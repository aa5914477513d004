/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The operations of an algorithm (coll_epcoll_program.h), done at once: by blocking calls.  Messages
 * begin, and are over in the next wait; all else is over when its function returns.  The program
 * has no steps then, and is on the stack of the call; its first error is kept in it, and nothing
 * is done after that.
 */

#ifndef MCA_COLL_EPCOLL_NOW_H
#define MCA_COLL_EPCOLL_NOW_H

#include "ompi_config.h"

#include "coll_epcoll_program.h"

BEGIN_C_DECLS

/** Messages that are under way together without memory for their requests. */
#define EPCOLL_NOW_FEW 64

/** A blocking call's program. */
typedef struct mca_coll_epcoll_now_t {
    mca_coll_epcoll_program_t program;
    ompi_request_t *few[EPCOLL_NOW_FEW]; /**< requests; of more, there is memory */
} mca_coll_epcoll_now_t;

/** Begin a call that is done at once, of an algorithm that needs neither rounds nor a builder. */
static inline void mca_coll_epcoll_now_begin(mca_coll_epcoll_now_t *now,
                                             mca_coll_epcoll_handle_t *handle,
                                             const mca_coll_epcoll_call_t *call)
{
    mca_coll_epcoll_program_t *program = &now->program;

    program->is_now = true;
    program->handle = handle;
    program->call = call;
    program->tag = (int) (mca_coll_epcoll_wide(handle)->calls & EPCOLL_TAGS_BLOCKING);
    program->error = MPI_SUCCESS;
    program->open = 0;
    program->request = now->few;
    program->request_room = EPCOLL_NOW_FEW;
}

/** Its end: when this returns, no message of it is under way any more.
 * @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_now_end(mca_coll_epcoll_now_t *now);

/** All of a blocking call, by its builder.  @return MPI_SUCCESS or an error code */
int mca_coll_epcoll_now_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_NOW_H */
