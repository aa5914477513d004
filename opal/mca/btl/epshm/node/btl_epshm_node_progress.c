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
 * Taking in what other processes of the node send: pipes that are announced, and messages.
 *
 * A turn looks at the door, at the pipes that have brought messages lately, and at a few of the
 * others, so its cost does not grow with their number; an endpoint that has long been silent is
 * heard after some turns more.
 *
 * Tests: unit/test_epshm_node, corrupt, last_words
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/show_help.h"

/** Pipes that are looked at on every turn, and how many of the others. */
#define NODE_HOT 8
#define NODE_COLD_PER_TURN 4

/** Messages of one pipe handled in one turn, so that a flood does not keep out the others, or the
 * caller from its own work. */
#define NODE_BATCH 16

/** At each so many turns one pipe is asked whether its sender has gone, and one whether its
 * receiver has given it up. */
#define NODE_CHECK_TURNS 64

/** Words in a door at a time: more than there are endpoints on a node.  Memory gone wrong could
 * hold a list without an end. */
#define NODE_WORDS_MOST (1 << 20)

static inline void deliver(epshm_node_module_t *module, const epshm_pipe_message_t *message)
{
    const mca_btl_active_message_callback_t *handler
        = &mca_btl_base_active_message_trigger[message->tag];
    const mca_btl_base_segment_t segment = {.seg_addr.pval = message->data,
                                            .seg_len = message->size};
    const mca_btl_base_receive_descriptor_t descriptor = {.endpoint = NULL,
                                                          .des_segments = &segment,
                                                          .des_segment_count = 1,
                                                          .tag = message->tag,
                                                          .cbdata = handler->cbdata};

    handler->cbfunc(&module->super.super, &descriptor);
}

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

static __attribute__((noinline)) void broken(epshm_node_module_t *module, uint32_t index)
{
    /* Relaxed: a counter. */
    atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1, memory_order_relaxed);
    mca_btl_epshm_node_lose_sender(module, take_out(module, index), "pipe corrupt");
}

/** Handle the messages of one pipe.  @return their number; -1 if the pipe is broken */
static inline int drain(epshm_node_module_t *module, uint32_t index)
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
            module->super.ep_receive_loan(module->super.ep_context, message.rest, message.data,
                                          message.size);
        } else {
            deliver(module, &message);
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
        int count = drain(module, index);

        if (0 > count) {
            broken(module, index);
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
        count = drain(module, index);
        if (0 >= count) {
            break;
        }
    }
    return count;
}

/** Ask one pipe after the other whether its sender has gone, or writes nonsense. */
static __attribute__((noinline)) void check_in(epshm_node_module_t *module)
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
        mca_btl_epshm_node_lose_sender(module, take_out(module, index), "given up");
    } else if (OPAL_UNLIKELY(!epshm_pipe_is_sound(&in->pipe))) {
        broken(module, index);
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
        } else if (OPAL_UNLIKELY(!epshm_pipe_is_intact(&peer->out))) {
            mca_btl_epshm_node_lose(peer, "pipe broken");
        }
    }
}

static void answer_door(epshm_node_module_t *module);

int mca_btl_epshm_node_progress(mca_btl_ep_module_t *ep_module)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    int events = 0;

    /* Relaxed: a hint; who acts on it acquires it. */
    if (OPAL_UNLIKELY(0 != atomic_load_explicit(&module->door->last, memory_order_relaxed))) {
        answer_door(module);
        if (OPAL_UNLIKELY(module->broken)) {
            mca_btl_epshm_node_refuse_pipes(module);
            return OPAL_ERR_UNREACH;
        }
    }
    for (uint32_t i = 0; i < NODE_HOT && i < module->in_count; ++i) {
        int count = drain(module, i);

        if (OPAL_UNLIKELY(0 > count)) {
            broken(module, i);
        } else {
            events += count;
        }
    }
    if (OPAL_UNLIKELY(NODE_HOT < module->in_count)) {
        events += progress_cold(module);
    }
    if (OPAL_UNLIKELY(0 == ++module->turns % NODE_CHECK_TURNS)) {
        check_in(module);
        check_out(module);
    }
    return events;
}

