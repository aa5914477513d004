/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Packets: several messages to one peer in one send, with one wire header and one number.
 *
 * Over tcp each send is a system call, 25 times as long as all else that a small message takes.  So
 * when others are under way to the same peer, of which the provider has not said that they have
 * gone, a message waits in a packet, until
 *
 *   - the packet is full, or something follows that does not go into one (in order);
 *   - the thread waits or tests in MPI, or another thread progresses the module: at the
 *     beginning and at the end of a progress;
 *   - none of this happens: then the packet thread sends it (btl_epofi_packet_thread.c), as MPI has said of a
 *     small message that it is sent, and its thread may compute for long, or never come back.
 *
 * When the wire is idle no message waits.  A peer that is sent little at a time is left alone: if
 * the packet thread finds packets with little in them, more and more messages go by themselves.
 *
 * A packet has the number that was the next one when it began, so whatever else is sent to the peer
 * has to send it first.  It counts as an operation under way from then on.
 *
 * What the packet thread touches is under the module's packet_lock (btl_epofi_packet_lock.h).  Called by
 * the module's owner, but for mca_btl_epofi_packets_collect.
 *
 * Tests: unit/test_epofi_packet, unit/test_epofi_packet_thread, cut (packet), progress,
 * random_traffic (narrow_busy)
 */

#include "opal_config.h"

#include "../peer/peer.h"
#include "../object/object.h"
#include "../base/base.h"
#include "btl_epofi_packet.h"
#include "btl_epofi_packet_thread.h"
#include "btl_epofi_send.h"
#include <string.h>

/** Operations under way with which a message does not go by itself any more: so few messages at a
 * time never wait.  Fewer for a peer that has been sent many at a time. */
#define PACK_AFTER 2
#define PACK_AFTER_STREAMING 1

/** A packet of so many messages was worth it. */
#define WORTH 4

/** When the packet thread has found one that was not, so many messages go by themselves, ... */
#define DIRECT_FIRST 16
/** ... twice as many each time, up to so many. */
#define DIRECT_MOST 1024

/** A packet that was refused is tried again at the packet thread's second, fourth, ... look, and
 * from then on at every one of so many. */
#define RETRY_LOOKS 64

void mca_btl_epofi_packets_init(mca_btl_epofi_module_t *module)
{
    /* Relaxed: no other thread has it yet. */
    atomic_flag_clear_explicit(&module->packet_lock, memory_order_relaxed);
    module->packets.next = &module->packets;
    module->packets.previous = &module->packets;
    module->packet_size = 0;
    if (module->fabric->packs) {
        module->packet_size = mca_btl_epofi_component.packet_size;
        if (module->packet_size > module->eager_pool.size) {
            module->packet_size = module->eager_pool.size;
        }
    }
}

void mca_btl_epofi_packet_init(struct mca_btl_base_endpoint_t *endpoint)
{
    endpoint->pack_after = 0 < endpoint->module->packet_size ? PACK_AFTER : UINT32_MAX;
    endpoint->direct_next = DIRECT_FIRST;
}

/** Enter into the ring, as the last one.  Under the lock, as all up to post. */
static void link_in(mca_btl_epofi_module_t *module, mca_btl_epofi_packet_t *packet)
{
    mca_btl_epofi_packet_t *head = &module->packets;

    packet->next = head;
    packet->previous = head->previous;
    head->previous->next = packet;
    head->previous = packet;
}

static void take_out(mca_btl_epofi_packet_t *packet)
{
    packet->next->previous = packet->previous;
    packet->previous->next = packet->next;
}

/** There is one more, or one less.  Relaxed: a hint, which the lock or the packet thread's fence
 * makes good. */
static void count_in(mca_btl_epofi_module_t *module)
{
    atomic_fetch_add_explicit(&module->packet_count, 1, memory_order_relaxed);
}

static void count_out(mca_btl_epofi_module_t *module)
{
    atomic_fetch_sub_explicit(&module->packet_count, 1, memory_order_relaxed);
}

/** Put a message behind the others; there is room. */
static inline void packet_append(mca_btl_epofi_packet_t *packet, const void *header,
                                 size_t header_size, const void *payload, size_t payload_size,
                                 mca_btl_base_tag_t tag)
{
    unsigned char *place = packet->frag->buffer + sizeof(mca_btl_epofi_wire_t) + packet->used;
    const mca_btl_epofi_part_t part = {.length = (uint32_t) (header_size + payload_size),
                                       .tag = tag};
    const size_t size = mca_btl_epofi_part_size(part.length);

    memset(place + size - 8, 0, 8); /* the padding carries no old data */
    memcpy(place, &part, sizeof(part));
    memcpy(place + sizeof(part), header, header_size);
    if (0 < payload_size) {
        memcpy(place + sizeof(part) + header_size, payload, payload_size);
    }
    packet->used += (uint32_t) size;
    packet->bytes += part.length;
    ++packet->count;
}

