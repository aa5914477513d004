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
 * Tests: unit/test_epshm_node, unit/test_epshm_packets, corrupt, last_words
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

/** At each so many turns one pipe is asked whether its sender has gone, one peer whether it has given
 * us up, and so many packets whether they have been read. */
#define NODE_CHECK_TURNS 64
#define NODE_RECLAIM 4

/** Elements of a door's list at a time: more than there can be. */
#define NODE_WORDS_MOST (1 << 20)

static inline void deliver(epshm_node_module_t *module, void *data, size_t size,
                           mca_btl_base_tag_t tag)
{
    const mca_btl_active_message_callback_t *handler = &mca_btl_base_active_message_trigger[tag];
    const mca_btl_base_segment_t segment = {.seg_addr.pval = data, .seg_len = size};
    const mca_btl_base_receive_descriptor_t descriptor = {.endpoint = NULL,
                                                          .des_segments = &segment,
                                                          .des_segment_count = 1,
                                                          .tag = tag,
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
    mca_btl_epshm_node_lose_in(module, take_out(module, index), "pipe corrupt");
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
            deliver(module, message.data, message.size, message.tag);
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
        mca_btl_epshm_node_lose_in(module, take_out(module, index), "given up");
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
        } else if (OPAL_UNLIKELY(NULL != peer->out.pipe && !epshm_pipe_is_intact(&peer->out))) {
            mca_btl_epshm_node_lose(peer, "pipe broken");
        }
    }
    mca_btl_epshm_node_packets_reclaim(module, NODE_RECLAIM);
}

static __attribute__((noinline)) int answer_door(epshm_node_module_t *module);

int mca_btl_epshm_node_progress(mca_btl_ep_module_t *ep_module)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    int events = 0;

    /* Relaxed: a hint; who acts on it acquires it. */
    if (OPAL_UNLIKELY(0 != atomic_load_explicit(&module->door->last, memory_order_relaxed))) {
        events = answer_door(module);
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

    (void) answer_door(module);
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
    const uint32_t capacity = 2 * module->in_capacity;
    epshm_node_in_t *grown = realloc(module->in, capacity * sizeof(*grown));

    if (NULL == grown) {
        return false;
    }
    module->in = grown;
    module->in_capacity = capacity;
    return true;
}

/** A process of this job.  NULL: none that is mapped. */
static epshm_neighbour_t *neighbour_of(epshm_node_module_t *module, opal_vpid_t vpid)
{
    epshm_neighbour_t **known = &module->known[vpid % EPSHM_NODE_KNOWN];

    if (OPAL_UNLIKELY(NULL == *known || vpid != (*known)->name.vpid)) {
        /* It has been mapped: nobody sends to a process that has not seen his address. */
        epshm_neighbour_t *found = mca_btl_epshm_neighbour_find(vpid);

        if (NULL == found) {
            return NULL;
        }
        *known = found;
    }
    return *known;
}

/** Does an element of the door's list begin there?
 * @return its link, or NULL: nonsense */
static _Atomic uint64_t *find_link(const epshm_node_word_t *place)
{
    const epshm_neighbour_t *neighbour = place->neighbour;
    epshm_pipe_envelope_t envelope;
    epshm_pipe_in_t pipe;
    epshm_packet_t *packet;

    if (NULL == neighbour) {
        return NULL;
    }
    packet = epshm_packet_open(neighbour->base, neighbour->size, neighbour->used, place->offset,
                               &envelope);
    if (NULL != packet) {
        return &packet->next;
    }
    return epshm_pipe_open(&pipe, neighbour->base, neighbour->size, neighbour->used, place->offset)
               ? &pipe.pipe->next
               : NULL;
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

/** Is something for one who had this door before?  Numbers are given out one after the other. */
static inline bool is_for_earlier(const epshm_node_module_t *module, uint64_t addressee)
{
    return module->addressee - addressee < UINT32_MAX;
}

/** Of a pipe, or a packet, that is for none who has had this door, or that makes no sense. */
static void corrupt(epshm_node_module_t *module, const epshm_node_word_t *place, uint64_t sender,
                    uint64_t door)
{
    /* Relaxed: a counter. */
    atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1, memory_order_relaxed);
    mca_btl_epshm_node_lose_sender(module, place->neighbour, sender, door, true, "pipe corrupt");
}