void mca_btl_epshm_node_drain(mca_btl_ep_module_t *ep_module)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;

    answer_door(module);
    for (uint32_t i = 0; i < module->in_count;) {
        if (OPAL_UNLIKELY(0 > drain_lap(module, i))) {
            broken(module, i);
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

/* ---- the door -------------------------------------------------------------------------------- */

static bool in_grow(epshm_node_module_t *module)
{
    const uint32_t capacity = 0 == module->in_capacity ? 4 : 2 * module->in_capacity;
    epshm_node_in_t *grown = realloc(module->in, capacity * sizeof(*grown));

    if (NULL == grown) {
        return false;
    }
    module->in = grown;
    module->in_capacity = capacity;
    return true;
}

/** The pipe that a word of the door speaks of.  @return false: nonsense */
static bool open_word(uint64_t word, epshm_node_in_t *in)
{
    const uint64_t lines = word & ((UINT64_C(1) << EPSHM_DOOR_OFFSET_BITS) - 1);
    /* It has been mapped: nobody sends to a process that has not seen his address. */
    epshm_neighbour_t *neighbour
        = mca_btl_epshm_neighbour_find((opal_vpid_t) (word >> EPSHM_DOOR_OFFSET_BITS) - 1);

    *in = (epshm_node_in_t){.neighbour = neighbour};
    if (NULL == neighbour
        || !epshm_pipe_open(&in->pipe, neighbour->base, neighbour->size, neighbour->used,
                            lines * EPSHM_PIPE_LINE)) {
        return false;
    }
    in->sender = in->pipe.pipe->sender;
    in->door = in->pipe.pipe->door;
    return true;
}

/** Has the pipe been taken in before?  Then somebody's list of announcements bites its tail. */
static bool is_known(const epshm_node_module_t *module, const epshm_pipe_t *pipe)
{
    for (uint32_t i = 0; i < module->in_count; ++i) {
        if (pipe == module->in[i].pipe.pipe) {
            return true;
        }
    }
    return epshm_pipe_is_detached(pipe);
}

/** Is a pipe for one who had this door before?  Numbers are given out one after the other. */
static inline bool is_for_earlier(const epshm_node_module_t *module, const epshm_pipe_t *pipe)
{
    return module->addressee - pipe->addressee < UINT32_MAX;
}

/** A pipe for this module. */
static void take_in(epshm_node_module_t *module, const epshm_node_in_t *in)
{
    if (module->in_count == module->in_capacity && !in_grow(module)) {
        mca_btl_epshm_node_lose_sender(module, *in, "no memory"); /* it is not heard */
        return;
    }
    module->in[module->in_count] = *in;
    module->in[module->in_count++].condemned = mca_btl_epshm_node_has_refused(module, in->sender);
}

/** Pipes that have been announced: take them in.  Of a module that goes, leave them. */
static void answer_door(epshm_node_module_t *module)
{
    const bool goes = 0 == module->addressee;
    uint64_t word;

    if (OPAL_UNLIKELY(module->broken)) {
        return; /* that is what is written there */
    }
    /* Acquire pairs with the release in announce: the pipes are complete. */
    word = atomic_exchange_explicit(&module->door->last, goes ? EPSHM_DOOR_LEFT : 0,
                                    memory_order_acquire);
    for (int count = 0; 0 != word; ++count) {
        epshm_node_in_t in;

        if (!goes) {
            /* For each that comes two that may go: or they would become ever more where peers come
             * and go in few turns. */
            check_in(module);
            check_in(module);
        }
        if (OPAL_UNLIKELY(NODE_WORDS_MOST < count || !open_word(word, &in)
                          || is_known(module, in.pipe.pipe))) {
            /* What was announced before it cannot be found any more either. */
            atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1,
                                      memory_order_relaxed);
            mca_btl_epshm_node_break_door(module);
            return;
        }
        /* Relaxed: acquired with the word. */
        word = atomic_load_explicit(&in.pipe.pipe->next, memory_order_relaxed);
        if (module->addressee == in.pipe.pipe->addressee) {
            take_in(module, &in);
        } else if (goes || is_for_earlier(module, in.pipe.pipe)) {
            epshm_pipe_detach(in.pipe.pipe);
        } else {
            atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1,
                                      memory_order_relaxed);
            mca_btl_epshm_node_lose_sender(module, in, "pipe corrupt");
        }
    }
}

void mca_btl_epshm_node_leave(epshm_node_module_t *module)
{
    module->addressee = 0; /* whatever is in the door is left, too */
    answer_door(module);
    while (0 < module->in_count) {
        leave_pipe(module, module->in_count - 1);
    }
}
