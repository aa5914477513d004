/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Taking in what other processes of the node send through pipes.
 *
 * A progress call looks at the doorbell (btl_epshm_node_doorbell.c), at the pipes that have brought messages lately,
 * and at a few of the others, so its cost does not grow with their number; an endpoint that has long
 * been silent is heard after some calls more.
 *
 * Tests: unit/test_epshm_node, unit/test_epshm_packets, corrupt, last_words
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

/** Pipes that are looked at in every progress call, and how many of the others. */
#define NODE_HOT 8
#define NODE_COLD_PER_TURN 4

/** Messages of one pipe handled in one progress call, so that a flood does not keep out the others,
 * or the caller from its own work. */
#define NODE_BATCH 16

/** At each so many calls one pipe is asked whether its sender has gone, one peer whether it has
 * given us up, and so many packets whether they have been read. */
#define NODE_CHECK_CALLS 64
#define NODE_RECLAIM 4

/** The last one takes its place. */
static epshm_node_in_t take_out(epshm_node_module_t *module, uint32_t index)
{
    const epshm_node_in_t in = module->in[index];

    module->in[index] = module->in[--module->in_count];
    return in;
}

/** A pipe has been read to its end, or is not to be read any more. */
static void leave_pipe(epshm_node_module_t *module, uint32_t index)
{
    const epshm_node_in_t in = take_out(module, index);

    if (in.condemned) {
        epshm_pipe_refuse(in.pipe.pipe);
    } else {
        epshm_pipe_detach(in.pipe.pipe);
    }
}

static __attribute__((noinline)) void node_progress_broken(epshm_node_module_t *module,
                                                           uint32_t index)
{
    /* Relaxed: a counter. */
    atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1, memory_order_relaxed);
    mca_btl_epshm_node_lose_in(module, take_out(module, index), "pipe corrupt");
}

/** Handle the messages of one pipe.  @return their number; -1 if the pipe is broken */
static inline int node_progress_drain(epshm_node_module_t *module, uint32_t index)
{
    unsigned char room[EPSHM_PIPE_CELLS_MAX * EPSHM_PIPE_CELL_PAYLOAD]
        __attribute__((aligned(EPSHM_PIPE_LINE)));
    epshm_pipe_message_t message;
    int count = 0, rc;

    epshm_pipe_in_t *in = &module->in[index].pipe; /* it stays where it is: see condemned */

    while (EPSHM_PIPE_MESSAGE == (rc = epshm_pipe_peek(in, room, &message))) {
        if (OPAL_UNLIKELY(MCA_BTL_EP_TAG != message.tag)) {
            return -1;
        }
        if (OPAL_LIKELY(NULL != message.rest)) {
            module->super.ep_receive_zcopy(module->super.ep_context, message.rest, message.data,
                                           message.size);
        } else {
            mca_btl_epshm_node_deliver(module, message.data, message.size, message.tag);
        }
        if (OPAL_UNLIKELY(module->super.ep_nonsense)) {
            module->super.ep_nonsense = false;
            return -1;
        }
        epshm_pipe_done(in, &message);
        if (NODE_BATCH == ++count) {
            break;
        }
    }
    if (0 == count && NODE_HOT > index) {
        epshm_pipe_await(in);
    }
    return OPAL_UNLIKELY(EPSHM_PIPE_BROKEN == rc) ? -1 : count;
}

/** Look at the pipes behind the front; one that has something comes to the front. */
static __attribute__((noinline)) int progress_cold(epshm_node_module_t *module)
{
    int events = 0;

    for (int i = 0; i < NODE_COLD_PER_TURN && NODE_HOT < module->in_count; ++i) {
        const uint32_t index = NODE_HOT + module->cold++ % (module->in_count - NODE_HOT);
        int count = node_progress_drain(module, index);

        if (0 > count) {
            node_progress_broken(module, index);
        } else if (0 < count) {
            const uint32_t front = module->demote++ % NODE_HOT;
            const epshm_node_in_t moved = module->in[index];

            module->in[index] = module->in[front];
            module->in[front] = moved;
            events += count;
        }
    }
    return events;
}

/** Handle what one pipe holds: a lap at most, be its sender as quick as may be.
 * @return as drain */