/** A pipe for this module. */
static void take_in(epshm_node_module_t *module, const epshm_node_in_t *in)
{
    if (module->in_count == module->in_capacity && !in_grow(module)) {
        mca_btl_epshm_node_lose_in(module, *in, "no memory"); /* it is not heard */
        return;
    }
    module->in[module->in_count] = *in;
    module->in[module->in_count++].condemned = NULL
                                               != mca_btl_epshm_node_has_refused(module,
                                                                                 in->sender);
}

/** A pipe in the door's list.  @return false: it is known */
static bool answer_pipe(epshm_node_module_t *module, const epshm_node_word_t *place)
{
    const epshm_neighbour_t *neighbour = place->neighbour;
    epshm_node_in_t in = {.neighbour = place->neighbour};
    const epshm_pipe_t *pipe;

    if (!epshm_pipe_open(&in.pipe, neighbour->base, neighbour->size, neighbour->used, place->offset)
        || is_known(module, in.pipe.pipe)) {
        return false;
    }
    /* For each that comes two that may go: or they would become ever more where peers come and go
     * in few turns. */
    check_in(module);
    check_in(module);
    pipe = in.pipe.pipe;
    in.sender = pipe->sender;
    in.door = pipe->door;
    if (module->addressee == pipe->addressee) {
        take_in(module, &in);
    } else if (is_for_earlier(module, pipe->addressee)) {
        epshm_pipe_detach(in.pipe.pipe);
    } else {
        epshm_pipe_refuse(in.pipe.pipe);
        corrupt(module, place, in.sender, in.door);
    }
    return true;
}

/** A message for this module.  @return EPSHM_PIPE_LEFT: it has been taken; EPSHM_PIPE_REFUSED */
static uint64_t take_packet(epshm_node_module_t *module, const epshm_node_word_t *place,
                            epshm_packet_t *packet, const epshm_pipe_envelope_t *envelope)
{
    const uint64_t sender = packet->sender, door = packet->door;
    const epshm_node_refused_t *refused = mca_btl_epshm_node_has_refused(module, sender);

    if (OPAL_UNLIKELY(NULL != refused && refused->corrupt)) {
        return EPSHM_PIPE_REFUSED;
    }
    switch (envelope->kind) {
    case EPSHM_PACKET_MESSAGE:
        if (OPAL_UNLIKELY(MCA_BTL_EP_TAG != envelope->tag)) {
            break;
        }
        deliver(module, epshm_packet_data(packet), envelope->size, envelope->tag);
        if (OPAL_UNLIKELY(module->super.ep_nonsense)) {
            module->super.ep_nonsense = false;
            break;
        }
        /* Of one that has been given up it is the last that is read. */
        return OPAL_LIKELY(NULL == refused) ? EPSHM_PIPE_LEFT : EPSHM_PIPE_REFUSED;
    case EPSHM_PACKET_GIVE_UP:
        if (NULL == refused) {
            mca_btl_epshm_node_lose_sender(module, place->neighbour, sender, door, false,
                                           "given up");
        }
        return EPSHM_PIPE_REFUSED;
    case EPSHM_PACKET_ASK:
        return NULL == refused ? EPSHM_PIPE_LEFT : EPSHM_PIPE_REFUSED;
    default:
        break;
    }
    corrupt(module, place, sender, door);
    return EPSHM_PIPE_REFUSED;
}

