/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Lanes: SPSC rings, each of one sender, in addition to the MPSC ring of an inbox that all senders
 * share.
 *
 * Cells of the shared ring are claimed by a compare-and-swap, before which a core first waits for
 * its earlier stores, the last message among them, to reach the other core's cache.  In a lane
 * messages follow each other without that: a claim is a plain store.  A sender gets a lane to an
 * inbox after some messages in a row, if the inbox has one to spare; so lanes are where the traffic
 * is, and their number does not grow with that of the pairs.
 *
 * Order.  A sender's messages go through the shared ring until it has opened a lane, which it
 * announces there; the receiver reads a lane only from its announcement on, behind which the
 * messages in the lane belong.  A sender that needs the place for a lane to another inbox gives one
 * up only when the receiver has taken everything out of it.  A sender that goes leaves its lanes as
 * they are, and the receiver frees them when they are empty.
 *
 * All slow path.
 *
 * Tests: unit/test_epshm_lanes, unit/test_epshm_lanes_random, lanes, model/places
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

/** Messages in a row from one sender to one inbox, as seen from the place of the lane, after which
 * there should be one: enough to pay for opening it, which costs as much as some ten messages. */
#define EPSHM_LANE_AFTER 32

/** Reserve a lane of an inbox.  @return NULL if all are in use, or without memory */
static epshm_lane_t *lane_reserve(struct mca_btl_base_endpoint_t *inbox)
{
    for (unsigned int i = 0; i < mca_btl_epshm_component.lanes; ++i) {
        epshm_lane_t *lane = &inbox->lane[i];
        uint32_t expected = EPSHM_LANE_FREE;

        /* Acquire pairs with the release in mca_btl_epshm_lane_check, which the last sender's is
         * ordered before: their use of the ring before ours. */
        if (EPSHM_LANE_FREE != atomic_load_explicit(&lane->state, memory_order_relaxed)
            || !atomic_compare_exchange_strong_explicit(&lane->state, &expected, EPSHM_LANE_TAKEN,
                                                        memory_order_acquire,
                                                        memory_order_relaxed)) {
            continue;
        }
        if (NULL == atomic_load_explicit(&lane->ring, memory_order_relaxed)) {
            epshm_lane_ring_t *ring = epshm_lane_create(mca_btl_epshm_component.lane_cells);

            if (NULL == ring) {
                atomic_store_explicit(&lane->state, EPSHM_LANE_FREE, memory_order_release);
                return NULL;
            }
            /* Relaxed: the receiver learns of it by the announcement in the shared ring. */
            atomic_store_explicit(&lane->ring, ring, memory_order_relaxed);
        }
        return lane;
    }
    return NULL;
}

/** Give up a lane; nothing in it is read from our memory any more. */
static void lane_leave(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    (void) mca_btl_epshm_loans_end(module, place);
    module->unusual.messages += place->writer.tail - place->first;
    epshm_lane_detach(&place->writer);
    /* Release pairs with the acquire in mca_btl_epshm_lane_check: our messages before our leave. */
    atomic_store_explicit(&place->lane->state, EPSHM_LANE_LEFT, memory_order_release);
    mca_btl_epshm_inbox_release(place->inbox);
    place->inbox = NULL;
}

/** Make the place of a lane empty.  @return false if the receiver has not taken everything yet */
static bool lane_vacate(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    if (NULL == place->inbox) {
        return true;
    }
    /* Acquire pairs with the release in mca_btl_epshm_inbox_close: what the receiver has read of
     * ours before what we write next.  If it is seen later, it is the next message's turn. */
    if (!epshm_lane_is_drained(&place->writer)
        && !atomic_load_explicit(&place->inbox->closed, memory_order_acquire)) {
        return false;
    }
    lane_leave(module, place);
    return true;
}

/** Open a lane and announce it.  @return false if there is none to be had */
static bool open_lane(epshm_place_t *place, struct mca_btl_base_endpoint_t *inbox)
{
    epshm_lane_t *lane = lane_reserve(inbox);
    epshm_envelope_t envelope = {.kind = EPSHM_KIND_LANE};
    uint64_t position;

    if (NULL == lane) {
        return false;
    }
    if (!epshm_ring_claim(&inbox->ring, 1, &position)) {
        /* Release: as in mca_btl_epshm_lane_check. */
        atomic_store_explicit(&lane->state, EPSHM_LANE_FREE, memory_order_release);
        return false;
    }
    envelope.size = (uint16_t) (lane - inbox->lane);
    memcpy(epshm_ring_cell(&inbox->ring, position)->data, &envelope, sizeof(envelope));
    epshm_ring_publish(&inbox->ring, position);

    /* Relaxed: the caller is connected, so there is a reference already. */
    atomic_fetch_add_explicit(&inbox->references, 1, memory_order_relaxed);
    place->inbox = inbox;
    place->lane = lane;
    epshm_lane_attach(&place->writer, atomic_load_explicit(&lane->ring, memory_order_relaxed));
    place->first = place->writer.tail;
    return true;
}

