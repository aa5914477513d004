/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Which way a call goes whose members live in several processes.
 *
 * Called by libmpi, by way of the layer calls.
 *
 * Tests: coll_layout, coll_move, coll_reduce, death
 */

#include "ompi_config.h"

#include "../data/data.h"
#include "between.h"

bool mca_coll_epcoll_between_has(mca_coll_epcoll_kind_t kind)
{
    switch (kind) {
    case EPCOLL_ALLGATHER:
    case EPCOLL_ALLREDUCE:
    case EPCOLL_BARRIER:
    case EPCOLL_BCAST:
    case EPCOLL_REDUCE:
        return true;
    default:
        return false;
    }
}

bool mca_coll_epcoll_between_serves(const mca_coll_epcoll_handle_t *handle,
                                    const mca_coll_epcoll_call_t *call)
{
    if (NULL == handle->layout) {
        return true; /* a block of one process that is broken */
    }
    return NULL == call->op || handle->layout->is_ordered || ompi_op_is_commute(call->op);
}

bool mca_coll_epcoll_is_short(const mca_coll_epcoll_call_t *call)
{
    if (call->bytes > mca_coll_epcoll_component.inline_limit || EPCOLL_ALLGATHER == call->kind) {
        return false;
    }
    return NULL == call->op
           || (mca_coll_epcoll_is_dense(call->recv_type) && 0 == call->recv_type->super.true_lb);
}

int mca_coll_epcoll_between_run(mca_coll_epcoll_handle_t *handle,
                                const mca_coll_epcoll_call_t *call)
{
    ++handle->calls;
    return mca_coll_epcoll_is_short(call) ? mca_coll_epcoll_short_run(handle, call)
                                          : mca_coll_epcoll_long_run(handle, call);
}