/** A packet in the door's list.  @return false: there is none */
static bool answer_packet(epshm_node_module_t *module, const epshm_node_word_t *place)
{
    const epshm_neighbour_t *neighbour = place->neighbour;
    uint64_t how = EPSHM_PIPE_LEFT;
    epshm_pipe_envelope_t envelope;
    epshm_packet_t *packet = epshm_packet_open(neighbour->base, neighbour->size, neighbour->used,
                                               place->offset, &envelope);

    if (NULL == packet) {
        return false;
    }
    if (OPAL_LIKELY(module->addressee == packet->addressee)) {
        how = take_packet(module, place, packet, &envelope);
    } else if (!is_for_earlier(module, packet->addressee)) {
        corrupt(module, place, packet->sender, packet->door);
        how = EPSHM_PIPE_REFUSED;
    }
    epshm_packet_detach(packet, how);
    return true;
}

/** Find all elements of a list.
 * @return their number, in module->words; -1: it leads nowhere, or there is no memory */
static int find_words(epshm_node_module_t *module, uint64_t word)
{
    uint32_t count = 0;

    for (; 0 != word; ++count) {
        const uint64_t lines = word & ((UINT64_C(1) << EPSHM_DOOR_OFFSET_BITS) - 1);
        _Atomic uint64_t *link;

        if (count == module->words_capacity) {
            const uint32_t capacity = 2 * count;
            epshm_node_word_t *grown = NODE_WORDS_MOST < count
                                           ? NULL
                                           : realloc(module->words, capacity * sizeof(*grown));

            if (NULL == grown) {
                return -1;
            }
            module->words = grown;
            module->words_capacity = capacity;
        }
        module->words[count] = (epshm_node_word_t){
            .neighbour = neighbour_of(module, (opal_vpid_t) (word >> EPSHM_DOOR_OFFSET_BITS) - 1),
            .offset = lines * EPSHM_PIPE_LINE};
        link = find_link(&module->words[count]);
        if (NULL == link) {
            return -1;
        }
        word = epshm_word_follow(link);
        if (EPSHM_WORD_SEEN == word) {
            return -1; /* the list leads back into itself */
        }
    }
    return (int) count;
}

/** Take what is in the door, in the order in which it came there.  @return number of packets */
static __attribute__((noinline)) int answer_door(epshm_node_module_t *module)
{
    int count, packets = 0;
    bool sound = true;

    if (OPAL_UNLIKELY(module->broken)) {
        return 0; /* that is what is written there */
    }
    count = find_words(module, epshm_door_take(module->door, 0));
    for (int i = count - 1; 0 <= i && sound && !module->broken; --i) {
        if (answer_packet(module, &module->words[i])) {
            ++packets;
        } else {
            sound = answer_pipe(module, &module->words[i]);
        }
    }
    if (OPAL_UNLIKELY(0 > count || !sound)) {
        /* What was pushed before it cannot be found any more either.  Relaxed: a counter. */
        atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1, memory_order_relaxed);
        mca_btl_epshm_node_break_door(module);
    }
    return packets;
}

/** Leave what is in the door of a module that goes. */
static void leave_door(epshm_node_module_t *module)
{
    int count;

    epshm_door_leave(module->door);
    count = find_words(module, epshm_door_take(module->door, EPSHM_DOOR_LEFT));
    for (int i = count - 1; 0 <= i; --i) {
        const epshm_neighbour_t *neighbour = module->words[i].neighbour;
        const uint64_t offset = module->words[i].offset;
        epshm_pipe_envelope_t envelope;
        epshm_pipe_in_t pipe;
        epshm_packet_t *packet = epshm_packet_open(neighbour->base, neighbour->size,
                                                   neighbour->used, offset, &envelope);

        if (NULL != packet) {
            epshm_packet_detach(packet, EPSHM_PIPE_LEFT);
        } else if (epshm_pipe_open(&pipe, neighbour->base, neighbour->size, neighbour->used,
                                   offset)) {
            epshm_pipe_detach(pipe.pipe);
        }
    }
}

void mca_btl_epshm_node_leave(epshm_node_module_t *module)
{
    if (!module->broken) {
        leave_door(module);
    }
    while (0 < module->in_count) {
        leave_pipe(module, module->in_count - 1);
    }
}
