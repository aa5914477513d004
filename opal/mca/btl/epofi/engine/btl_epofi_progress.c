/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Progress: completions are read in batches into an array on the stack and dispatched one by one.
 *
 * Callbacks start new operations while the array is worked off, which is harmless: they do not read
 * the completion queue.
 *
 * Tests: unit/test_epofi, fault
 */

#include "opal_config.h"

#include "../proto/proto.h"
#include "../peer/peer.h"
#include "../object/object.h"
#include "../sockets/sockets.h"
#include "../base/base.h"
#include "btl_epofi_progress.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"
#include "opal/util/string_copy.h"

#include <string.h>

/** Completions read at once.  With tcp every read of the queue is a system call, so a batch should
 * hold as many as there are receive buffers by default; more would only cost stack. */
#define BATCH 64

/** Looks at the completion queue that find nothing, between looks at the clock. */
#define IDLE_LONG 1024

/** Of those, in a row or not, between looks whether what was sent has arrived, and at
 * the receive buffers. */
#define EMPTY_MANY 4096

/** So long a queue that cannot be read is tried again before it is given up. */
#define BROKEN_NS (UINT64_C(3) * 1000000000)

/** Not an operation but the queue itself has failed.  It is given some seconds to recover.
 * @return 0, or OPAL_ERROR when it is given up */
static int queue_broken(mca_btl_epofi_module_t *module, int error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const uint64_t now = mca_btl_epofi_now();

    if (0 == module->broken_ns) {
        module->broken_ns = now;
    }
    if (now - module->broken_ns < BROKEN_NS) {
        return 0;
    }
    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("queue broken", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, fi_strerror(error));
    }
    return OPAL_ERROR;
}

/** Nothing has come for a while. */
static __attribute__((noinline)) void idle_long(mca_btl_epofi_module_t *module)
{
    if (0 < module->inflight) {
        mca_btl_epofi_endpoint_watch(module);
    }
    mca_btl_epofi_endpoint_judge_all(module);
    mca_btl_epofi_endpoint_watch_hosts(module);
}

/**
 * How many of some events count for the owner.  Our own questions do not (nor what we take back, in
 * btl_epofi_recv.c): that a provider is done with them says nothing of the peer, and owners look
 * after each other when there has been no sign of life for a while.
 */
static inline int progress_events(mca_btl_epofi_module_t *module, ssize_t events)
{
    if (OPAL_UNLIKELY(0 < module->own_ends)) {
        events = events > (ssize_t) module->own_ends ? events - (ssize_t) module->own_ends : 0;
        module->own_ends = 0;
    }
    return (int) events;
}

/** An operation failed: note why, and let it end with an error. */
static int progress_error(mca_btl_epofi_module_t *module)
{
    struct fi_cq_err_entry entry;
    mca_btl_epofi_op_t *op;
    const char *detail;
    ssize_t result;
    int status;

    memset(&entry, 0, sizeof(entry));
    result = fi_cq_readerr(module->fi.cq, &entry, 0);
    if (1 != result) {
        return -FI_EAGAIN == result || 0 == result ? 0 : queue_broken(module, (int) -result);
    }
    module->broken_ns = 0;
    if (NULL == entry.op_context) {
        return 1;
    }
    op = EPOFI_CONTAINER(entry.op_context, mca_btl_epofi_op_t, context);
    status = mca_btl_epofi_status(entry.err);
    if (OPAL_SUCCESS == status) {
        status = OPAL_ERROR;
    }
    module->error = entry.err;
    detail = fi_cq_strerror(module->fi.cq, entry.prov_errno, entry.err_data, NULL, 0);
    opal_string_copy(module->error_detail, NULL == detail ? "-" : detail,
                     sizeof(module->error_detail));
    op->complete(module, op, 0, status);
    return FI_ECANCELED == entry.err ? 0 : progress_events(module, 1);
}

int mca_btl_epofi_progress(mca_btl_ep_module_t *ep_module)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) ep_module;
    struct fi_cq_msg_entry entries[BATCH];
    uint64_t kinds = 0;
    ssize_t count;

    if (OPAL_UNLIKELY(NULL != module->unposted)) {
        mca_btl_epofi_recv_repost(module);
    }
    if (OPAL_UNLIKELY(NULL != module->waiting_gets)) {
        mca_btl_epofi_get_resume(module);
    }
    if (OPAL_UNLIKELY(module->abandons)) {
        mca_btl_epofi_endpoint_end_abandoned(module);
    }
    mca_btl_epofi_packets_look(module);
    count = fi_cq_read(module->fi.cq, entries, BATCH);
    if (OPAL_LIKELY(0 < count)) {
        module->idle = 0;
        for (ssize_t i = 0; i < count; ++i) {
            mca_btl_epofi_op_t *op = EPOFI_CONTAINER(entries[i].op_context, mca_btl_epofi_op_t,
                                                     context);

            kinds |= entries[i].flags;
            op->complete(module, op, entries[i].len, OPAL_SUCCESS);
        }
        mca_btl_epofi_packets_look(module); /* what has been answered */
        if (OPAL_UNLIKELY(BATCH == count && (module->send_refused || 0 == (kinds & FI_RECV)))) {
            /* Some providers look for what has arrived only when their queue is empty, or nothing
             * is asked for.  While we send as fast as we read it is never empty, nor while others
             * do; then they are made to look if they need it for a send of ours. */
            module->send_refused = false;
            (void) fi_cq_read(module->fi.cq, NULL, 0);
        }
        return progress_events(module, count);
    }
    if (OPAL_LIKELY(-FI_EAGAIN == count || 0 == count)) {
        module->broken_ns = 0;
        if (OPAL_UNLIKELY(0 == ++module->idle % IDLE_LONG)) {
            idle_long(module);
        }
        if (OPAL_UNLIKELY(0 == ++module->empty % EMPTY_MANY)) {
            mca_btl_epofi_liveness_confirm(module);
            mca_btl_epofi_recv_watch(module);
        }
        return 0;
    }
    return -FI_EAVAIL == count ? progress_error(module) : queue_broken(module, (int) -count);
}

bool mca_btl_epofi_pending(const mca_btl_ep_module_t *module)
{
    /* Only the provider knows, and asking it is what progress does. */
    (void) module;
    return true;
}
