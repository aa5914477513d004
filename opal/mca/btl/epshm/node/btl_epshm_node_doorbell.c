/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What other processes of the node push into a module's doorbell: packets, which are messages, and pipes
 * that are announced.
 *
 * Tests: unit/test_epshm_node, unit/test_epshm_packets, corrupt
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

/** Elements of a doorbell's list at a time: more than there can be. */
#define NODE_ELEMENTS_MOST (1 << 20)

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

/** A process by its number.  NULL: none that is mapped. */
static epshm_peer_proc_t *peer_proc_of(epshm_node_module_t *module, uint32_t number)
{
    epshm_peer_proc_t **known = &module->known[number % EPSHM_NODE_KNOWN];

    if (OPAL_UNLIKELY(NULL == *known || number != (*known)->number)) {
        /* It has been mapped: a process sends only after it has seen this address. */
        epshm_peer_proc_t *found = mca_btl_epshm_peer_proc_of(number);

        if (NULL == found) {
            return NULL;
        }
        *known = found;
    }
    return *known;
}

/** @return false: there is no pipe */
static bool element_open_pipe(const epshm_node_element_t *element, epshm_pipe_in_t *pipe)
{
    const epshm_peer_proc_t *peer_proc = element->peer_proc;

    return epshm_pipe_open(pipe, peer_proc->base, peer_proc->size, peer_proc->used,
                           element->offset);
}

/** Open the element that a word of the doorbell's list leads to.
 * @return its link, or NULL: nonsense */
static _Atomic uint64_t *element_open(epshm_node_module_t *module, uint64_t word,
                                      epshm_node_element_t *element)
{
    const uint64_t lines = word & ((UINT64_C(1) << EPSHM_DOORBELL_OFFSET_BITS) - 1);
    const uint64_t offset = lines * EPSHM_PIPE_LINE;
    epshm_peer_proc_t *peer_proc
        = peer_proc_of(module, (uint32_t) (word >> EPSHM_DOORBELL_OFFSET_BITS) - 1);
    epshm_pipe_in_t pipe;

    if (NULL == peer_proc) {
        return NULL;
    }
    element->peer_proc = peer_proc;
    element->packet = epshm_packet_open(peer_proc->base, peer_proc->size, peer_proc->used, offset,
                                        &element->envelope);
    if (NULL != element->packet) {
        return &element->packet->next;
    }
    element->offset = offset;
    return element_open_pipe(element, &pipe) ? &pipe.pipe->next : NULL;
}

/** Has the pipe been taken in before?  Then a producer's list of announcements leads back into
 * itself. */
static bool is_known(const epshm_node_module_t *module, const epshm_pipe_t *pipe)
{
    for (uint32_t i = 0; i < module->in_count; ++i) {
        if (pipe == module->in[i].pipe.pipe) {
            return true;
        }
    }
    return epshm_pipe_is_detached(pipe);
}

/** Is a message for an earlier owner of this doorbell?  Numbers are given out in sequence. */
static inline bool is_for_earlier(const epshm_node_module_t *module, uint64_t addressee)
{
    return module->addressee - addressee < UINT32_MAX;
}

/** A pipe, or a packet, for a module that has not had this doorbell, or one that makes no sense. */
static void node_doorbell_corrupt(epshm_node_module_t *module, epshm_peer_proc_t *peer_proc,
                                  uint64_t sender, uint64_t doorbell)
{
    /* Relaxed: a counter. */
    atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1, memory_order_relaxed);
    mca_btl_epshm_node_lose_sender(module, peer_proc, sender, doorbell, true, "pipe corrupt");
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

/** A pipe in the doorbell's list.  @return false: it is known, or there is none any more */
static bool answer_pipe(epshm_node_module_t *module, const epshm_node_element_t *element)
{
    epshm_node_in_t in = {.peer_proc = element->peer_proc};
    const epshm_pipe_t *pipe;

    if (!element_open_pipe(element, &in.pipe) || is_known(module, in.pipe.pipe)) {
        return false;
    }
    /* For each that comes two that may go: or they would become ever more where peers come and go
     * in few calls. */
    mca_btl_epshm_node_check_in(module);
    mca_btl_epshm_node_check_in(module);
    pipe = in.pipe.pipe;
    in.sender = pipe->sender;
    in.doorbell = pipe->doorbell;
    if (module->addressee == pipe->addressee) {
        take_in(module, &in);
    } else if (is_for_earlier(module, pipe->addressee)) {
        epshm_pipe_detach(in.pipe.pipe);
    } else {
        epshm_pipe_refuse(in.pipe.pipe);
        node_doorbell_corrupt(module, in.peer_proc, in.sender, in.doorbell);
    }
    return true;
}

