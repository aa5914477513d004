/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Is a silent peer still there?
 *
 * A provider reports a dead peer only to processes that send to it, and not even to all of them:
 * tcp goes on trying to connect, shm goes on writing into the dead process's memory.  So a module
 * that waits for a peer checks its liveness itself: whether its process is there (shm, whose
 * addresses name it), or whether there is a listener at its address (tcp).
 *
 * A connection may also break between two live processes.  The endpoint that notices gives the peer
 * up, and tells it (EPOFI_TAG_GONE).  The peer may have nothing under way, and would wait for lost
 * messages.  If that notice is lost as well, the peer's liveness probe (EPOFI_TAG_LIVENESS) gets it as
 * an answer.  It may be that neither endpoint notices, if the provider has connected again by
 * itself. Then the sequence number of the next message shows the loss (btl_epofi_pair.c): that of a
 * probe from an endpoint that waits or has sent nothing since, or that of the answer
 * (EPOFI_TAG_HERE).
 *
 * Called by the module's owner and from within its progress.
 *
 * Tests: unit/test_epofi_life, unit/test_epofi_pair, death, fault, cluster
 */

#include "opal_config.h"

#include "../peer/peer.h"
#include "../object/object.h"
#include "../base/base.h"
#include "btl_epofi_liveness.h"
#include "btl_epofi_discard.h"
#include "btl_epofi_packet.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- messages -------------------------------------------------------------------------------- */

static void ask_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op, size_t length,
                         int status)
{
    struct mca_btl_base_endpoint_t *endpoint = EPOFI_CONTAINER(op, struct mca_btl_base_endpoint_t,
                                                               ask_op);

    (void) length;
    endpoint->asking = false;
    ++module->own_ends;
    --endpoint->ends; /* not one of those that has_answered looks at */
    if (OPAL_SUCCESS != status && !endpoint->failed) {
        mca_btl_epofi_endpoint_fail(endpoint, module->error, module->error_detail);
    } else if (OPAL_SUCCESS == status && endpoint->parting) {
        module->super.ep_worn = true; /* it lives, and has been given up */
    }
    mca_btl_epofi_op_ended(module, endpoint);
}

/** Send one of our own messages, if there is room. */
static void send_own(struct mca_btl_base_endpoint_t *endpoint, mca_btl_base_tag_t tag,
                     const void *payload, size_t length)
{
    mca_btl_epofi_module_t *module = endpoint->module;
    mca_btl_epofi_pair_t *pair = endpoint->pair;
    unsigned char buffer[sizeof(mca_btl_epofi_wire_t) + sizeof(uint64_t)];
    struct iovec iov = {.iov_base = buffer, .iov_len = sizeof(mca_btl_epofi_wire_t) + length};
    ssize_t result;
    struct fi_msg message = {
        .msg_iov = &iov,
        .iov_count = 1,
        .addr = endpoint->address,
        .context = &endpoint->ask_op.context,
    };

    /* One at a time: it has one context.  A full queue says that the peer will be heard of. */
    if (endpoint->asking || endpoint->inflight >= module->peer_queue
        || iov.iov_len > module->inject_size) {
        return;
    }
    /* Of what a lost peer is not sent any more the number is missing, which tells it as well. */
    if (!endpoint->failed && OPAL_SUCCESS != mca_btl_epofi_packet_send(module, endpoint)) {
        return;
    }
    mca_btl_epofi_wire_init(pair, buffer, tag, length);
    if (0 < length) {
        memcpy(buffer + sizeof(mca_btl_epofi_wire_t), payload, length);
    }
    endpoint->ask_op.complete = ask_complete;
    result = fi_sendmsg(module->fi.ep, &message, FI_INJECT | FI_COMPLETION);
    if (0 == result) {
        if (pair->settled == pair->out.sequence) {
            ++pair->settled; /* no later question has to cover this one */
        }
        mca_btl_epofi_pair_sent(pair);
        if (EPOFI_TAG_LIVENESS == tag && 0 == endpoint->question) {
            endpoint->question = pair->out.sequence;
        }
        endpoint->stalled_ns = 0;
        endpoint->asking = true;
        endpoint->parting = EPOFI_TAG_GONE == tag;
        /* Not mca_btl_epofi_op_started: for the stall warning this is no sign of life. */
        ++module->inflight;
        ++endpoint->inflight;
    } else if (!endpoint->failed) {
        /* It may be that we shall never get through: then no other path would detect it. */
        (void) mca_btl_epofi_endpoint_refused(endpoint, result);
    }
}

