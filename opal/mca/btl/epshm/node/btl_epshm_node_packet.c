/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Packets: messages to peers without pipes.  A module takes each from its process's segment, pushes
 * it into the receiver's doorbell, and has it back when it has been read.  So their memory grows with
 * the messages on their way, of which it has a bounded number of bytes (btl_epshm_packet_bytes).
 *
 * A receiver that does not look keeps back a few packets only, and never those of others: beyond
 * the bound there is still one small packet for each peer that has none on its way.
 *
 * Tests: unit/test_epshm_packets, unit/test_epshm_short, random_traffic (few, tight)
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/proc.h"

/** Packets on their way to one peer. */
#define NODE_PACKETS 8

/** The class of packets that all which has to be sent fits in; see EPSHM_PIPE_INLINE_MAX. */
#define NODE_SMALL_CLASS 3
_Static_assert((EPSHM_PACKET_LEAST << NODE_SMALL_CLASS) >= EPSHM_PIPE_INLINE_MAX,
               "what fits in cells must fit in a packet");

/** Packets that are looked at, whether they have been read, for each that is sent, and when one is
 * missing. */
#define NODE_RECLAIM 2
#define NODE_RECLAIM_SHORT 32

static inline unsigned int class_for(size_t size)
{
    return EPSHM_PACKET_LEAST >= size
               ? 0
               : (unsigned int) (58 - __builtin_clzll((unsigned long long) size - 1));
}

static inline unsigned int class_of(const epshm_node_packet_t *packet)
{
    return packet->memory.block.kind - EPSHM_BLOCK_PACKET;
}

