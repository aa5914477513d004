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
 * Taking messages out of the inbox, and btl_get, which in one address space is a copy.
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

/** Messages handled in one call, so that a flood does not keep the caller from its own work. */
#define EPSHM_PROGRESS_BATCH 32

static inline void deliver(mca_btl_epshm_module_t *module, void *data, size_t size, uint8_t tag)
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

/** A fragment stays readable until it is returned, so its cell goes back first. */
static __attribute__((noinline)) void deliver_frag(mca_btl_epshm_module_t *module,
                                                   const epshm_cell_t *cell, uint8_t tag)
{
    mca_btl_epshm_frag_t *frag;

    memcpy(&frag, cell->data + sizeof(epshm_envelope_t), sizeof(frag));
    epshm_ring_pop(&module->inbox->ring, 1);
    deliver(module, frag->data, frag->segment.seg_len, tag);
    mca_btl_epshm_frag_return(frag);
}

/** A message over several cells is put together first: handlers see one segment. */
static __attribute__((noinline)) void deliver_cells(mca_btl_epshm_module_t *module, size_t size,
                                                    uint8_t tag)
{
    unsigned char message[EPSHM_RING_CLAIM_MAX * EPSHM_CELL_PAYLOAD]
        __attribute__((aligned(EPSHM_CACHE_LINE)));

    epshm_ring_read(&module->inbox->ring, message, sizeof(epshm_envelope_t) + size);
    epshm_ring_pop(&module->inbox->ring, epshm_ring_cells_for(sizeof(epshm_envelope_t) + size));
    deliver(module, message + sizeof(epshm_envelope_t), size, tag);
}

int mca_btl_epshm_progress(mca_btl_ep_module_t *ep_module)
{
    mca_btl_epshm_module_t *module = (mca_btl_epshm_module_t *) ep_module;
    epshm_ring_t *ring = &module->inbox->ring;
    epshm_cell_t *cell;
    int count = 0;

    while (count < EPSHM_PROGRESS_BATCH && NULL != (cell = epshm_ring_peek(ring))) {
        epshm_envelope_t envelope;

        memcpy(&envelope, cell->data, sizeof(envelope));
        if (OPAL_UNLIKELY(EPSHM_KIND_FRAG == envelope.kind)) {
            deliver_frag(module, cell, envelope.tag);
        } else if (OPAL_LIKELY(sizeof(envelope) + envelope.size <= EPSHM_CELL_PAYLOAD)) {
            deliver(module, cell->data + sizeof(envelope), envelope.size, envelope.tag);
            epshm_ring_pop(ring, 1);
        } else {
            deliver_cells(module, envelope.size, envelope.tag);
        }
        ++count;
    }
    /* A peer copies out of our memory: each of our pieces saves it the time of one. */
    if (OPAL_UNLIKELY(epshm_share_open(&module->inbox->share))) {
        count += epshm_share_work(&module->inbox->share);
    }
    return count;
}

bool mca_btl_epshm_pending(const mca_btl_ep_module_t *module)
{
    const struct mca_btl_base_endpoint_t *inbox = ((const mca_btl_epshm_module_t *) module)->inbox;

    return epshm_ring_pending(&inbox->ring) || epshm_share_open(&inbox->share);
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
    /* A helper that loses its core with a piece in hand is waited for: not in a crowd. */
    if (size < mca_btl_epshm_component.share_min || 0 != (flags & MCA_BTL_EP_GET_ALONE)) {
        memcpy(local_address, (const void *) (uintptr_t) remote_address, size);
    } else {
        epshm_share_copy(&endpoint->share, local_address,
                         (const void *) (uintptr_t) remote_address, size);
    }
    cbfunc(btl, endpoint, local_address, local_handle, cbcontext, cbdata, OPAL_SUCCESS);
    return OPAL_SUCCESS;
}