/** Give the packet to the provider.  Once it has it, the owner may see its completion, and with it
 * the end of the endpoint: so nothing of it is touched any more.  One that is refused has been
 * counted all the time: else the packet thread might think that there is none, and go to sleep.
 * @return libfabric's */
static ssize_t packet_post(mca_btl_epofi_module_t *module, mca_btl_epofi_packet_t *packet)
{
    const struct mca_btl_base_endpoint_t *endpoint = EPOFI_CONTAINER(packet,
                                                                     struct mca_btl_base_endpoint_t,
                                                                     packet);
    mca_btl_epofi_frag_t *frag = packet->frag;
    const uint32_t length = packet->used;
    ssize_t result;

    memcpy(frag->buffer + offsetof(mca_btl_epofi_wire_t, length), &length, sizeof(length));
    take_out(packet);
    packet->frag = NULL;
    result = fi_send(module->fi.ep, frag->buffer, sizeof(mca_btl_epofi_wire_t) + length, frag->desc,
                     endpoint->address, &frag->op.context);
    if (OPAL_LIKELY(0 == result)) {
        count_out(module);
    } else {
        packet->frag = frag;
        link_in(module, packet); /* behind the others */
    }
    return result;
}

/** The owner sees that the packet has gone.  No other thread uses its contents any more.
 * @param[in] late  by the packet thread */
static void packet_closed(struct mca_btl_base_endpoint_t *endpoint, bool late)
{
    const bool worth = WORTH <= endpoint->packet.count;

    endpoint->pair->packed += endpoint->packet.count - 1;
    endpoint->pair->sent_bytes += endpoint->packet.bytes;
    endpoint->packing = false;
    endpoint->pack_after = worth ? PACK_AFTER_STREAMING : PACK_AFTER;
    if (worth) {
        endpoint->direct = late ? 1 : 0; /* by now the wire is idle */
        endpoint->direct_next = DIRECT_FIRST;
    } else if (late) {
        endpoint->direct = endpoint->direct_next;
        endpoint->direct_next = DIRECT_MOST / 2 < endpoint->direct_next ? DIRECT_MOST
                                                                        : 2 * endpoint->direct_next;
    }
}

int mca_btl_epofi_packet_close(mca_btl_epofi_module_t *module,
                               struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_epofi_packet_t *packet = &endpoint->packet;
    ssize_t result = 0;
    bool late;

    mca_btl_epofi_packets_hold(module);
    late = NULL == packet->frag;
    if (!late) {
        result = packet_post(module, packet);
    }
    mca_btl_epofi_packets_release(module);
    if (OPAL_UNLIKELY(0 != result)) {
        module->send_refused = true;
        return mca_btl_epofi_endpoint_refused(endpoint, result);
    }
    endpoint->stalled_ns = 0;
    packet_closed(endpoint, late);
    return OPAL_SUCCESS;
}

/** The peer is lost, and what was for it with it. */
static void drop_packet(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint)
{
    mca_btl_epofi_frag_t *frag;

    mca_btl_epofi_packets_hold(module);
    frag = endpoint->packet.frag;
    if (NULL != frag) {
        take_out(&endpoint->packet);
        endpoint->packet.frag = NULL;
        count_out(module);
    }
    mca_btl_epofi_packets_release(module);
    packet_closed(endpoint, false);
    if (NULL != frag) {
        mca_btl_epofi_frag_put(frag);
        mca_btl_epofi_op_ended(module, endpoint);
    }
}

void mca_btl_epofi_packets_send(mca_btl_epofi_module_t *module)
{
    /* Each once: those that are refused go behind. */
    for (uint32_t left = atomic_load_explicit(&module->packet_count, memory_order_relaxed);
         0 < left; --left) {
        mca_btl_epofi_packet_t *packet;
        struct mca_btl_base_endpoint_t *endpoint;

        mca_btl_epofi_packets_hold(module);
        packet = module->packets.next;
        mca_btl_epofi_packets_release(module);
        if (&module->packets == packet) {
            return; /* the packet thread was here */
        }
        /* It has an operation under way that only our own progress ends: it stays. */
        endpoint = EPOFI_CONTAINER(packet, struct mca_btl_base_endpoint_t, packet);
        if (OPAL_UNLIKELY(endpoint->failed)) {
            drop_packet(module, endpoint);
        } else {
            (void) mca_btl_epofi_packet_close(module, endpoint);
        }
    }
}

