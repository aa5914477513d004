/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Taking messages out of the inbox, and btl_get, which in one address space is a copy.
 *
 * Tests: unit/test_epshm_lanes, lanes, p2p_order
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

/** Messages handled in one call, so that a flood does not keep the caller from its own work. */
#define EPSHM_PROGRESS_BATCH 32

static inline void progress_deliver(mca_btl_epshm_module_t *module, void *data, size_t size,
                                    uint8_t tag)
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

/** A fragment stays readable until it is returned. */
static __attribute__((noinline)) void deliver_frag(mca_btl_epshm_module_t *module,
                                                   const void *cell_data, uint8_t tag)
{
    mca_btl_epshm_frag_t *frag;

    memcpy(&frag, cell_data, sizeof(frag));
    progress_deliver(module, frag->data, frag->segment.seg_len, tag);
    mca_btl_epshm_frag_return(frag);
}

/* ---- the ring that all senders share --------------------------------------------------------- */

/** A message over several cells is put together first: handlers see one segment. */
static __attribute__((noinline)) void deliver_cells(mca_btl_epshm_module_t *module, size_t size,
                                                    uint8_t tag)
{
    unsigned char message[EPSHM_RING_CLAIM_MAX * EPSHM_CELL_PAYLOAD]
        __attribute__((aligned(EPSHM_CACHE_LINE)));

    epshm_ring_read(&module->inbox->ring, message, sizeof(epshm_envelope_t) + size);
    progress_deliver(module, message + sizeof(epshm_envelope_t), size, tag);
}

