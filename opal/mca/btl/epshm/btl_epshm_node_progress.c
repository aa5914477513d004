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

/** At each so many turns one pipe is asked whether its sender has gone. */
#define NODE_CHECK_TURNS 64

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

/** A pipe has been read to its end, or is not to be read any more. */
static void leave_pipe(epshm_node_module_t *module, uint32_t index)
{
    epshm_pipe_detach(module->in[index].pipe);
    module->in[index] = module->in[--module->in_count];
}

static __attribute__((noinline)) void broken(epshm_node_module_t *module, uint32_t index)
{
    /* Relaxed, both: a counter, and two messages instead of one would do no harm. */
    if (0 == atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1,
                                       memory_order_relaxed)) {
        EPSHM_SHOW_HELP("pipe corrupt", true);
    }
    leave_pipe(module, index);
}

/** Handle the messages of one pipe.  @return their number; -1 if the pipe is broken */
static inline int drain(epshm_node_module_t *module, uint32_t index)
{
    unsigned char room[EPSHM_PIPE_CELLS_MAX * EPSHM_PIPE_CELL_PAYLOAD]
        __attribute__((aligned(EPSHM_PIPE_LINE)));
    epshm_pipe_message_t message;
    int count = 0, rc;

    while (EPSHM_PIPE_MESSAGE == (rc = epshm_pipe_peek(&module->in[index], room, &message))) {
        if (OPAL_UNLIKELY(MCA_BTL_EP_TAG != message.tag)) {
            return -1;
        }
        deliver(module, &message);
        epshm_pipe_done(&module->in[index], &message);
        if (NODE_BATCH == ++count) {
            break;
        }
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
            const epshm_pipe_in_t moved = module->in[index];

            module->in[index] = module->in[front];
            module->in[front] = moved;
            events += count;
        }
    }
    return events;
}

/** Ask one pipe after the other whether its sender has gone. */
static __attribute__((noinline)) void check_one(epshm_node_module_t *module)
{
    uint32_t index;

    if (0 == module->in_count) {
        return;
    }
    index = module->asked++ % module->in_count;
    if (epshm_pipe_is_over(&module->in[index])) {
        leave_pipe(module, index);
    }
}

/** Leave the pipes whose senders cannot be answered, and let those see it.  What they have sent has
 * been read, but for what few turns leave behind in a crowd of pipes, which nobody will miss: the
 * owner has given them up. */
static __attribute__((noinline)) void refuse_all(epshm_node_module_t *module)
{
    module->refusing = false;
    for (uint32_t i = module->in_count; i-- > 0;) {
        if (module->in[i].refused) {
            epshm_pipe_refuse(module->in[i].pipe);
            module->in[i] = module->in[--module->in_count];
        }
    }
}

int mca_btl_epshm_node_progress(mca_btl_ep_module_t *ep_module)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    int events = 0;

    /* Relaxed: a hint; who acts on it acquires it. */
    if (OPAL_UNLIKELY(0 != atomic_load_explicit(&module->door->last, memory_order_relaxed))) {
        mca_btl_epshm_node_answer_door(module);
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
        check_one(module);
    }
    if (OPAL_UNLIKELY(module->refusing) && 0 == events) {
        refuse_all(module);
    }
    return events;
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
    epshm_pipe_in_t *grown = realloc(module->in, capacity * sizeof(*grown));

    if (NULL == grown) {
        return false;
    }
    module->in = grown;
    module->in_capacity = capacity;
    return true;
}

/** The pipe that a word of the door speaks of.  @return false: nonsense */
static bool open_word(uint64_t word, epshm_pipe_in_t *in)
{
    const uint64_t lines = word & ((UINT64_C(1) << EPSHM_DOOR_OFFSET_BITS) - 1);
    /* It has been mapped: nobody sends to an endpoint of a process that has not seen his address. */
    const epshm_neighbour_t *neighbour = mca_btl_epshm_neighbour_find(
        (opal_vpid_t) (word >> EPSHM_DOOR_OFFSET_BITS) - 1);

    return NULL != neighbour
           && epshm_pipe_open(in, neighbour->base, neighbour->size, neighbour->used,
                              lines * EPSHM_PIPE_LINE);
}

/** Has the pipe been taken in before?  Then somebody's list of announcements bites its tail. */
static bool is_known(const epshm_node_module_t *module, const epshm_pipe_in_t *in)
{
    for (uint32_t i = 0; i < module->in_count; ++i) {
        if (in->pipe == module->in[i].pipe) {
            return true;
        }
    }
    return epshm_pipe_is_detached(in->pipe);
}

void mca_btl_epshm_node_answer_door(epshm_node_module_t *module)
{
    /* Acquire pairs with the release in announce: the pipes are complete. */
    uint64_t word = atomic_exchange_explicit(&module->door->last, 0, memory_order_acquire);

    while (0 != word) {
        epshm_pipe_in_t in;

        /* For each that comes two that may go: or they would become ever more where peers come and
         * go in few turns. */
        check_one(module);
        check_one(module);
        if (!open_word(word, &in) || is_known(module, &in)) {
            /* What was announced before it cannot be found any more either. */
            atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1,
                                      memory_order_relaxed);
            EPSHM_SHOW_HELP("pipe corrupt", true);
            return;
        }
        /* Relaxed: acquired with the word. */
        word = atomic_load_explicit(&in.pipe->next, memory_order_relaxed);
        if (module->addressee != in.pipe->addressee) {
            epshm_pipe_detach(in.pipe); /* for one who had this door before */
        } else if (module->in_count == module->in_capacity && !in_grow(module)) {
            epshm_pipe_detach(in.pipe); /* without memory for it the sender sees us gone */
        } else {
            module->in[module->in_count++] = in;
        }
    }
}

void mca_btl_epshm_node_leave(epshm_node_module_t *module)
{
    module->addressee = 0; /* whatever is in the door is left, too */
    mca_btl_epshm_node_answer_door(module);
    while (0 < module->in_count) {
        leave_pipe(module, module->in_count - 1);
    }
}
