/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One progress call for an endpoint.
 *
 * Tests: calls, drafted, progress
 */

#include "ompi_config.h"

#include <sched.h>

#include "../loss/loss.h"
#include "../wire/wire.h"
#include "../object/object.h"
#include "../base/base.h"
#include "pml_epml_progress.h"

#include "opal/runtime/opal_progress.h"

/** The module of a transport has failed, which it has said. */
static void transport_failed(mca_pml_epml_ep_t *ep, mca_pml_epml_transport_t transport)
{
    if (!ep->wire.broken[transport]) {
        mca_pml_epml_transport_break(ep, transport);
    }
}

/** After each progress of an endpoint that reaches beyond its process: are all peers still there?
 * @param[in] heard  another process has sent something */
static inline void look_around(mca_pml_epml_ep_t *ep, bool heard)
{
    if (heard) {
        ep->engine.quiet = 0;
    } else if (OPAL_UNLIKELY(0 == ++ep->engine.quiet % EPML_QUIET_LONG)) {
        mca_pml_epml_liveness_check(ep);
    }
    if (OPAL_UNLIKELY(mca_pml_epml_lost_has_unseen(ep))) {
        mca_pml_epml_lost_look(ep);
    }
}

int mca_pml_epml_ep_progress_locked(mca_pml_epml_ep_t *ep)
{
    mca_btl_ep_module_t *node = ep->transports.module[EPML_TRANSPORT_NODE];
    mca_btl_ep_module_t *net = ep->transports.module[EPML_TRANSPORT_NET];
    int events = ep->transports.shm->ep_progress(ep->transports.shm);
    bool heard = false;

    if (NULL != node) {
        int rc = node->ep_progress(node);

        events += 0 < rc ? rc : 0;
        heard = 0 < rc;
        if (OPAL_UNLIKELY(0 > rc)) {
            transport_failed(ep, EPML_TRANSPORT_NODE);
        }
    }
    /* The network costs a system call or more per look.  While the receive queue brings messages
     * and the network none, it is looked at less often, down to every 16th call; otherwise at every
     * call, so that none that finds nothing has not looked everywhere. */
    if (NULL != net && (0 == --ep->engine.net_countdown || 0 == events)) {
        int rc = net->ep_progress(net);

        if (0 < rc) {
            events += rc;
            ep->engine.net_interval = 1;
            heard = true;
        } else if (0 < events) {
            ep->engine.net_interval = ep->engine.net_interval < 16 ? ep->engine.net_interval * 2
                                                                   : 16;
        } else {
            ep->engine.net_interval = 1;
        }
        ep->engine.net_countdown = ep->engine.net_interval;
        if (OPAL_UNLIKELY(0 > rc)) {
            transport_failed(ep, EPML_TRANSPORT_NET);
        }
    }
    if (NULL != node || NULL != net) {
        look_around(ep, heard);
    }
    if (OPAL_UNLIKELY(NULL != ep->wire.pending.first)) {
        events += mca_pml_epml_pending_progress(ep);
    }
    return events;
}

int mca_pml_epml_ep_poll_patiently(mca_pml_epml_ep_t *ep)
{
    const uint32_t before = atomic_load_explicit(&ep->signs.heartbeat, memory_order_relaxed);
    int events = mca_pml_epml_ep_poll(ep);

    /* Relaxed: a call of ours has moved it, as one of another thread of the endpoint's would
     * have. */
    for (int tries = 1;
         0 == events && tries < EPML_TEST_TRIES
         && before == atomic_load_explicit(&ep->signs.heartbeat, memory_order_relaxed);
         ++tries) {
        epml_lock_relax();
        if (0 == tries % 64) {
            sched_yield();
        }
        events = mca_pml_epml_ep_poll(ep);
    }
    return events;
}

void mca_pml_epml_process_progress(void)
{
    MCA_BTL_EP_HOLD_CANCEL();
    opal_progress();
}
