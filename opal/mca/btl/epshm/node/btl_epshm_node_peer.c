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
 * The ways to other processes' modules: pipes are made at first use, and left behind at the end.
 * All slow path.
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

/** A block as large as wished, or else as large as it must be, which block->size says.  The last
 * quarter of a segment is for the latter, and half of that for pipes, without which nothing goes:
 * so many more can talk, if slowly, than have all they wish. */
static bool get_block(epshm_block_kind_t kind, uint64_t wished, uint64_t least,
                      epshm_block_t *block)
{
    return mca_btl_epshm_segment_get(kind, wished, 2, block)
           || mca_btl_epshm_segment_get(kind, least, EPSHM_BLOCK_PIPE == kind ? 0 : 1, block);
}

static int make_pipe(epshm_node_peer_t *peer, const epshm_node_module_t *module)
{
    epshm_block_t *block = &peer->last_will->pipe_block;
    uint64_t cells = mca_btl_epshm_component.pipe_cells;

    if (!get_block(EPSHM_BLOCK_PIPE, epshm_pipe_bytes(cells),
                   epshm_pipe_bytes(EPSHM_PIPE_CELLS_LEAST), block)) {
        say_no_room();
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (epshm_pipe_bytes(cells) != block->size) {
        cells = EPSHM_PIPE_CELLS_LEAST;
    }
    epshm_pipe_create(&peer->out, block->memory, cells, peer->addressee);
    peer->out.pipe->sender = module->addressee;
    peer->out.pipe->door = module->door_block.offset;
    peer->last_will->pipe = peer->out.pipe;
    return OPAL_SUCCESS;
}

/** Leave word of a pipe in the consumer's door.  Where that is broken the pipe is as if it had been
 * refused, and where nobody is behind it any more, as if it had been left. */
static void announce(epshm_node_peer_t *peer)
{
    epshm_door_t *door = peer->door;
    const uint64_t word = ((uint64_t) OPAL_PROC_MY_NAME.vpid + 1) << EPSHM_DOOR_OFFSET_BITS
                          | peer->last_will->pipe_block.offset / EPSHM_PIPE_LINE;
    uint64_t last = atomic_load_explicit(&door->last, memory_order_relaxed);

    do {
        if (OPAL_UNLIKELY(EPSHM_DOOR_BROKEN == last)) {
            epshm_pipe_refuse(peer->out.pipe);
            return;
        }
        if (OPAL_UNLIKELY(EPSHM_DOOR_LEFT == last)) {
            epshm_pipe_detach(peer->out.pipe);
            return;
        }
        atomic_store_explicit(&peer->out.pipe->next, last, memory_order_relaxed);
        /* Release pairs with the acquire in answer_door: the pipe is complete before its word.
         * Others' pushes in between keep their order: this is a read-modify-write. */
    } while (!atomic_compare_exchange_weak_explicit(&door->last, &last, word, memory_order_release,
                                                    memory_order_relaxed));
}

static int attach(const void *blob, size_t length, epshm_node_address_t *address,
                  epshm_neighbour_t **neighbour_p)
{
    epshm_neighbour_t *neighbour;
    int rc;

    if (!mca_btl_epshm_node_address_read(blob, length, address)) {
        return OPAL_ERR_BAD_PARAM;
    }
    rc = mca_btl_epshm_neighbour_attach(&address->process, address->stamp, address->size,
                                        &neighbour);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    /* Relaxed: the door was made before its address was given to anybody. */
    if (neighbour->size != address->size || neighbour->size < address->door + sizeof(epshm_door_t)
        || atomic_load_explicit(neighbour->used, memory_order_relaxed)
               < address->door + sizeof(epshm_door_t)) {
        return OPAL_ERR_BAD_PARAM;
    }
    *neighbour_p = neighbour;
    return OPAL_SUCCESS;
}

int mca_btl_epshm_node_reach(mca_btl_ep_module_t *module, const void *address, size_t length)
{
    epshm_node_address_t read;
    epshm_neighbour_t *neighbour;

    (void) module;
    return attach(address, length, &read, &neighbour);
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

int mca_btl_epshm_node_connect(mca_btl_ep_module_t *ep_module, const void *blob, size_t length,
                               struct mca_btl_base_endpoint_t **endpoint_p)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    epshm_node_peer_t *peer = calloc(1, sizeof(*peer));
    epshm_node_address_t address;
    int rc = OPAL_ERR_OUT_OF_RESOURCE;

    if (NULL == peer) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    peer->last_will = calloc(1, sizeof(*peer->last_will));
    if (NULL == peer->last_will) {
        goto err_free_peer;
    }
    rc = attach(blob, length, &address, &peer->neighbour);
    if (OPAL_SUCCESS == rc) {
        peer->addressee = address.addressee;
        peer->door = (epshm_door_t *) (peer->neighbour->base + address.door);
        peer->module = ep_module;
        rc = make_pipe(peer, module);
    }
    if (OPAL_SUCCESS != rc) {
        goto err_free_will;
    }
    peer->last_will->neighbour = peer->neighbour;
    peer_enter(module, peer);
    announce(peer);
    *endpoint_p = (struct mca_btl_base_endpoint_t *) peer;
    return OPAL_SUCCESS;

err_free_will:
    free(peer->last_will);
err_free_peer:
    free(peer);
    return rc;
}

/** Add what was sent to a peer. */
static void count_peer(epshm_unusual_t *sum, const epshm_node_peer_t *peer)
{
    sum->messages += peer->out.tail + peer->unusual.messages;
    sum->bytes += peer->unusual.bytes;
}

void mca_btl_epshm_node_count(const mca_btl_ep_module_t *ep_module, mca_btl_ep_counts_t *counts)
{
    const epshm_node_module_t *module = (const epshm_node_module_t *) ep_module;
    const epshm_node_peer_t *peer = module->peers;
    epshm_unusual_t sum = module->unusual;

    if (NULL != peer) {
        do {
            count_peer(&sum, peer);
            peer = peer->next;
        } while (module->peers != peer);
    }
    *counts = (mca_btl_ep_counts_t){.messages = sum.messages,
                                    .bytes = EPSHM_USUAL_MESSAGE * sum.messages + sum.bytes};
}

void mca_btl_epshm_node_disconnect(mca_btl_ep_module_t *ep_module,
                                   struct mca_btl_base_endpoint_t *endpoint)
{
    epshm_node_module_t *module = (epshm_node_module_t *) ep_module;
    epshm_node_peer_t *peer = (epshm_node_peer_t *) endpoint;

    count_peer(&module->unusual, peer);
    peer_leave(module, peer);
    if (!peer->lost) { /* or it is still to see that */
        epshm_pipe_close(&peer->out);
    }
    mca_btl_epshm_segment_retire(peer->last_will);
    free(peer);
}

/** Let a pipe have the area in its block, if there was one to be had.  @return was there? */
static bool add_area(epshm_node_peer_t *peer, bool was_had)
{
    epshm_block_t *block = &peer->last_will->area_block;

    if (!was_had) {
        *block = (epshm_block_t){.size = 0};
        return false;
    }
    epshm_pipe_add_area(&peer->out, block->memory, block->offset, block->size);
    return true;
}

int mca_btl_epshm_node_need_area(epshm_node_peer_t *peer)
{
    if (NULL != peer->out.area
        || add_area(peer, get_block(EPSHM_BLOCK_AREA, mca_btl_epshm_component.pipe_bytes,
                                    mca_btl_epshm_component.pipe_eager_limit,
                                    &peer->last_will->area_block))) {
        return OPAL_SUCCESS;
    }
    say_no_room();
    return OPAL_ERR_NOT_AVAILABLE;
}

bool mca_btl_epshm_node_want_area(epshm_node_peer_t *peer)
{
    if (add_area(peer,
                 mca_btl_epshm_segment_get(EPSHM_BLOCK_AREA, mca_btl_epshm_component.pipe_bytes, 2,
                                           &peer->last_will->area_block))) {
        return true;
    }
    /* To ask takes the lock of the whole process. */
    peer->medium = -EPSHM_NODE_AREA_PAUSE * EPSHM_NODE_AREA_AFTER;
    return false;
}

void mca_btl_epshm_node_ask(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                            bool connect)
{
    epshm_node_peer_t *peer = (epshm_node_peer_t *) endpoint;

    (void) module;
    (void) connect; /* there is nothing to send */
    if (mca_btl_epshm_neighbour_is_dead(peer->neighbour)) {
        mca_btl_epshm_node_lose(peer, "process ended");
    } else if (mca_btl_epshm_node_is_refused(peer)) {
        mca_btl_epshm_node_lose(peer, "given up");
    }
}

void mca_btl_epshm_node_abandon(mca_btl_ep_module_t *module,
                                struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    mca_btl_epshm_node_cut((epshm_node_peer_t *) endpoint); /* nothing is ever under way */
}

bool mca_btl_epshm_node_is_left(mca_btl_ep_module_t *module,
                                const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) module;
    return epshm_pipe_is_detached(((const epshm_node_peer_t *) endpoint)->out.pipe);
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
    if (peer->gone || epshm_pipe_is_detached(peer->out.pipe)) {
        return peer_is_gone(peer);
    }
    if (EPSHM_PIPE_BROKEN == why) {
        mca_btl_epshm_node_lose(peer, "pipe broken");
        return OPAL_ERR_UNREACH;
    }
    if (0 == (++peer->full & (NODE_FULL_LOOK - 1))
        && mca_btl_epshm_neighbour_is_dead(peer->neighbour)) {
        mca_btl_epshm_node_lose(peer, "process ended");
        return OPAL_ERR_UNREACH;
    }
    return OPAL_ERR_OUT_OF_RESOURCE;
}