/** A message for this module.  @return EPSHM_PIPE_LEFT: it has been taken; EPSHM_PIPE_REFUSED */
static uint64_t take_packet(epshm_node_module_t *module, const epshm_node_element_t *element)
{
    const epshm_pipe_envelope_t *envelope = &element->envelope;
    epshm_packet_t *packet = element->packet;
    const uint64_t sender = packet->sender, doorbell = packet->doorbell;
    const epshm_node_refused_t *refused = mca_btl_epshm_node_has_refused(module, sender);

    if (OPAL_UNLIKELY(NULL != refused && refused->corrupt)) {
        return EPSHM_PIPE_REFUSED;
    }
    switch (envelope->kind) {
    case EPSHM_PACKET_MESSAGE:
        if (OPAL_UNLIKELY(MCA_BTL_EP_TAG != envelope->tag)) {
            break;
        }
        mca_btl_epshm_node_deliver(module, epshm_packet_data(packet), envelope->size,
                                   envelope->tag);
        if (OPAL_UNLIKELY(module->super.ep_nonsense)) {
            module->super.ep_nonsense = false;
            break;
        }
        /* Of one that has been given up it is the last that is read. */
        return OPAL_LIKELY(NULL == refused) ? EPSHM_PIPE_LEFT : EPSHM_PIPE_REFUSED;
    case EPSHM_PACKET_GIVE_UP:
        if (NULL == refused) {
            mca_btl_epshm_node_lose_sender(module, element->peer_proc, sender, doorbell, false,
                                           "given up");
        }
        return EPSHM_PIPE_REFUSED;
    case EPSHM_PACKET_ASK:
        return NULL == refused ? EPSHM_PIPE_LEFT : EPSHM_PIPE_REFUSED;
    default:
        break;
    }
    node_doorbell_corrupt(module, element->peer_proc, sender, doorbell);
    return EPSHM_PIPE_REFUSED;
}

/** A packet in the doorbell's list. */
static void answer_packet(epshm_node_module_t *module, const epshm_node_element_t *element)
{
    epshm_packet_t *packet = element->packet;
    uint64_t how = EPSHM_PIPE_LEFT;

    if (OPAL_LIKELY(module->addressee == packet->addressee)) {
        how = take_packet(module, element);
    } else if (!is_for_earlier(module, packet->addressee)) {
        node_doorbell_corrupt(module, element->peer_proc, packet->sender, packet->doorbell);
        how = EPSHM_PIPE_REFUSED;
    }
    epshm_packet_detach(packet, how);
}

static bool found_grow(epshm_node_module_t *module)
{
    const uint32_t capacity = 2 * module->found_capacity;
    epshm_node_element_t *grown = realloc(module->found, capacity * sizeof(*grown));

    if (NULL == grown) {
        return false;
    }
    module->found = grown;
    module->found_capacity = capacity;
    return true;
}

/** Find the elements of the list that has been taken out of the doorbell.
 * @return OPAL_SUCCESS: all are in module->found; OPAL_ERR_OUT_OF_RESOURCE: some are, it goes on
 *         from there; OPAL_ERROR: the list leads nowhere, or back into itself */
static int find_elements(epshm_node_module_t *module)
{
    while (0 != module->rest) {
        _Atomic uint64_t *link;

        if (NODE_ELEMENTS_MOST < module->found_count) {
            return OPAL_ERROR;
        }
        if (module->found_count == module->found_capacity && !found_grow(module)) {
            return OPAL_ERR_OUT_OF_RESOURCE;
        }
        link = element_open(module, module->rest, &module->found[module->found_count]);
        if (NULL == link) {
            return OPAL_ERROR;
        }
        module->rest = epshm_word_follow(link);
        if (EPSHM_WORD_SEEN == module->rest) {
            return OPAL_ERROR;
        }
        ++module->found_count;
    }
    return OPAL_SUCCESS;
}

int mca_btl_epshm_node_answer_doorbell(epshm_node_module_t *module)
{
    bool sound;
    int packets = 0, rc;

    if (OPAL_UNLIKELY(module->broken)) {
        return 0; /* that is what is written there */
    }
    if (OPAL_LIKELY(0 == module->rest)) {
        module->rest = epshm_doorbell_take(module->doorbell, 0);
    }
    rc = find_elements(module);
    if (OPAL_UNLIKELY(OPAL_ERR_OUT_OF_RESOURCE == rc)) {
        return 0; /* those not found yet come first, see mca_btl_epshm_node_progress */
    }
    sound = OPAL_SUCCESS == rc;
    for (uint32_t i = module->found_count; 0 < i-- && sound && !module->broken;) {
        const epshm_node_element_t *element = &module->found[i];

        if (NULL != element->packet) {
            answer_packet(module, element);
            ++packets;
        } else {
            sound = answer_pipe(module, element);
        }
    }
    module->found_count = 0;
    if (OPAL_UNLIKELY(!sound)) {
        /* What was pushed before it cannot be found any more either.  Relaxed: a counter. */
        atomic_fetch_add_explicit(&mca_btl_epshm_component.pipes_broken, 1, memory_order_relaxed);
        mca_btl_epshm_node_break_doorbell(module);
    }
    return packets;
}

static void element_leave(const epshm_node_element_t *element)
{
    epshm_pipe_in_t pipe;

    if (NULL != element->packet) {
        epshm_packet_detach(element->packet, EPSHM_PIPE_LEFT);
    } else if (element_open_pipe(element, &pipe)) {
        epshm_pipe_detach(pipe.pipe);
    }
}

/** Leave the elements of a list that has been taken, as far as it leads somewhere. */
static void list_leave(epshm_node_module_t *module, uint64_t word)
{
    for (uint32_t i = 0; NODE_ELEMENTS_MOST > i && 0 != word && EPSHM_WORD_SEEN != word; ++i) {
        epshm_node_element_t element;
        _Atomic uint64_t *link = element_open(module, word, &element);

        if (NULL == link) {
            return;
        }
        word = epshm_word_follow(link);
        element_leave(&element);
    }
}

void mca_btl_epshm_node_leave_doorbell(epshm_node_module_t *module)
{
    epshm_doorbell_leave(module->doorbell);
    while (0 < module->found_count) {
        element_leave(&module->found[--module->found_count]);
    }
    list_leave(module, module->rest);
    list_leave(module, epshm_doorbell_take(module->doorbell, EPSHM_DOORBELL_LEFT));
}
