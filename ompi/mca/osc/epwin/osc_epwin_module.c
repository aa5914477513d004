/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The functions of a window, for libmpi: the layer calls for operations, sync for epochs, create for
 * the rest.
 *
 * Tests: win_create, install/files
 */

#include "ompi_config.h"

#include "osc_epwin_module.h"

#include "calls/calls.h"
#include "create/create.h"
#include "sync/sync.h"

ompi_osc_base_module_t mca_osc_epwin_functions = {
    .osc_win_shared_query = mca_osc_epwin_shared_query,
    .osc_win_attach = mca_osc_epwin_attach,
    .osc_win_detach = mca_osc_epwin_detach,
    .osc_free = mca_osc_epwin_free,
    .osc_put = mca_osc_epwin_put,
    .osc_get = mca_osc_epwin_get,
    .osc_accumulate = mca_osc_epwin_accumulate,
    .osc_compare_and_swap = mca_osc_epwin_compare_and_swap,
    .osc_fetch_and_op = mca_osc_epwin_fetch_and_op,
    .osc_get_accumulate = mca_osc_epwin_get_accumulate,
    .osc_rput = mca_osc_epwin_rput,
    .osc_rget = mca_osc_epwin_rget,
    .osc_raccumulate = mca_osc_epwin_raccumulate,
    .osc_rget_accumulate = mca_osc_epwin_rget_accumulate,
    .osc_fence = mca_osc_epwin_fence,
    .osc_start = mca_osc_epwin_start,
    .osc_complete = mca_osc_epwin_complete,
    .osc_post = mca_osc_epwin_post,
    .osc_wait = mca_osc_epwin_wait_epoch,
    .osc_test = mca_osc_epwin_test_epoch,
    .osc_lock = mca_osc_epwin_lock,
    .osc_unlock = mca_osc_epwin_unlock,
    .osc_lock_all = mca_osc_epwin_lock_all,
    .osc_unlock_all = mca_osc_epwin_unlock_all,
    .osc_sync = mca_osc_epwin_sync,
    .osc_flush = mca_osc_epwin_flush,
    .osc_flush_all = mca_osc_epwin_flush_all,
    .osc_flush_local = mca_osc_epwin_flush_local,
    .osc_flush_local_all = mca_osc_epwin_flush_local_all,
};
