/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * SPSC rings: SPSC rings, each of one sender, in addition to the MPSC ring of a receive queue that all senders
 * share.
 *
 * Cells of the shared ring are claimed by a compare-and-swap, before which a core first waits for
 * its earlier stores, the last message among them, to reach the other core's cache.  In an SPSC ring
 * messages follow each other without that: a claim is a plain store.  A sender gets an SPSC ring to an
 * receive queue after some messages in a row, if the receive queue has one to spare; so SPSC rings are where the traffic
 * is, and their number does not grow with that of the pairs.
 *
 * Order.  A sender's messages go through the shared ring until it has opened an SPSC ring, which it
 * announces there; the receiver reads an SPSC ring only from its announcement on, behind which the
 * messages in the SPSC ring belong.  A sender that needs the place for an SPSC ring to another receive queue gives one
 * up only when the receiver has taken everything out of it.  A sender that goes leaves its SPSC rings as
 * they are, and the receiver frees them when they are empty.
 *
 * All slow path.
 *
 * Tests: unit/test_epshm_spsc_rings, unit/test_epshm_spsc_rings_random, spsc_rings, model/places
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

/** Messages in a row from one sender to one receive queue, as seen from the place of the SPSC ring,
 * after which there should be one: enough to pay for opening it, which costs as much as some ten
 * messages. */
#define EPSHM_SPSC_AFTER 32

/** Reserve an SPSC ring of a receive queue.  @return NULL if all are in use, or without memory */
static epshm_spsc_t *spsc_reserve(struct mca_btl_base_endpoint_t *recv_queue)
{
    for (unsigned int i = 0; i < mca_btl_epshm_component.spsc_rings; ++i) {
        epshm_spsc_t *spsc = &recv_queue->spsc[i];
        uint32_t expected = EPSHM_SPSC_FREE;

        /* Acquire pairs with the release in mca_btl_epshm_spsc_check, which the last sender's is
         * ordered before: their use of the ring before ours. */
        if (EPSHM_SPSC_FREE != atomic_load_explicit(&spsc->state, memory_order_relaxed)
            || !atomic_compare_exchange_strong_explicit(&spsc->state, &expected, EPSHM_SPSC_TAKEN,
                                                        memory_order_acquire,
                                                        memory_order_relaxed)) {
            continue;
        }
        if (NULL == atomic_load_explicit(&spsc->ring, memory_order_relaxed)) {
            epshm_spsc_ring_t *ring = epshm_spsc_create(mca_btl_epshm_component.spsc_cells);

            if (NULL == ring) {
                atomic_store_explicit(&spsc->state, EPSHM_SPSC_FREE, memory_order_release);
                return NULL;
            }
            /* Relaxed: the receiver learns of it by the announcement in the shared ring. */
            atomic_store_explicit(&spsc->ring, ring, memory_order_relaxed);
        }
        return spsc;
    }
    return NULL;
}

/** Give up an SPSC ring; nothing in it is read from our memory any more. */
static void spsc_leave(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    (void) mca_btl_epshm_zcopy_end(module, place);
    module->other.messages += place->writer.tail - place->first;
    epshm_spsc_detach(&place->writer);
    /* Release pairs with the acquire in mca_btl_epshm_spsc_check: our messages before our leave. */
    atomic_store_explicit(&place->spsc->state, EPSHM_SPSC_LEFT, memory_order_release);
    mca_btl_epshm_recv_queue_release(place->recv_queue);
    place->recv_queue = NULL;
}

/** Make the place of an SPSC ring empty.  @return false if the receiver has not taken everything
 * yet */
static bool spsc_vacate(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    if (NULL == place->recv_queue) {
        return true;
    }
    /* Acquire pairs with the release in mca_btl_epshm_recv_queue_close: what the receiver has read
     * of ours before what we write next.  If it is seen later, it is the next message's turn. */
    if (!epshm_spsc_is_drained(&place->writer)
        && !atomic_load_explicit(&place->recv_queue->closed, memory_order_acquire)) {
        return false;
    }
    spsc_leave(module, place);
    return true;
}

/** Open an SPSC ring and announce it.  @return false if there is none to be had */
static bool open_spsc(epshm_place_t *place, struct mca_btl_base_endpoint_t *recv_queue)
{
    epshm_spsc_t *spsc = spsc_reserve(recv_queue);
    epshm_envelope_t envelope = {.kind = EPSHM_KIND_SPSC};
    uint64_t position;

    if (NULL == spsc) {
        return false;
    }
    if (!epshm_ring_claim(&recv_queue->ring, 1, &position)) {
        /* Release: as in mca_btl_epshm_spsc_check. */
        atomic_store_explicit(&spsc->state, EPSHM_SPSC_FREE, memory_order_release);
        return false;
    }
    envelope.size = (uint16_t) (spsc - recv_queue->spsc);
    memcpy(epshm_ring_cell(&recv_queue->ring, position)->data, &envelope, sizeof(envelope));
    epshm_ring_publish(&recv_queue->ring, position);

    /* Relaxed: the caller is connected, so there is a reference already. */
    atomic_fetch_add_explicit(&recv_queue->references, 1, memory_order_relaxed);
    place->recv_queue = recv_queue;
    place->spsc = spsc;
    epshm_spsc_attach(&place->writer, atomic_load_explicit(&spsc->ring, memory_order_relaxed));
    place->first = place->writer.tail;
    return true;
}

