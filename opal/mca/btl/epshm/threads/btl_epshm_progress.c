/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Taking messages out of the receive queue, and btl_get, which in one address space is a copy.
 *
 * Tests: unit/test_epshm_spsc_rings, spsc_rings, p2p_order
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

    epshm_ring_read(&module->recv_queue->ring, message, sizeof(epshm_envelope_t) + size);
    progress_deliver(module, message + sizeof(epshm_envelope_t), size, tag);
}

/** @return number of messages */
static inline int take_shared(mca_btl_epshm_module_t *module)
{
    epshm_ring_t *ring = &module->recv_queue->ring;
    const epshm_cell_t *cell;
    int count = 0;

    while (count < EPSHM_PROGRESS_BATCH && NULL != (cell = epshm_ring_peek(ring))) {
        epshm_envelope_t envelope;
        uint64_t cells = 1;

        memcpy(&envelope, cell->data, sizeof(envelope));
        if (EPSHM_KIND_FRAG == envelope.kind) {
            deliver_frag(module, cell->data + sizeof(envelope), envelope.tag);
        } else if (EPSHM_KIND_SPSC == envelope.kind) {
            mca_btl_epshm_spsc_opened(module->recv_queue, envelope.size);
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

/* ---- SPSC rings ----------------------------------------------------------------------------------- */

/** All that is not bare in one cell. */
static __attribute__((noinline)) void deliver_other(mca_btl_epshm_module_t *module,
                                                    const epshm_spsc_ring_t *ring,
                                                    const epshm_spsc_cell_t *cell,
                                                    epshm_spsc_mark_t mark)
{
    unsigned char message[EPSHM_SPSC_CLAIM_MAX * EPSHM_SPSC_PAYLOAD]
        __attribute__((aligned(EPSHM_CACHE_LINE)));

    if (EPSHM_KIND_FRAG == mark.kind) {
        deliver_frag(module, cell->data, mark.tag);
        return;
    }
    epshm_spsc_read(ring, message, epshm_spsc_cells_for(mark.size));
    if (EPSHM_KIND_BARE == mark.kind) {
        module->super.ep_receive_bare(module->super.ep_context, message, mark.size);
    } else {
        progress_deliver(module, message, mark.size, mark.tag);
    }
}

/** Bytes that are still in the sender's memory, or were.  @return false: come again */
static __attribute__((noinline)) bool deliver_loan(mca_btl_epshm_module_t *module,
                                                   epshm_spsc_ring_t *ring,
                                                   const epshm_spsc_cell_t *cell, size_t size)
{
    const epshm_zcopy_cell_t *zcopy = (const epshm_zcopy_cell_t *) cell->data;
    mca_btl_epshm_frag_t *frag;

    switch (epshm_zcopy_borrow(ring)) {
    case EPSHM_ZCOPY_OPEN:
        module->super.ep_receive_zcopy(module->super.ep_context, zcopy->header, zcopy->address,
                                       size);
        return true;
    case EPSHM_ZCOPY_REPLACED:
        frag = zcopy->address;
        module->super.ep_receive_zcopy(module->super.ep_context, zcopy->header, frag->data, size);
        mca_btl_epshm_frag_return(frag);
        return true;
    default:
        return false;
    }
}

/** A header in the cell, bytes beside it and those that follow; taken out. */
static __attribute__((noinline)) void deliver_out_of_line(mca_btl_epshm_module_t *module,
                                                          epshm_spsc_ring_t *ring,
                                                          const epshm_spsc_cell_t *cell,
                                                          size_t size)
{
    uint64_t cells;
    const unsigned char *data = epshm_spsc_find_out_of_line(ring, size, &cells);

    module->super.ep_receive_zcopy(module->super.ep_context, cell->data, data, size);
    epshm_spsc_pop(ring, cells);
    epshm_spsc_expect(ring, (size + EPSHM_SPSC_OUT_OF_LINE - 1) / EPSHM_SPSC_OUT_OF_LINE);
}

/** @return number of messages */
static inline int take_spsc(mca_btl_epshm_module_t *module, epshm_spsc_ring_t *ring)
{
    const epshm_spsc_cell_t *cell;
    epshm_spsc_mark_t mark;
    int count = 0;

    while (count < EPSHM_PROGRESS_BATCH && NULL != (cell = epshm_spsc_peek(ring, &mark))) {
        if (OPAL_LIKELY(EPSHM_KIND_BARE == mark.kind && mark.size <= EPSHM_SPSC_PAYLOAD)) {
            module->super.ep_receive_bare(module->super.ep_context, cell->data, mark.size);
            epshm_spsc_pop(ring, 1);
        } else if (EPSHM_KIND_ZCOPY == mark.kind) {
            if (!deliver_loan(module, ring, cell, mark.size)) {
                break;
            }
            epshm_spsc_pop(ring, 1);
        } else if (EPSHM_KIND_BESIDE == mark.kind) {
            deliver_out_of_line(module, ring, cell, mark.size);
        } else {
            deliver_other(module, ring, cell, mark);
            epshm_spsc_pop(ring, epshm_spsc_cells_for(mark.size));
        }
        ++count;
    }
    return count;
}

static inline epshm_spsc_ring_t *spsc_ring(const struct mca_btl_base_endpoint_t *recv_queue,
                                           unsigned int number)
{
    /* Relaxed: a thread that has the SPSC ring's bit has its ring, see mca_btl_epshm_pending. */
    return atomic_load_explicit(&recv_queue->spsc[number].ring, memory_order_relaxed);
}

/** Have receive queues been closed since the places were last looked at? */
static inline bool closed_changed(const mca_btl_epshm_module_t *module, uint32_t *closed_p)
{
    /* Acquire pairs with the release in mca_btl_epshm_recv_queue_close. */
    *closed_p = atomic_load_explicit(&mca_btl_epshm_recv_queues_closed, memory_order_acquire);
    /* Relaxed: written under the endpoint's lock, a hint without. */
    return *closed_p != atomic_load_explicit(&module->closed_seen, memory_order_relaxed);
}

int mca_btl_epshm_progress(mca_btl_ep_module_t *ep_module)
{
    mca_btl_epshm_module_t *module = (mca_btl_epshm_module_t *) ep_module;
    struct mca_btl_base_endpoint_t *recv_queue = module->recv_queue;
    uint32_t closed;
    int count;

    /* First, and nothing else then: the answer to zero-copy sends may be here as well, and the
     * thread may be about to post its receive.  But not twice in a row, or a thread that goes on
     * lending would receive nothing.  Relaxed: under the owner's lock. */
    if (0 != atomic_load_explicit(&module->zcopy_on, memory_order_relaxed)) {
        module->collected = 0 < (count = mca_btl_epshm_zcopy_progress(module))
                            && !module->collected;
        if (module->collected) {
            return count;
        }
    }
    /* Before the SPSC rings, as the announcement of an SPSC ring is in it, and only the messages
     * behind that are in the SPSC ring. */
    count = take_shared(module);
    module->burst = 0;

    /* Relaxed: the receiver itself writes the bits. */
    for (uint32_t spsc_rings = atomic_load_explicit(&recv_queue->spsc_rings, memory_order_relaxed);
         0 != spsc_rings; spsc_rings &= spsc_rings - 1) {
        const unsigned int number = (unsigned int) __builtin_ctz(spsc_rings);
        const int taken = take_spsc(module, spsc_ring(recv_queue, number));

        if (0 == taken) {
            mca_btl_epshm_spsc_check(recv_queue, number);
        }
        count += taken;
    }
    if (0 == count && OPAL_UNLIKELY(closed_changed(module, &closed))) {
        mca_btl_epshm_spsc_rings_forget(module, closed);
    }
    /* A peer copies out of our memory: each of our pieces saves it the time of one. */
    if (OPAL_UNLIKELY(epshm_coop_copy_open(&recv_queue->share))) {
        count += epshm_coop_copy_work(&recv_queue->share, EPSHM_COOP_COPY_TURN);
    }
    return count;
}

bool mca_btl_epshm_pending(const mca_btl_ep_module_t *ep_module)
{
    const mca_btl_epshm_module_t *module = (const mca_btl_epshm_module_t *) ep_module;
    const struct mca_btl_base_endpoint_t *recv_queue = module->recv_queue;
    uint32_t closed;

    /* Acquire pairs with the release in mca_btl_epshm_spsc_opened: an SPSC ring's ring before its
     * bit. */
    for (uint32_t spsc_rings = atomic_load_explicit(&recv_queue->spsc_rings, memory_order_acquire);
         0 != spsc_rings; spsc_rings &= spsc_rings - 1) {
        const epshm_spsc_ring_t *ring = spsc_ring(recv_queue,
                                                  (unsigned int) __builtin_ctz(spsc_rings));

        if (epshm_spsc_pending(ring)) {
            return true;
        }
        epshm_spsc_await(ring);
    }
    /* Relaxed: a hint. */
    return epshm_ring_pending(&recv_queue->ring) || epshm_coop_copy_open(&recv_queue->share)
           || 0 != atomic_load_explicit(&module->zcopy_on, memory_order_relaxed)
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
        epshm_coop_copy_copy(&endpoint->share, target, source, size);
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
    if (size < mca_btl_epshm_component.coop_copy_min || 0 != (flags & MCA_BTL_EP_GET_ALONE)) {
        memcpy(local_address, (const void *) (uintptr_t) remote_address, size);
    } else {
        copy_long((mca_btl_epshm_module_t *) btl, endpoint, local_address,
                  (const void *) (uintptr_t) remote_address, size);
    }
    cbfunc(btl, endpoint, local_address, local_handle, cbcontext, cbdata, OPAL_SUCCESS);
    return OPAL_SUCCESS;
}
