/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The ways to other processes' modules.  All slow path.
 *
 * Tests: unit/test_epshm_node, last_words, ways
 */

#include "opal_config.h"

#include "btl_epshm_node.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

/** At each so many sends without room it is looked whether the receiver is still there: a system
 * call. */
#define NODE_FULL_LOOK 4096

_Static_assert(0 == (NODE_FULL_LOOK & (NODE_FULL_LOOK - 1)), "a mask is made of it");

/** Fragments that the area should have room for, so that packing and unpacking overlap. */
#define NODE_FRAGS_UNDER_WAY 4

size_t mca_btl_epshm_node_max_send_size(void)
{
    const mca_btl_epshm_component_t *component = &mca_btl_epshm_component;
    size_t size = component->pipe_bytes / NODE_FRAGS_UNDER_WAY;

    size = size < component->max_send_size ? size : component->max_send_size;
    return size < component->pipe_eager_limit ? component->pipe_eager_limit : size;
}

static int node_peer_attach(const void *blob, size_t length, epshm_node_address_t *address,
                            epshm_peer_proc_t **peer_proc_p)
{
    epshm_peer_proc_t *peer_proc;
    int rc;

    if (!mca_btl_epshm_node_address_read(blob, length, address)) {
        return OPAL_ERR_BAD_PARAM;
    }
    rc = mca_btl_epshm_peer_proc_attach(&address->process, address->stamp, address->size,
                                        &peer_proc);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    /* Relaxed: the doorbell was made before its address was given to a peer. */
    if (peer_proc->size != address->size
        || peer_proc->size < address->doorbell + sizeof(epshm_doorbell_t)
        || atomic_load_explicit(peer_proc->used, memory_order_relaxed)
               < address->doorbell + sizeof(epshm_doorbell_t)) {
        return OPAL_ERR_BAD_PARAM;
    }
    *peer_proc_p = peer_proc;
    return OPAL_SUCCESS;
}

int mca_btl_epshm_node_reach(mca_btl_ep_module_t *module, const void *address, size_t length)
{
    epshm_node_address_t read;
    epshm_peer_proc_t *peer_proc;

    (void) module;
    return node_peer_attach(address, length, &read, &peer_proc);
}

/** Into the module's ring, and out of it. */
static void peer_enter(epshm_node_module_t *module, epshm_node_peer_t *peer)
{
    epshm_node_peer_t *before = module->peers;

    peer->next = NULL != before ? before : peer;
    peer->prev = NULL != before ? before->prev : peer;
    peer->next->prev = peer;
    peer->prev->next = peer;
    module->peers = peer;
}

static void peer_leave(epshm_node_module_t *module, epshm_node_peer_t *peer)
{
    peer->next->prev = peer->prev;
    peer->prev->next = peer->next;
    if (module->peers == peer) {
        module->peers = peer->next != peer ? peer->next : NULL;
    }
}

/** How a process finds this one in a word in its doorbell: all but the offset. */
static uint64_t own_word_for(const epshm_node_module_t *module, const opal_process_name_t *name)
{
    epshm_node_address_t own;

    memcpy(&own, module->super.ep_address, sizeof(own));
    return ((uint64_t) mca_btl_epshm_peer_proc_number(&own.process, own.stamp, name->jobid) + 1)
           << EPSHM_DOORBELL_OFFSET_BITS;
}

int mca_btl_epshm_node_connect(mca_btl_ep_module_t *ep_module, const void *blob, size_t length,
                               struct mca_btl_base_endpoint_t **endpoint_p)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    epshm_node_peer_t *peer = calloc(1, sizeof(*peer));
    epshm_node_address_t address;
    int rc;

    if (NULL == peer) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    rc = node_peer_attach(blob, length, &address, &peer->peer_proc);
    if (OPAL_SUCCESS != rc) {
        free(peer);
        return rc;
    }
    peer->addressee = address.addressee;
    peer->own_word = own_word_for(module, &address.process);
    peer->doorbell = (epshm_doorbell_t *) (peer->peer_proc->base + address.doorbell);
    peer->module = ep_module;
    peer_enter(module, peer);
    *endpoint_p = (struct mca_btl_base_endpoint_t *) peer;
    return OPAL_SUCCESS;
}