bool mca_btl_epofi_packets_collect(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_packet_t *packet;

    if (0 == atomic_load_explicit(&module->packet_count, memory_order_relaxed)) {
        return false;
    }
    if (!mca_btl_epofi_packets_try(module)) {
        return true; /* its owner is at it */
    }
    packet = module->packets.next;
    for (uint32_t left = atomic_load_explicit(&module->packet_count, memory_order_relaxed);
         0 < left; --left) {
        mca_btl_epofi_packet_t *next = packet->next;
        const uint32_t age = packet->age++;

        /* Not at the first look: it may be filled yet. */
        if (0 < age && (0 == (age & (age - 1)) || 0 == age % RETRY_LOOKS)) {
            (void) packet_post(module, packet);
        }
        packet = next;
    }
    mca_btl_epofi_packets_release(module);
    return true;
}

void mca_btl_epofi_packets_count(const mca_btl_epofi_module_t *module, mca_btl_ep_counts_t *counts)
{
    mca_btl_epofi_module_t *shared = (mca_btl_epofi_module_t *) module;
    const struct mca_btl_base_endpoint_t *endpoint;

    mca_btl_epofi_packets_hold(shared);
    for (endpoint = module->endpoint_list; NULL != endpoint; endpoint = endpoint->next) {
        if (endpoint->packing) {
            counts->messages += endpoint->packet.count - 1;
            counts->bytes += endpoint->packet.bytes;
        }
    }
    mca_btl_epofi_packets_release(shared);
}

/** Begin a packet with this message.  Returns as mca_btl_epofi_pack. */
static int packet_begin(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                        const void *header, size_t header_size, const void *payload,
                        size_t payload_size, mca_btl_base_tag_t tag)
{
    mca_btl_epofi_packet_t *packet = &endpoint->packet;
    mca_btl_epofi_frag_t *frag;

    if (OPAL_UNLIKELY(!module->posted)) {
        if (!mca_btl_epofi_packet_thread_take()) {
            module->packet_size = 0; /* and so for good */
            return OPAL_ERR_NOT_AVAILABLE;
        }
        module->posted = true;
    }
    frag = mca_btl_epofi_frag_get(module, module->packet_size);
    if (OPAL_UNLIKELY(NULL == frag)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    frag->endpoint = endpoint;
    frag->op.complete = mca_btl_epofi_frag_complete;
    mca_btl_epofi_wire_init(endpoint->pair, frag->buffer, EPOFI_TAG_PACKET, 0);
    mca_btl_epofi_pair_sent(endpoint->pair);
    ++module->inflight;
    ++endpoint->inflight;
    endpoint->packing = true;
    endpoint->pack_after = 0;
    mca_btl_epofi_packets_hold(module);
    packet->frag = frag;
    packet->used = 0;
    packet->bytes = 0;
    packet->count = 0;
    packet->age = 0;
    packet_append(packet, header, header_size, payload, payload_size, tag);
    link_in(module, packet);
    count_in(module);
    mca_btl_epofi_packets_release(module);
    mca_btl_epofi_packet_thread_tell(module);
    return OPAL_SUCCESS;
}

int mca_btl_epofi_pack(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                       const void *header, size_t header_size, const void *payload,
                       size_t payload_size, mca_btl_base_tag_t tag)
{
    const size_t room = mca_btl_epofi_part_size(header_size + payload_size);
    const bool fits = room <= module->packet_size / 2;
    mca_btl_epofi_packet_t *packet = &endpoint->packet;
    bool added = false;
    int rc;

    if (OPAL_LIKELY(endpoint->packing && fits)) {
        mca_btl_epofi_packets_hold(module);
        if (OPAL_LIKELY(NULL != packet->frag && room <= module->packet_size - packet->used)) {
            packet_append(packet, header, header_size, payload, payload_size, tag);
            added = true;
        }
        mca_btl_epofi_packets_release(module);
        if (OPAL_LIKELY(added)) {
            return OPAL_SUCCESS;
        }
    }
    rc = mca_btl_epofi_packet_send(module, endpoint);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    if (!fits) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (0 < endpoint->direct) {
        --endpoint->direct;
        return OPAL_ERR_NOT_AVAILABLE;
    }
    return packet_begin(module, endpoint, header, header_size, payload, payload_size, tag);
}