/** A peer that answers so often, while nothing that is under way to it ends, ... */
#define ANSWERS_MOST 5

/**
 * The peer lives, and hears us.  If there are operations under way to it of which the provider has
 * ended none for several answers in a row, each to a question that was sent after the answer before
 * it, then it never will: what was sent before a question arrives before it.  (Answers to older
 * questions count for nothing: a link that is back brings them all at once.)
 *
 * @param[in] heard  the number of our last message that it has got
 */
static void has_answered(struct mca_btl_base_endpoint_t *endpoint, uint64_t heard)
{
    const uint32_t held = endpoint->inflight - (endpoint->asking ? 1 : 0);

    if (0 == endpoint->question || heard < endpoint->question) {
        return;
    }
    endpoint->question = 0;
    if (0 == held || endpoint->ends != endpoint->ends_then) {
        endpoint->ends_then = endpoint->ends;
        endpoint->answers = 0;
    } else if (++endpoint->answers >= ANSWERS_MOST) {
        mca_btl_epofi_endpoint_fail(endpoint, FI_ETIMEDOUT,
                                    "it answers, but what is under way to it does not end");
    }
}

void mca_btl_epofi_liveness_disconnect(struct mca_btl_base_endpoint_t *endpoint)
{
    send_own(endpoint, EPOFI_TAG_GONE, NULL, 0);
}

/** The endpoint of a pair, to send one message of our own to. */
static struct mca_btl_base_endpoint_t *endpoint_for_own(mca_btl_epofi_module_t *module,
                                                        const mca_btl_epofi_pair_t *pair)
{
    return NULL != pair->endpoint || NULL == pair->address
               ? mca_btl_epofi_pair_endpoint(module, pair)
               : mca_btl_epofi_endpoint_again(module, pair);
}

void mca_btl_epofi_liveness_answer(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair)
{
    struct mca_btl_base_endpoint_t *endpoint = endpoint_for_own(module, pair);
    const uint64_t heard = pair->expected - 1;

    if (NULL == endpoint) {
        return; /* no module here knows it any more */
    }
    if (endpoint->failed || pair->lost || pair->given_up) {
        send_own(endpoint, EPOFI_TAG_GONE, NULL, 0);
    } else {
        send_own(endpoint, EPOFI_TAG_HERE, &heard, sizeof(heard));
    }
    if (0 == endpoint->references) {
        mca_btl_epofi_endpoint_retire(endpoint);
    }
}

/** So much of what we have sent has arrived, says the peer. */
static void ask_settle(mca_btl_epofi_pair_t *pair, uint64_t heard)
{
    pair->asked = 0;
    pair->next_look = 0;
    if (heard > pair->settled && heard <= pair->out.sequence) {
        pair->settled = heard;
    }
}

bool mca_btl_epofi_liveness_arrived(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                                    mca_btl_base_tag_t tag, const void *payload, size_t length)
{
    uint64_t heard;

    switch (tag) {
    case EPOFI_TAG_LIVENESS:
        mca_btl_epofi_liveness_answer(module, pair);
        return true;
    case EPOFI_TAG_HERE:
        /* Its own number was looked at already. */
        if (sizeof(heard) != length) {
            return false;
        }
        memcpy(&heard, payload, sizeof(heard));
        ask_settle(pair, heard);
        if (NULL != pair->endpoint && !pair->endpoint->failed) {
            has_answered(pair->endpoint, heard);
        }
        return true;
    case EPOFI_TAG_GONE:
        mca_btl_epofi_pair_lose(module, pair, "the peer has lost its connection to this endpoint");
        return true;
    default:
        return false;
    }
}

