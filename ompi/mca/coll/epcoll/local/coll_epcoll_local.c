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
 * Which way a call goes whose members are all here.
 *
 * Tests: coll_move, coll_reduce, coll_late
 */

#include "ompi_config.h"

#include "local.h"

int mca_coll_epcoll_local_run(mca_coll_epcoll_handle_t *handle, const mca_coll_epcoll_call_t *call)
{
    if (mca_coll_epcoll_is_small(&handle->member, (uint32_t) mca_coll_epcoll_component.inline_limit,
                                 call)) {
        mca_coll_epcoll_count(handle, call->kind, EPCOLL_WAY_SMALL);
        return mca_coll_epcoll_small_run(handle, call);
    }
    mca_coll_epcoll_count(handle, call->kind, EPCOLL_WAY_PIECES);
    return mca_coll_epcoll_pieces_run(handle, call);
}