static int drain_lap(epshm_node_module_t *module, uint32_t index)
{
    const uint64_t most = module->in[index].pipe.mask + 1;
    int count = 0;

    for (uint64_t taken = 0; taken < most; taken += (uint64_t) count) {
        count = node_progress_drain(module, index);
        if (0 >= count) {
            break;
        }
    }
    return count;
}

__attribute__((noinline)) void mca_btl_epshm_node_check_in(epshm_node_module_t *module)
{
    epshm_node_in_t *in;
    uint32_t index;

    if (0 == module->in_count) {
        return;
    }
    index = module->asked++ % module->in_count;
    in = &module->in[index];
    if (epshm_pipe_is_over(&in->pipe)) {
        leave_pipe(module, index);
    } else if (OPAL_UNLIKELY(in->condemned || epshm_pipe_is_given_up(&in->pipe))) {
        (void) drain_lap(module, index); /* what it sent before */
        mca_btl_epshm_node_lose_in(module, take_out(module, index), "given up");
    } else if (OPAL_UNLIKELY(!epshm_pipe_is_sound(&in->pipe))) {
        node_progress_broken(module, index);
    }
}

/** Ask one receiver after the other whether it reads what is sent to it, and look whether that is
 * still there. */
static __attribute__((noinline)) void check_out(epshm_node_module_t *module)
{
    epshm_node_peer_t *peer = module->peers;

    if (NULL != peer) {
        module->peers = peer->next;
        if (OPAL_UNLIKELY(mca_btl_epshm_node_is_refused(peer))) {
            mca_btl_epshm_node_lose(peer, "given up");
        } else if (OPAL_UNLIKELY(NULL != peer->out.pipe && !epshm_pipe_is_intact(&peer->out))) {
            mca_btl_epshm_node_lose(peer, "pipe broken");
        }
    }
    mca_btl_epshm_node_packets_reclaim(module, NODE_RECLAIM);
}

int mca_btl_epshm_node_progress(mca_btl_ep_module_t *ep_module)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    int events = 0;

    /* Relaxed: a hint; acting on it acquires. */
    if (OPAL_UNLIKELY(0 != atomic_load_explicit(&module->doorbell->last, memory_order_relaxed))) {
        events = mca_btl_epshm_node_answer_doorbell(module);
        if (OPAL_UNLIKELY(module->broken)) {
            mca_btl_epshm_node_refuse_pipes(module);
            return OPAL_ERR_UNREACH;
        }
    }
    for (uint32_t i = 0; i < NODE_HOT && i < module->in_count; ++i) {
        int count = node_progress_drain(module, i);

        if (OPAL_UNLIKELY(0 > count)) {
            node_progress_broken(module, i);
        } else {
            events += count;
        }
    }
    if (OPAL_UNLIKELY(NODE_HOT < module->in_count)) {
        events += progress_cold(module);
    }
    if (OPAL_UNLIKELY(0 == ++module->progress_calls % NODE_CHECK_CALLS)) {
        mca_btl_epshm_node_check_in(module);
        check_out(module);
        if (OPAL_UNLIKELY(0 != module->rest)) { /* the doorbell itself may be empty */
            events += mca_btl_epshm_node_answer_doorbell(module);
        }
    }
    return events;
}

void mca_btl_epshm_node_drain(mca_btl_ep_module_t *ep_module)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;

    (void) mca_btl_epshm_node_answer_doorbell(module);
    for (uint32_t i = 0; i < module->in_count;) {
        if (OPAL_UNLIKELY(0 > drain_lap(module, i))) {
            node_progress_broken(module, i);
        } else {
            ++i;
        }
    }
}

bool mca_btl_epshm_node_pending(const mca_btl_ep_module_t *ep_module)
{
    const epshm_node_module_t *module = (const epshm_node_module_t *) ep_module;

    (void) module;
    return true; /* pipes come and go under the owner's hands: only progress may look at them */
}

void mca_btl_epshm_node_leave(epshm_node_module_t *module)
{
    if (!module->broken) {
        mca_btl_epshm_node_leave_doorbell(module);
    }
    while (0 < module->in_count) {
        leave_pipe(module, module->in_count - 1);
    }
}