/* ---- has it arrived? ------------------------------------------------------------------------- */

/** Probes in one pass; the next pass continues behind the last peer probed. */
#define CONFIRM_MOST 64
/** The time between two questions doubles so often: a peer that computes need not be asked on. */
#define CONFIRM_DOUBLED 6

/** Is it time to ask whether all of a pair has arrived? */
static bool is_due(const mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair)
{
    const bool quiet = pair->noticed == pair->out.sequence;

    pair->noticed = pair->out.sequence;
    return quiet && pair->settled != pair->out.sequence && !pair->lost && !pair->given_up
           && (NULL == pair->endpoint || !pair->endpoint->failed)
           && 0 <= (int32_t) (module->confirm_looks - pair->next_look);
}

void mca_btl_epofi_liveness_confirm(mca_btl_epofi_module_t *module)
{
    const uint64_t interval = (uint64_t) mca_btl_epofi_component.confirm * 1000000u;
    const uint64_t now = mca_btl_epofi_now();
    unsigned int left = CONFIRM_MOST;

    if (0 == interval || now - module->confirm_ns < interval || module->closing) {
        return;
    }
    module->confirm_ns = now;
    ++module->confirm_looks;
    /* The pass starts where the last one ended: otherwise peers in front that never answer would be
     * all that is ever probed. */
    for (uint32_t i = 0; i <= module->pairs.mask && 0 < left; ++i) {
        mca_btl_epofi_pair_t *pair
            = module->pairs.slots[module->confirm_next++ & module->pairs.mask].pair;
        struct mca_btl_base_endpoint_t *endpoint;

        if (NULL == pair || !is_due(module, pair)) {
            continue;
        }
        --left;
        pair->next_look = module->confirm_looks + (UINT32_C(1) << pair->asked);
        pair->asked += CONFIRM_DOUBLED > pair->asked ? 1 : 0;
        endpoint = endpoint_for_own(module, pair);
        if (NULL != endpoint) {
            send_own(endpoint, EPOFI_TAG_LIVENESS, NULL, 0);
            pair->noticed = pair->out.sequence;
            if (0 == endpoint->references) {
                mca_btl_epofi_endpoint_retire(endpoint);
            }
        }
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

/** Of the shm provider: addresses are "fi_shm://PID:...".  @return 0, or why it is not there */
static int look_at_process(const struct mca_btl_base_endpoint_t *endpoint)
{
    int pid = 0;

    if (FI_ADDR_STR != endpoint->callee.name.format
        || 1 != sscanf((const char *) endpoint->callee.name.bytes, "fi_shm://%d:", &pid)
        || 0 >= pid) {
        return 0;
    }
    return 0 != kill((pid_t) pid, 0) && ESRCH == errno ? ESRCH : 0;
}

void mca_btl_epofi_liveness_check(mca_btl_ep_module_t *ep_module,
                                  struct mca_btl_base_endpoint_t *endpoint, bool connect)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) ep_module;
    const char *provider = module->fabric->info->fabric_attr->prov_name;
    int error = 0;

    if (!endpoint->failed && 0 == strncasecmp(provider, "shm", 3)) {
        error = look_at_process(endpoint);
    }
    if (endpoint->failed) {
        mca_btl_epofi_endpoint_fail(endpoint, error, "-");
    } else if (0 != error && !mca_btl_epofi_endpoint_may_live(endpoint)) {
        mca_btl_epofi_endpoint_died(endpoint, error, "its process is not there any more");
    } else if (0 == error && mca_btl_epofi_endpoint_may_check_liveness(endpoint, connect)) {
        send_own(endpoint, EPOFI_TAG_LIVENESS, NULL, 0);
    }
}