/** Has this inbox been written to so often that it should have the place? */
static bool is_wanted(epshm_place_t *place, const struct mca_btl_base_endpoint_t *inbox)
{
    if (inbox != place->rival) {
        place->rival = inbox;
        place->rival_messages = 0;
    }
    if (EPSHM_LANE_AFTER > ++place->rival_messages) {
        return false;
    }
    place->rival_messages = 0; /* if it cannot be had now, ask again after as many */
    return true;
}

bool mca_btl_epshm_lane_consider(mca_btl_epshm_module_t *module,
                                 struct mca_btl_base_endpoint_t *inbox)
{
    epshm_place_t *place = mca_btl_epshm_place(module, inbox);

    return OPAL_UNLIKELY(is_wanted(place, inbox)) && lane_vacate(module, place)
           && open_lane(place, inbox);
}

void mca_btl_epshm_lanes_leave(mca_btl_epshm_module_t *module)
{
    for (int i = 0; i < EPSHM_LANE_PLACES; ++i) {
        if (NULL != module->place[i].inbox) {
            lane_leave(module, &module->place[i]); /* what is in the lane is still received */
        }
        mca_btl_epshm_loans_free(&module->place[i]);
    }
}

void mca_btl_epshm_lanes_forget(mca_btl_epshm_module_t *module, uint32_t closed)
{
    for (int i = 0; i < EPSHM_LANE_PLACES; ++i) {
        epshm_place_t *place = &module->place[i];

        /* Relaxed: ordered by the number of closed inboxes, which the caller has read. */
        if (NULL != place->inbox
            && atomic_load_explicit(&place->inbox->closed, memory_order_relaxed)) {
            lane_leave(module, place);
        }
    }
    /* Relaxed: a hint to mca_btl_epshm_pending. */
    atomic_store_explicit(&module->closed_seen, closed, memory_order_relaxed);
}

void mca_btl_epshm_lane_opened(struct mca_btl_base_endpoint_t *inbox, unsigned int number)
{
    /* Relaxed load: only the receiver writes it.  Release pairs with the acquire in
     * mca_btl_epshm_pending: the ring, which the announcement has made known to us, before the
     * bit. */
    atomic_store_explicit(&inbox->lanes,
                          atomic_load_explicit(&inbox->lanes, memory_order_relaxed)
                              | UINT32_C(1) << number,
                          memory_order_release);
}

void mca_btl_epshm_lane_check(struct mca_btl_base_endpoint_t *inbox, unsigned int number)
{
    epshm_lane_t *lane = &inbox->lane[number];

    /* Acquire pairs with the release in leave: after it all messages of the sender that left can be
     * seen. */
    if (OPAL_LIKELY(EPSHM_LANE_LEFT != atomic_load_explicit(&lane->state, memory_order_acquire))
        || epshm_lane_pending(atomic_load_explicit(&lane->ring, memory_order_relaxed))) {
        return;
    }
    /* Not read until it is announced again.  Release for the bits that stay, as in
     * mca_btl_epshm_lane_opened: another thread may have set them. */
    atomic_store_explicit(&inbox->lanes,
                          atomic_load_explicit(&inbox->lanes, memory_order_relaxed)
                              & ~(UINT32_C(1) << number),
                          memory_order_release);
    /* Release pairs with the acquire in reserve: our reads before the next sender's writes. */
    atomic_store_explicit(&lane->state, EPSHM_LANE_FREE, memory_order_release);
}

void mca_btl_epshm_count(const mca_btl_ep_module_t *ep_module, mca_btl_ep_counts_t *counts)
{
    const mca_btl_epshm_module_t *module = (const mca_btl_epshm_module_t *) ep_module;
    uint64_t messages = module->unusual.messages;

    for (int i = 0; i < EPSHM_LANE_PLACES; ++i) {
        const epshm_place_t *place = &module->place[i];

        messages += NULL != place->inbox ? place->writer.tail - place->first : 0;
    }
    *counts = (mca_btl_ep_counts_t){
        .messages = messages, .bytes = EPSHM_USUAL_MESSAGE * messages + module->unusual.bytes};
}