static inline uint64_t bytes_of(unsigned int class)
{
    return sizeof(epshm_packet_t) + ((uint64_t) EPSHM_PACKET_LEAST << class);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/** The segment may have what is not on its way. */
static void spares_free(epshm_node_module_t *module)
{
    for (unsigned int class = 0; class < EPSHM_PACKET_CLASSES; ++class) {
        while (NULL != module->spare[class]) {
            epshm_node_packet_t *packet = module->spare[class];

            module->spare[class] = packet->next;
            module->packet_bytes -= packet->memory.block.size;
            mca_btl_epshm_segment_put(&packet->memory.block);
            free(packet);
        }
    }
}

/** @param[in] anyhow  the bound does not count, and it may be of the segment's last eighth */
static epshm_node_packet_t *packet_new(epshm_node_module_t *module, unsigned int class, bool anyhow)
{
    epshm_node_packet_t *packet;

    if (!anyhow && module->packet_bytes + bytes_of(class) > mca_btl_epshm_component.packet_bytes) {
        spares_free(module);
        if (module->packet_bytes + bytes_of(class) > mca_btl_epshm_component.packet_bytes) {
            return NULL;
        }
    }
    packet = calloc(1, sizeof(*packet));
    if (NULL == packet) {
        return NULL;
    }
    if (!mca_btl_epshm_segment_get(EPSHM_BLOCK_PACKET + class, bytes_of(class), anyhow ? 0 : 1,
                                   &packet->memory.block)) {
        free(packet);
        return NULL;
    }
    module->packet_bytes += packet->memory.block.size;
    packet->packet = (epshm_packet_t *) packet->memory.block.memory;
    packet->packet->magic = EPSHM_PACKET_MAGIC;
    packet->packet->sender = module->addressee;
    packet->packet->doorbell = module->doorbell_block.offset;
    packet->memory.detached = &packet->packet->detached;
    return packet;
}

static epshm_node_packet_t *packet_have(epshm_node_module_t *module, unsigned int class)
{
    epshm_node_packet_t *packet = module->spare[class];

    if (OPAL_LIKELY(NULL != packet)) {
        module->spare[class] = packet->next;
        return packet;
    }
    return packet_new(module, class, false);
}

/** One that holds all which has to be sent.  The last eighth of a segment is used by these alone, so
 * that any of them that is free will do. */
static epshm_node_packet_t *packet_have_anyhow(epshm_node_module_t *module)
{
    epshm_node_packet_t *packet = packet_have(module, NODE_SMALL_CLASS);

    return NULL != packet ? packet : packet_new(module, NODE_SMALL_CLASS, true);
}

void mca_btl_epshm_node_packet_put(epshm_node_module_t *module, epshm_node_packet_t *packet)
{
    const unsigned int class = class_of(packet);

    packet->next = module->spare[class];
    module->spare[class] = packet;
    if (OPAL_UNLIKELY(module->packet_bytes > mca_btl_epshm_component.packet_bytes
                      || mca_btl_epshm_segment_is_short())) {
        spares_free(module); /* others may have none */
    }
}

size_t mca_btl_epshm_node_packet_most(epshm_node_module_t *module, size_t size)
{
    unsigned int class = class_for(size);

    class = EPSHM_PACKET_CLASSES > class ? class : EPSHM_PACKET_CLASSES - 1;
    for (; NODE_SMALL_CLASS < class; --class) {
        const size_t room = (size_t) EPSHM_PACKET_LEAST << class;
        epshm_node_packet_t *packet = packet_have(module, class);

        if (NULL != packet) {
            packet->next = module->spare[class]; /* for the next call */
            module->spare[class] = packet;
            return room < size ? room : size;
        }
    }
    return EPSHM_PIPE_INLINE_MAX;
}

/* ---- packets on their way -------------------------------------------------------------------- */

static void sent_append(epshm_node_module_t *module, epshm_node_packet_t *packet)
{
    packet->next = NULL;
    if (NULL == module->sent) {
        module->sent = packet;
    } else {
        module->sent_last->next = packet;
    }
    module->sent_last = packet;
    ++module->sent_count;
}

static epshm_node_packet_t *sent_take(epshm_node_module_t *module)
{
    epshm_node_packet_t *packet = module->sent;

    module->sent = packet->next;
    --module->sent_count;
    return packet;
}

void mca_btl_epshm_node_packets_reclaim(epshm_node_module_t *module, uint32_t most)
{
    for (uint32_t i = module->sent_count < most ? module->sent_count : most; 0 < i; --i) {
        epshm_node_packet_t *packet = sent_take(module);
        epshm_node_peer_t *peer = packet->peer;
        const uint64_t state = epshm_packet_state(packet->packet);

        if (0 == state) {
            sent_append(module, packet); /* one that is not read keeps back none behind it */
            continue;
        }
        --peer->packets;
        mca_btl_epshm_node_packet_put(module, packet);
        if (OPAL_UNLIKELY(EPSHM_PIPE_LEFT < state)) {
            peer->refused = true;
            mca_btl_epshm_node_lose(peer, "given up");
        }
    }
    if (OPAL_UNLIKELY(mca_btl_epshm_segment_is_short())) {
        spares_free(module);
    }
}

void mca_btl_epshm_node_packets_retire(epshm_node_module_t *module, const epshm_node_peer_t *peer)
{
    for (uint32_t i = module->sent_count; 0 < i; --i) {
        epshm_node_packet_t *packet = sent_take(module);

        if (NULL == peer || peer == packet->peer) {
            module->packet_bytes -= packet->memory.block.size;
            mca_btl_epshm_segment_retire(&packet->memory);
        } else {
            sent_append(module, packet);
        }
    }
    if (NULL == peer) {
        spares_free(module);
    }
}

int mca_btl_epshm_node_packet_get(epshm_node_peer_t *peer, size_t size,
                                  epshm_node_packet_t **packet_p)
{
    epshm_node_module_t *module = (epshm_node_module_t *) peer->module;
    const unsigned int class = class_for(size);
    epshm_node_packet_t *packet;

    mca_btl_epshm_node_packets_reclaim(module, NODE_RECLAIM);
    if (OPAL_UNLIKELY(peer->gone)) {
        return OPAL_ERR_UNREACH;
    }
    if (OPAL_UNLIKELY(NODE_PACKETS <= peer->packets)) {
        mca_btl_epshm_node_packets_reclaim(module, NODE_RECLAIM_SHORT);
        if (NODE_PACKETS <= peer->packets) {
            return mca_btl_epshm_node_full(peer, EPSHM_PIPE_NOTHING);
        }
    }
    if (OPAL_UNLIKELY(EPSHM_PACKET_CLASSES <= class)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    packet = packet_have(module, class);
    if (OPAL_UNLIKELY(NULL == packet)) {
        mca_btl_epshm_node_packets_reclaim(module, NODE_RECLAIM_SHORT);
        packet = packet_have(module, class);
        if (NULL == packet && NODE_SMALL_CLASS >= class && 0 == peer->packets) {
            packet = packet_have_anyhow(module);
        }
    }
    if (OPAL_UNLIKELY(NULL == packet)) {
        return NODE_SMALL_CLASS < class ? OPAL_ERR_NOT_AVAILABLE
                                        : mca_btl_epshm_node_full(peer, EPSHM_PIPE_NOTHING);
    }
    *packet_p = packet;
    return OPAL_SUCCESS;
}

int mca_btl_epshm_node_packet_push(epshm_node_packet_t *packet, epshm_node_peer_t *peer,
                                   uint8_t kind, mca_btl_base_tag_t tag, size_t size)
{
    const uint64_t word = peer->own_word | packet->memory.block.offset / EPSHM_PIPE_LINE;
    epshm_node_module_t *module = (epshm_node_module_t *) peer->module;

    uint64_t rc;

    packet->packet->addressee = peer->addressee;
    epshm_packet_set(packet->packet, kind, tag, size);
    rc = epshm_doorbell_push(peer->doorbell, &packet->packet->next, word);
    if (OPAL_UNLIKELY(0 != rc)) {
        mca_btl_epshm_node_packet_put(module, packet);
        if (EPSHM_DOORBELL_LEFT == rc) {
            return OPAL_SUCCESS; /* as in a pipe that is not read any more */
        }
        (void) mca_btl_epshm_node_full(peer, EPSHM_PIPE_NOTHING); /* it is lost */
        return OPAL_ERR_UNREACH;
    }
    packet->peer = peer;
    packet->memory.peer_proc = peer->peer_proc;
    ++peer->packets;
    ++peer->due;
    sent_append(module, packet);
    return OPAL_SUCCESS;
}

void mca_btl_epshm_node_packet_notify(epshm_node_peer_t *peer, uint8_t kind)
{
    epshm_node_module_t *module = (epshm_node_module_t *) peer->module;
    epshm_node_packet_t *packet = packet_have_anyhow(module);

    if (NULL != packet) {
        (void) mca_btl_epshm_node_packet_push(packet, peer, kind, MCA_BTL_EP_TAG, 0);
    }
}
