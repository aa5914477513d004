/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a process needs that has endpoints: our functions in libmpi's tables, and the transports
 * open, with the functions that they call.  None of it is done for a job that makes none, unless
 * the user wants contexts of the network to be there before (pml_epml_reserve).
 *
 * Tests: create_first, reserve
 */

#include "ompi_config.h"

#include "../engine/engine.h"
#include "../loss/loss.h"
#include "../proto/proto.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_base_variables.h"
#include "pml_epml_coll.h"
#include "pml_epml_ipart.h"
#include "pml_epml_libnbc.h"
#include "pml_epml_serve.h"
#include "pml_epml_wait.h"

#include "ompi/constants.h"
#include "ompi/mca/topo/base/base.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/threads/mutex.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/proc.h"

/** Are our functions in their places? */
static struct {
    opal_mutex_t lock;
    _Atomic bool done;
} installed = {.lock = OPAL_MUTEX_STATIC_INIT};

/** Have contexts been opened that are not needed yet? */
static _Atomic bool reserved;

static const mca_pml_epml_upcalls_t upcalls = {.arrived = mca_pml_epml_arrived,
                                               .arrived_bare = mca_pml_epml_arrived_bare,
                                               .arrived_zcopy = mca_pml_epml_arrived_zcopy,
                                               .arrived_on_node = mca_pml_epml_arrived_on_node,
                                               .returned = mca_pml_epml_send_returned,
                                               .lost = mca_pml_epml_lost_upcall,
                                               .lives = mca_pml_epml_lost_lives,
                                               .lost_sender = mca_pml_epml_lost_sender,
                                               .describe = mca_pml_epml_lost_describe,
                                               .meet = mca_pml_epml_lost_meet};

static const mca_pml_epml_kind_t *const kinds[EPML_HDR_KINDS] = {
    [EPML_HDR_RNDV] = &mca_pml_epml_rndv_kind,
    [EPML_HDR_CTS] = &mca_pml_epml_cts_kind,
    [EPML_HDR_FRAG] = &mca_pml_epml_frag_kind,
    [EPML_HDR_FIN] = &mca_pml_epml_done_kind,
    [EPML_HDR_ACK] = &mca_pml_epml_done_kind,
    [EPML_HDR_PART_INIT] = &mca_pml_epml_part_init_kind,
    [EPML_HDR_PART_START] = &mca_pml_epml_part_start_kind,
    [EPML_HDR_PART_DATA] = &mca_pml_epml_part_data_kind,
    [EPML_HDR_PART_RNDV] = &mca_pml_epml_part_rndv_kind,
    [EPML_HDR_HOLD] = &mca_pml_epml_flow_kind,
    [EPML_HDR_GO] = &mca_pml_epml_flow_kind,
    [EPML_HDR_PART_AGAIN] = &mca_pml_epml_part_again_kind,
    [EPML_HDR_CANCEL] = &mca_pml_epml_rndv_cancel_kind,
    [EPML_HDR_PART_FAIL] = &mca_pml_epml_part_fail_kind,
    [EPML_HDR_LEFT] = &mca_pml_epml_left_kind,
    [EPML_HDR_AM] = &mca_pml_epml_am_kind,
};

/** Put our functions in their places, before there is anything that they are needed for.  A thread
 * that comes while another one does it waits: no endpoint is used without them. */
static void serve_install(void)
{
    /* Acquire pairs with the release below, of another thread: what it has put there before. */
    if (OPAL_LIKELY(atomic_load_explicit(&installed.done, memory_order_acquire))) {
        return;
    }
    opal_mutex_lock(&installed.lock);
    if (!atomic_load_explicit(&installed.done, memory_order_relaxed)) {
#if !defined(__SANITIZE_THREAD__) /* which knows nothing of membarrier */
        mca_pml_epml_may_bias = epml_lock_setup();
#endif
        (void) opal_progress_register(mca_pml_epml_progress);
        mca_pml_epml_wait_install();
        mca_pml_epml_ipart_install();
        mca_pml_epml_libnbc_install();
        mca_pml_epml_base_variables_install();
        /* Open MPI opens its topology framework at the first call that needs it, without a lock:
         * the threads of a process make that call at the same time once they have ranks. */
        (void) mca_topo_base_lazy_init();
        atomic_store_explicit(&installed.done, true, memory_order_release);
    }
    opal_mutex_unlock(&installed.lock);
}

void mca_pml_epml_serve_init(void)
{
    mca_pml_epml_kinds(kinds);
}

int mca_pml_epml_serve(void)
{
    int rc = mca_pml_epml_transports_open(&upcalls);

    if (OMPI_SUCCESS == rc) {
        serve_install();
    }
    return rc;
}

/** Does this node's memory take messages of other processes?  The component is open. */
static bool node_serves(void)
{
    const int index = mca_base_var_find("opal", "btl", "epshm", "processes");
    const bool *value = NULL;

    return 0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &value, NULL, NULL)
           || NULL == value || *value;
}

void mca_pml_epml_serve_reserve(void)
{
    const uint32_t others = ompi_process_info.num_procs - 1;
    const int wanted = mca_pml_epml_component.reserve;

    /* Relaxed: the first call is that of MPI_Init, alone. */
    if (OPAL_LIKELY(0 == wanted) || 0 == others
        || atomic_exchange_explicit(&reserved, true, memory_order_relaxed)
        || OMPI_SUCCESS != mca_pml_epml_transports_open(&upcalls)) {
        return;
    }
    if (opal_process_info.num_local_peers < others || !node_serves()) {
        mca_pml_epml_net_reserve(wanted);
    }
}

void mca_pml_epml_serve_no_more(void)
{
    if (atomic_exchange_explicit(&installed.done, false, memory_order_relaxed)) {
        mca_pml_epml_wait_remove();
        mca_pml_epml_ipart_remove();
        mca_pml_epml_libnbc_remove();
        mca_pml_epml_base_variables_remove();
        (void) opal_progress_unregister(mca_pml_epml_progress);
    }
    atomic_store_explicit(&reserved, false, memory_order_relaxed);
    mca_pml_epml_ep_finalize();
    mca_pml_epml_coll_finalize();
}