/** @return number of messages */
static inline int take_shared(mca_btl_epshm_module_t *module)
{
    epshm_ring_t *ring = &module->inbox->ring;
    const epshm_cell_t *cell;
    int count = 0;

    while (count < EPSHM_PROGRESS_BATCH && NULL != (cell = epshm_ring_peek(ring))) {
        epshm_envelope_t envelope;
        uint64_t cells = 1;

        memcpy(&envelope, cell->data, sizeof(envelope));
        if (EPSHM_KIND_FRAG == envelope.kind) {
            deliver_frag(module, cell->data + sizeof(envelope), envelope.tag);
        } else if (EPSHM_KIND_LANE == envelope.kind) {
            mca_btl_epshm_lane_opened(module->inbox, envelope.size);
        } else if (OPAL_LIKELY(sizeof(envelope) + envelope.size <= EPSHM_CELL_PAYLOAD)) {
            progress_deliver(module, (void *) (cell->data + sizeof(envelope)), envelope.size,
                             envelope.tag);
        } else {
            deliver_cells(module, envelope.size, envelope.tag);
            cells = epshm_ring_cells_for(sizeof(envelope) + envelope.size);
        }
        epshm_ring_pop(ring, cells);
        ++count;
    }
    return count;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/** All that is not bare in one cell. */
static __attribute__((noinline)) void deliver_other(mca_btl_epshm_module_t *module,
                                                    const epshm_lane_ring_t *ring,
                                                    const epshm_lane_cell_t *cell,
                                                    epshm_lane_mark_t mark)
{
    unsigned char message[EPSHM_LANE_CLAIM_MAX * EPSHM_LANE_PAYLOAD]
        __attribute__((aligned(EPSHM_CACHE_LINE)));

    if (EPSHM_KIND_FRAG == mark.kind) {
        deliver_frag(module, cell->data, mark.tag);
        return;
    }
    epshm_lane_read(ring, message, epshm_lane_cells_for(mark.size));
    if (EPSHM_KIND_BARE == mark.kind) {
        module->super.ep_receive_bare(module->super.ep_context, message, mark.size);
    } else {
        progress_deliver(module, message, mark.size, mark.tag);
    }
}

/** Bytes that are still in the sender's memory, or were.  @return false: come again */
static __attribute__((noinline)) bool deliver_loan(mca_btl_epshm_module_t *module,
                                                   epshm_lane_ring_t *ring,
                                                   const epshm_lane_cell_t *cell, size_t size)
{
    const epshm_loan_cell_t *loan = (const epshm_loan_cell_t *) cell->data;
    mca_btl_epshm_frag_t *frag;

    switch (epshm_loan_borrow(ring)) {
    case EPSHM_LOAN_OPEN:
        module->super.ep_receive_loan(module->super.ep_context, loan->header, loan->address, size);
        return true;
    case EPSHM_LOAN_REPLACED:
        frag = loan->address;
        module->super.ep_receive_loan(module->super.ep_context, loan->header, frag->data, size);
        mca_btl_epshm_frag_return(frag);
        return true;
    default:
        return false;
    }
}

/** A header in the cell, bytes beside it and those that follow; taken out. */
static __attribute__((noinline)) void deliver_beside(mca_btl_epshm_module_t *module,
                                                     epshm_lane_ring_t *ring,
                                                     const epshm_lane_cell_t *cell, size_t size)
{
    uint64_t cells;
    const unsigned char *data = epshm_lane_find_beside(ring, size, &cells);

    module->super.ep_receive_loan(module->super.ep_context, cell->data, data, size);
    epshm_lane_pop(ring, cells);
    epshm_lane_expect(ring, (size + EPSHM_LANE_BESIDE - 1) / EPSHM_LANE_BESIDE);
}

/** @return number of messages */
static inline int take_lane(mca_btl_epshm_module_t *module, epshm_lane_ring_t *ring)
{
    const epshm_lane_cell_t *cell;
    epshm_lane_mark_t mark;
    int count = 0;

    while (count < EPSHM_PROGRESS_BATCH && NULL != (cell = epshm_lane_peek(ring, &mark))) {
        if (OPAL_LIKELY(EPSHM_KIND_BARE == mark.kind && mark.size <= EPSHM_LANE_PAYLOAD)) {
            module->super.ep_receive_bare(module->super.ep_context, cell->data, mark.size);
            epshm_lane_pop(ring, 1);
        } else if (EPSHM_KIND_LOAN == mark.kind) {
            if (!deliver_loan(module, ring, cell, mark.size)) {
                break;
            }
            epshm_lane_pop(ring, 1);
        } else if (EPSHM_KIND_BESIDE == mark.kind) {
            deliver_beside(module, ring, cell, mark.size);
        } else {
            deliver_other(module, ring, cell, mark);
            epshm_lane_pop(ring, epshm_lane_cells_for(mark.size));
        }
        ++count;
    }
    return count;
}

static inline epshm_lane_ring_t *lane_ring(const struct mca_btl_base_endpoint_t *inbox,
                                           unsigned int number)
{
    /* Relaxed: a thread that has the lane's bit has its ring, see mca_btl_epshm_pending. */
    return atomic_load_explicit(&inbox->lane[number].ring, memory_order_relaxed);
}

/** Have inboxes been closed since the places were last looked at? */
static inline bool closed_changed(const mca_btl_epshm_module_t *module, uint32_t *closed_p)
{
    /* Acquire pairs with the release in mca_btl_epshm_inbox_close. */
    *closed_p = atomic_load_explicit(&mca_btl_epshm_inboxes_closed, memory_order_acquire);
    /* Relaxed: written under the endpoint's lock, a hint without. */
    return *closed_p != atomic_load_explicit(&module->closed_seen, memory_order_relaxed);
}

int mca_btl_epshm_progress(mca_btl_ep_module_t *ep_module)
{
    mca_btl_epshm_module_t *module = (mca_btl_epshm_module_t *) ep_module;
    struct mca_btl_base_endpoint_t *inbox = module->inbox;
    uint32_t closed;
    int count;

    /* First, and nothing else then: the answer to what has been lent may be here as well, and the
     * thread may be about to post its receive.  But not twice in a row, or a thread that goes on
     * lending would receive nothing.  Relaxed: under the owner's lock. */
    if (0 != atomic_load_explicit(&module->lending, memory_order_relaxed)) {
        module->collected = 0 < (count = mca_btl_epshm_loans_progress(module))
                            && !module->collected;
        if (module->collected) {
            return count;
        }
    }
    /* Before the lanes, as the announcement of a lane is in it, and only the messages behind that
     * are in the lane. */
    count = take_shared(module);
    module->burst = 0;

    /* Relaxed: the receiver itself writes the bits. */
    for (uint32_t lanes = atomic_load_explicit(&inbox->lanes, memory_order_relaxed); 0 != lanes;
         lanes &= lanes - 1) {
        const unsigned int number = (unsigned int) __builtin_ctz(lanes);
        const int taken = take_lane(module, lane_ring(inbox, number));

        if (0 == taken) {
            mca_btl_epshm_lane_check(inbox, number);
        }
        count += taken;
    }
    if (0 == count && OPAL_UNLIKELY(closed_changed(module, &closed))) {
        mca_btl_epshm_lanes_forget(module, closed);
    }
    /* A peer copies out of our memory: each of our pieces saves it the time of one. */
    if (OPAL_UNLIKELY(epshm_share_open(&inbox->share))) {
        count += epshm_share_work(&inbox->share, EPSHM_SHARE_TURN);
    }
    return count;
}

bool mca_btl_epshm_pending(const mca_btl_ep_module_t *ep_module)
{
    const mca_btl_epshm_module_t *module = (const mca_btl_epshm_module_t *) ep_module;
    const struct mca_btl_base_endpoint_t *inbox = module->inbox;
    uint32_t closed;

    /* Acquire pairs with the release in mca_btl_epshm_lane_opened: a lane's ring before its bit. */
    for (uint32_t lanes = atomic_load_explicit(&inbox->lanes, memory_order_acquire); 0 != lanes;
         lanes &= lanes - 1) {
        const epshm_lane_ring_t *ring = lane_ring(inbox, (unsigned int) __builtin_ctz(lanes));

        if (epshm_lane_pending(ring)) {
            return true;
        }
        epshm_lane_await(ring);
    }
    /* Relaxed: a hint. */
    return epshm_ring_pending(&inbox->ring) || epshm_share_open(&inbox->share)
           || 0 != atomic_load_explicit(&module->lending, memory_order_relaxed)
           || closed_changed(module, &closed);
}

/** A long copy, with the help of the source's owner or without, whichever is faster: cores that are
 * far from each other lose more by writing into one buffer than they gain. */
static void copy_long(mca_btl_epshm_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                      void *target, const void *source, size_t size)
{
    const unsigned int class = (size_t) 64 << 10 >= size ? 0 : (size_t) 256 << 10 >= size ? 1 : 2;
    ep_pace_t *pace = &module->copies[endpoint->id % EPSHM_COPY_PLACES][class];
    const bool alone = ep_pace_choose(pace), measures = ep_pace_measures(pace);
    const uint64_t start = measures ? ep_pace_clock() : 0;

    if (alone) {
        memcpy(target, source, size);
    } else {
        epshm_share_copy(&endpoint->share, target, source, size);
    }
    ep_pace_note(pace, alone, measures ? ep_pace_clock() - start : 0, size);
}

int mca_btl_epshm_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, uint64_t remote_address,
                      struct mca_btl_base_registration_handle_t *local_handle,
                      struct mca_btl_base_registration_handle_t *remote_handle, size_t size,
                      int flags, int order, mca_btl_base_rdma_completion_fn_t cbfunc,
                      void *cbcontext, void *cbdata)
{
    (void) remote_handle;
    (void) order;
    /* A helper that loses its core with a piece in hand is waited for: not if oversubscribed. */
    if (size < mca_btl_epshm_component.share_min || 0 != (flags & MCA_BTL_EP_GET_ALONE)) {
        memcpy(local_address, (const void *) (uintptr_t) remote_address, size);
    } else {
        copy_long((mca_btl_epshm_module_t *) btl, endpoint, local_address,
                  (const void *) (uintptr_t) remote_address, size);
    }
    cbfunc(btl, endpoint, local_address, local_handle, cbcontext, cbdata, OPAL_SUCCESS);
    return OPAL_SUCCESS;
}
