/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which pairs have pipes, the memory in which a sender may be far ahead of its receiver: those that
 * exchange many messages, and no more than btl_epshm_pipes of a module.  A pipe that is empty and
 * has not been used for a while is closed when another pair is to have one.
 *
 * A pair changes its way without a message of its being overtaken: a pipe is announced in the list
 * in which the packets before it are, and is left only when its consumer has read all.
 *
 * Tests: unit/test_epshm_packets, unit/test_epshm_short, random_traffic (few, tight)
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

/** Packets to a peer without a pipe between two thoughts of one. */
#define NODE_PIPE_PAUSE 64

/** Pipes that are looked at for one that is idle, and progress calls without a message after which
 * it is. */
#define NODE_LOOKS 16
#define NODE_IDLE_CALLS 1024

static void say_no_room(void)
{
    /* Relaxed: two messages instead of one would do no harm. */
    static _Atomic bool said = false;
    uint64_t stamp, size = 0;

    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        (void) mca_btl_epshm_segment_open(&stamp, &size); /* it is: how large? */
        EPSHM_SHOW_HELP("no room", true, opal_process_info.nodename,
                        mca_btl_epshm_component.directory, (size_t) size);
    }
}

/* ---- pipes ----------------------------------------------------------------------------------- */

void mca_btl_epshm_node_leave_pipe(epshm_node_peer_t *peer, bool close)
{
    epshm_node_module_t *module = (epshm_node_module_t *) peer->module;
    epshm_node_peer_t *last = module->piped[--module->pipes];

    module->piped[peer->place] = last;
    last->place = peer->place;
    if (close) {
        epshm_pipe_close(&peer->out);
    }
    peer->other.messages += peer->out.tail; /* see count_peer */
    mca_btl_epshm_segment_retire(peer->memory);
    peer->memory = NULL;
    peer->due = 0;
    peer->out = (epshm_pipe_out_t){.pipe = NULL};
}

/** Is a pipe of no use at present?  Its consumer has read all, and nothing has been sent lately. */
static bool is_idle(const epshm_node_module_t *module, epshm_node_peer_t *peer)
{
    if (peer->tail_seen != peer->out.tail) {
        peer->tail_seen = peer->out.tail;
        peer->call_seen = module->progress_calls;
        return false;
    }
    /* A peer that is lost is still to be notified in its pipe.  Acquire pairs with the release in
     * epshm_pipe_done: all is delivered before a packet comes. */
    return NODE_IDLE_CALLS <= module->progress_calls - peer->call_seen && module->frag.peer != peer
           && !peer->lost
           && peer->out.tail == atomic_load_explicit(&peer->out.pipe->head, memory_order_acquire);
}

/** Close a pipe that is idle.  @return was there one? */
static bool close_idle(epshm_node_module_t *module)
{
    for (uint32_t i = 0; i < NODE_LOOKS && i < module->pipes; ++i) {
        epshm_node_peer_t *peer = module->piped[module->hand++ % module->pipes];

        if (is_idle(module, peer)) {
            mca_btl_epshm_node_leave_pipe(peer, true);
            return true;
        }
    }
    return false;
}

/** Push it into the consumer's doorbell.  If the doorbell is broken the pipe counts as refused; if
 * its consumer has gone, as left. */
static void node_pipe_announce(epshm_node_peer_t *peer)
{
    const uint64_t word = peer->own_word | peer->memory->block.offset / EPSHM_PIPE_LINE;
    const uint64_t rc = epshm_doorbell_push(peer->doorbell, &peer->out.pipe->next, word);

    if (OPAL_UNLIKELY(EPSHM_DOORBELL_BROKEN == rc)) {
        epshm_pipe_refuse(peer->out.pipe);
    } else if (OPAL_UNLIKELY(EPSHM_DOORBELL_LEFT == rc)) {
        epshm_pipe_detach(peer->out.pipe);
    }
}

bool mca_btl_epshm_node_open_pipe(epshm_node_peer_t *peer)
{
    epshm_node_module_t *module = (epshm_node_module_t *) peer->module;
    const uint64_t cells = mca_btl_epshm_component.pipe_cells;
    epshm_retired_t *memory;

    if (peer->gone || module->frag.peer == peer
        || (module->pipes == module->pipes_most && !close_idle(module))) {
        return false;
    }
    memory = calloc(1, sizeof(*memory));
    if (NULL == memory) {
        return false;
    }
    /* The last quarter of a segment is for areas, without which a pipe takes short messages only,
     * and for packets, without which nothing goes. */
    if (!mca_btl_epshm_segment_get(EPSHM_BLOCK_PIPE, epshm_pipe_bytes(cells), 2, &memory->block)) {
        free(memory);
        return false;
    }
    epshm_pipe_create(&peer->out, memory->block.memory, cells, peer->addressee);
    peer->out.pipe->sender = module->addressee;
    peer->out.pipe->doorbell = module->doorbell_block.offset;
    memory->detached = &peer->out.pipe->detached;
    memory->peer_proc = peer->peer_proc;
    peer->memory = memory;
    peer->tail_seen = 0;
    peer->call_seen = module->progress_calls;
    peer->place = module->pipes;
    module->piped[module->pipes++] = peer;
    node_pipe_announce(peer);
    return true;
}

bool mca_btl_epshm_node_want_pipe(epshm_node_peer_t *peer)
{
    if ((int32_t) mca_btl_epshm_component.pipe_after > peer->due) {
        return false;
    }
    peer->due = (int32_t) mca_btl_epshm_component.pipe_after - NODE_PIPE_PAUSE;
    return mca_btl_epshm_node_open_pipe(peer);
}

/* ---- areas ----------------------------------------------------------------------------------- */

/** Let a pipe have the area in its block, if there was one to be had.  @return was there? */
static bool add_area(epshm_node_peer_t *peer, bool was_had)
{
    epshm_block_t *block = &peer->memory->area_block;

    if (!was_had) {
        *block = (epshm_block_t){.size = 0};
        return false;
    }
    epshm_pipe_add_area(&peer->out, block->memory, block->offset, block->size);
    return true;
}

int mca_btl_epshm_node_need_area(epshm_node_peer_t *peer)
{
    epshm_block_t *block = &peer->memory->area_block;

    if (NULL != peer->out.area
        || add_area(peer, mca_btl_epshm_segment_get(EPSHM_BLOCK_AREA,
                                                    mca_btl_epshm_component.pipe_bytes, 2, block)
                              || mca_btl_epshm_segment_get(EPSHM_BLOCK_AREA,
                                                           mca_btl_epshm_component.pipe_eager_limit,
                                                           1, block))) {
        return OPAL_SUCCESS;
    }
    say_no_room();
    return OPAL_ERR_NOT_AVAILABLE;
}

bool mca_btl_epshm_node_want_area(epshm_node_peer_t *peer)
{
    if (add_area(peer,
                 mca_btl_epshm_segment_get(EPSHM_BLOCK_AREA, mca_btl_epshm_component.pipe_bytes, 2,
                                           &peer->memory->area_block))) {
        return true;
    }
    /* To ask takes the lock of the whole process. */
    peer->medium = -EPSHM_NODE_AREA_PAUSE * EPSHM_NODE_AREA_AFTER;
    return false;
}