/** Has this receive queue been written to so often that it should have the place? */
static bool is_wanted(epshm_place_t *place, const struct mca_btl_base_endpoint_t *recv_queue)
{
    if (recv_queue != place->rival) {
        place->rival = recv_queue;
        place->rival_messages = 0;
    }
    if (EPSHM_SPSC_AFTER > ++place->rival_messages) {
        return false;
    }
    place->rival_messages = 0; /* if it cannot be had now, ask again after as many */
    return true;
}

bool mca_btl_epshm_spsc_consider(mca_btl_epshm_module_t *module,
                                 struct mca_btl_base_endpoint_t *recv_queue)
{
    epshm_place_t *place = mca_btl_epshm_place(module, recv_queue);

    return OPAL_UNLIKELY(is_wanted(place, recv_queue)) && spsc_vacate(module, place)
           && open_spsc(place, recv_queue);
}

void mca_btl_epshm_spsc_rings_leave(mca_btl_epshm_module_t *module)
{
    for (int i = 0; i < EPSHM_SPSC_PLACES; ++i) {
        if (NULL != module->place[i].recv_queue) {
            spsc_leave(module, &module->place[i]); /* what is in the SPSC ring is still received */
        }
        mca_btl_epshm_zcopy_free(&module->place[i]);
    }
}

void mca_btl_epshm_spsc_rings_forget(mca_btl_epshm_module_t *module, uint32_t closed)
{
    for (int i = 0; i < EPSHM_SPSC_PLACES; ++i) {
        epshm_place_t *place = &module->place[i];

        /* Relaxed: ordered by the number of closed receive queues, which the caller has read. */
        if (NULL != place->recv_queue
            && atomic_load_explicit(&place->recv_queue->closed, memory_order_relaxed)) {
            spsc_leave(module, place);
        }
    }
    /* Relaxed: a hint to mca_btl_epshm_pending. */
    atomic_store_explicit(&module->closed_seen, closed, memory_order_relaxed);
}

void mca_btl_epshm_spsc_opened(struct mca_btl_base_endpoint_t *recv_queue, unsigned int number)
{
    /* Relaxed load: only the receiver writes it.  Release pairs with the acquire in
     * mca_btl_epshm_pending: the ring, which the announcement has made known to us, before the
     * bit. */
    atomic_store_explicit(&recv_queue->spsc_rings,
                          atomic_load_explicit(&recv_queue->spsc_rings, memory_order_relaxed)
                              | UINT32_C(1) << number,
                          memory_order_release);
}

void mca_btl_epshm_spsc_check(struct mca_btl_base_endpoint_t *recv_queue, unsigned int number)
{
    epshm_spsc_t *spsc = &recv_queue->spsc[number];

    /* Acquire pairs with the release in leave: after it all messages of the sender that left can be
     * seen. */
    if (OPAL_LIKELY(EPSHM_SPSC_LEFT != atomic_load_explicit(&spsc->state, memory_order_acquire))
        || epshm_spsc_pending(atomic_load_explicit(&spsc->ring, memory_order_relaxed))) {
        return;
    }
    /* Not read until it is announced again.  Release for the bits that stay, as in
     * mca_btl_epshm_spsc_opened: another thread may have set them. */
    atomic_store_explicit(&recv_queue->spsc_rings,
                          atomic_load_explicit(&recv_queue->spsc_rings, memory_order_relaxed)
                              & ~(UINT32_C(1) << number),
                          memory_order_release);
    /* Release pairs with the acquire in reserve: our reads before the next sender's writes. */
    atomic_store_explicit(&spsc->state, EPSHM_SPSC_FREE, memory_order_release);
}

void mca_btl_epshm_count(const mca_btl_ep_module_t *ep_module, mca_btl_ep_counts_t *counts)
{
    const mca_btl_epshm_module_t *module = (const mca_btl_epshm_module_t *) ep_module;
    uint64_t messages = module->other.messages;

    for (int i = 0; i < EPSHM_SPSC_PLACES; ++i) {
        const epshm_place_t *place = &module->place[i];

        messages += NULL != place->recv_queue ? place->writer.tail - place->first : 0;
    }
    *counts = (mca_btl_ep_counts_t){.messages = messages,
                                    .bytes = EPSHM_SHORT_MESSAGE * messages + module->other.bytes};
}