/** Add what was sent to a peer. */
static void count_peer(epshm_other_counts_t *sum, const epshm_node_peer_t *peer)
{
    sum->messages += peer->out.tail + peer->other.messages;
    sum->bytes += peer->other.bytes;
}

void mca_btl_epshm_node_count(const mca_btl_ep_module_t *ep_module, mca_btl_ep_counts_t *counts)
{
    const epshm_node_module_t *module = (const epshm_node_module_t *) ep_module;
    const epshm_node_peer_t *peer = module->peers;
    epshm_other_counts_t sum = module->other;

    if (NULL != peer) {
        do {
            count_peer(&sum, peer);
            peer = peer->next;
        } while (module->peers != peer);
    }
    *counts = (mca_btl_ep_counts_t){.messages = sum.messages,
                                    .bytes = EPSHM_SHORT_MESSAGE * sum.messages + sum.bytes};
}

void mca_btl_epshm_node_disconnect(mca_btl_ep_module_t *ep_module,
                                   struct mca_btl_base_endpoint_t *endpoint)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    epshm_node_peer_t *peer = (epshm_node_peer_t *) endpoint;

    count_peer(&module->other, peer);
    peer_leave(module, peer);
    if (NULL != peer->out.pipe) {
        mca_btl_epshm_node_leave_pipe(peer, !peer->lost);
    }
    if (0 < peer->packets) {
        mca_btl_epshm_node_packets_retire(module, peer);
    }
    free(peer);
}

void mca_btl_epshm_node_ask(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                            bool connect)
{
    epshm_node_peer_t *peer = (epshm_node_peer_t *) endpoint;

    (void) connect; /* it takes none */
    mca_btl_epshm_node_packets_reclaim((epshm_node_module_t *) module, UINT32_MAX);
    if (mca_btl_epshm_peer_proc_is_dead(peer->peer_proc)) {
        mca_btl_epshm_node_lose(peer, "process ended");
    } else if (mca_btl_epshm_node_is_refused(peer)) {
        mca_btl_epshm_node_lose(peer, "given up");
    } else if (NULL == peer->out.pipe && 0 == peer->packets && !peer->gone
               && !epshm_doorbell_is_left(peer->doorbell, peer->addressee)) {
        /* There is nothing in which it could say that it has given us up. */
        mca_btl_epshm_node_packet_notify(peer, EPSHM_PACKET_ASK);
    }
}

void mca_btl_epshm_node_abandon(mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    mca_btl_epshm_node_cut((epshm_node_peer_t *) endpoint); /* nothing is ever under way */
}

/** Will the consumer read nothing any more that is sent to it? */
static bool has_left(const epshm_node_peer_t *peer)
{
    return (NULL != peer->out.pipe && epshm_pipe_is_detached(peer->out.pipe))
           || epshm_doorbell_is_left(peer->doorbell, peer->addressee);
}

bool mca_btl_epshm_node_is_left(mca_btl_ep_module_t *module,
                                const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    return has_left((const epshm_node_peer_t *) endpoint);
}

/** The consumer will not read any more. */
static int peer_is_gone(epshm_node_peer_t *peer)
{
    peer->gone = true;
    return OPAL_ERR_UNREACH;
}

int mca_btl_epshm_node_full(epshm_node_peer_t *peer, int why)
{
    if (!peer->lost && mca_btl_epshm_node_is_refused(peer)) {
        mca_btl_epshm_node_lose(peer, "given up");
    }
    if (peer->gone || has_left(peer)) {
        return peer_is_gone(peer);
    }
    if (EPSHM_PIPE_BROKEN == why) {
        mca_btl_epshm_node_lose(peer, "pipe broken");
        return OPAL_ERR_UNREACH;
    }
    if (0 == (++peer->full & (NODE_FULL_LOOK - 1))
        && mca_btl_epshm_peer_proc_is_dead(peer->peer_proc)) {
        mca_btl_epshm_node_lose(peer, "process ended");
        return OPAL_ERR_UNREACH;
    }
    return OPAL_ERR_OUT_OF_RESOURCE;
}
