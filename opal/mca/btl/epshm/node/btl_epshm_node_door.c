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
 * What other processes of the node push into a module's door: packets, which are messages, and pipes
 * that are announced.
 *
 * Tests: unit/test_epshm_node, unit/test_epshm_packets, corrupt
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

/** Elements of a door's list at a time: more than there can be. */
#define NODE_WORDS_MOST (1 << 20)

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
    mca_btl_epshm_node_check_in(module);
    mca_btl_epshm_node_check_in(module);
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
        mca_btl_epshm_node_deliver(module, epshm_packet_data(packet), envelope->size, envelope->tag);
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

int mca_btl_epshm_node_answer_door(epshm_node_module_t *module)
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

void mca_btl_epshm_node_leave_door(epshm_node_module_t *module)
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
