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
 * Everything that puts a message into a peer's inbox.
 *
 * Fast path: up to EPSHM_INLINE_MAX bytes go into the cells.  Budget: one compare-and-swap, one
 * copy, one release store; no allocation, no lock.
 */

#include "opal_config.h"

#include "btl_epshm_types.h"

#include "opal/datatype/opal_convertor.h"

/** Hand a fragment over to the peer; it comes back through its pool. */
static int push_frag(struct mca_btl_base_endpoint_t *endpoint, mca_btl_epshm_frag_t *frag,
                     mca_btl_base_tag_t tag)
{
    const epshm_envelope_t envelope = {.kind = EPSHM_KIND_FRAG, .tag = tag};
    uint64_t position;
    epshm_cell_t *cell;

    if (!epshm_ring_claim(&endpoint->ring, 1, &position)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    cell = epshm_ring_cell(&endpoint->ring, position);
    memcpy(cell->data, &envelope, sizeof(envelope));
    memcpy(cell->data + sizeof(envelope), &frag, sizeof(frag));
    epshm_ring_publish(&endpoint->ring, position);
    return OPAL_SUCCESS;
}

static __attribute__((noinline)) int
send_buffered(mca_btl_epshm_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
              const void *header, size_t header_size, const void *payload, size_t payload_size,
              mca_btl_base_tag_t tag)
{
    mca_btl_epshm_frag_t *frag = mca_btl_epshm_frag_get(module->pool, header_size + payload_size);
    int rc;

    if (OPAL_UNLIKELY(NULL == frag)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    memcpy(frag->data, header, header_size);
    memcpy(frag->data + header_size, payload, payload_size);
    rc = push_frag(endpoint, frag, tag);
    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        mca_btl_epshm_frag_free(frag);
    }
    return rc;
}

/** memcpy for what is mostly a few words: moves instead of a call.  Eight bytes at a time, no more:
 * the caller has just written them in pieces of that size, and a wider load would have to wait
 * until its stores have left the store buffer. */
static inline void copy_small(unsigned char *target, const void *source, size_t size)
{
    const unsigned char *from = source;

    if (OPAL_LIKELY(8 <= size && size <= 32)) {
        size_t done = 0;

        do {
            memcpy(target + done, from + done, 8);
            done += 8;
        } while (done + 8 <= size);
        memcpy(target + size - 8, from + size - 8, 8);
    } else if (0 < size) {
        memcpy(target, from, size);
    }
}

static inline bool peer_is_gone(struct mca_btl_base_endpoint_t *endpoint)
{
    /* Relaxed: a message that crosses with the peer's end is lost either way. */
    return OPAL_UNLIKELY(atomic_load_explicit(&endpoint->closed, memory_order_relaxed));
}

int mca_btl_epshm_ep_send(mca_btl_ep_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag)
{
    const size_t size = header_size + payload_size;
    epshm_envelope_t envelope = {.kind = EPSHM_KIND_INLINE, .tag = tag, .size = (uint16_t) size};
    uint64_t position;

    if (peer_is_gone(endpoint)) {
        return OPAL_ERR_UNREACH;
    }
    if (size > EPSHM_INLINE_MAX) {
        return send_buffered((mca_btl_epshm_module_t *) module, endpoint, header, header_size,
                             payload, payload_size, tag);
    }
    if (OPAL_UNLIKELY(!epshm_ring_claim(&endpoint->ring,
                                        epshm_ring_cells_for(sizeof(envelope) + size),
                                        &position))) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    if (sizeof(envelope) + size <= EPSHM_CELL_PAYLOAD) {
        unsigned char *data = epshm_ring_cell(&endpoint->ring, position)->data;

        memcpy(data, &envelope, sizeof(envelope));
        copy_small(data + sizeof(envelope), header, header_size);
        copy_small(data + sizeof(envelope) + header_size, payload, payload_size);
    } else {
        epshm_ring_write(&endpoint->ring, position, 0, &envelope, sizeof(envelope));
        epshm_ring_write(&endpoint->ring, position, sizeof(envelope), header, header_size);
        epshm_ring_write(&endpoint->ring, position, sizeof(envelope) + header_size, payload,
                         payload_size);
    }
    epshm_ring_publish(&endpoint->ring, position);
    return OPAL_SUCCESS;
}

/** Pack up to *size bytes behind what the fragment holds already. */
static int pack(struct opal_convertor_t *convertor, unsigned char *target, size_t *size)
{
    struct iovec iov = {.iov_base = (IOVBASE_TYPE *) target, .iov_len = *size};
    uint32_t iov_count = 1;
    int rc = opal_convertor_pack(convertor, &iov, &iov_count, size);

    return 0 > rc ? rc : OPAL_SUCCESS;
}

int mca_btl_epshm_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor)
{
    mca_btl_base_descriptor_t *frag;
    size_t packed = payload_size;
    int rc;

    if (0 == payload_size) {
        rc = mca_btl_epshm_ep_send((mca_btl_ep_module_t *) btl, endpoint, header, header_size,
                                   NULL, 0, tag);
        if (OPAL_SUCCESS != rc && NULL != descriptor) {
            *descriptor = mca_btl_epshm_alloc(btl, endpoint, order, header_size, flags);
        }
        return rc;
    }
    frag = mca_btl_epshm_prepare_src(btl, endpoint, convertor, order, header_size, &packed, flags);
    if (NULL == frag) {
        if (NULL != descriptor) {
            *descriptor = NULL;
        }
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    memcpy(frag->des_segments->seg_addr.pval, header, header_size);
    rc = mca_btl_epshm_send(btl, endpoint, frag, tag);
    if (0 > rc) {
        if (NULL != descriptor) {
            *descriptor = frag;
        } else {
            mca_btl_epshm_free(btl, frag);
        }
        return rc;
    }
    return OPAL_SUCCESS;
}

mca_btl_base_descriptor_t *mca_btl_epshm_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               uint8_t order, size_t size, uint32_t flags)
{
    mca_btl_epshm_frag_t *frag;

    (void) endpoint;
    if (size > mca_btl_epshm_component.max_send_size) {
        return NULL;
    }
    frag = mca_btl_epshm_frag_get(((mca_btl_epshm_module_t *) btl)->pool, size);
    if (NULL == frag) {
        return NULL;
    }
    frag->base.order = order;
    frag->base.des_flags = flags;
    frag->base.des_cbfunc = NULL;
    return &frag->base;
}

int mca_btl_epshm_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor)
{
    (void) btl;
    mca_btl_epshm_frag_free((mca_btl_epshm_frag_t *) descriptor);
    return OPAL_SUCCESS;
}

mca_btl_base_descriptor_t *mca_btl_epshm_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor,
                                                     uint8_t order, size_t reserve, size_t *size,
                                                     uint32_t flags)
{
    mca_btl_base_descriptor_t *descriptor;
    size_t total = reserve + *size;

    if (total > mca_btl_epshm_component.max_send_size) {
        total = mca_btl_epshm_component.max_send_size;
        *size = total - reserve;
    }
    descriptor = mca_btl_epshm_alloc(btl, endpoint, order, total, flags);
    if (NULL == descriptor) {
        return NULL;
    }
    if (OPAL_SUCCESS
        != pack(convertor, (unsigned char *) descriptor->des_segments->seg_addr.pval + reserve,
                size)) {
        mca_btl_epshm_free(btl, descriptor);
        return NULL;
    }
    descriptor->des_segments->seg_len = reserve + *size;
    return descriptor;
}

int mca_btl_epshm_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
    /* Read before the peer gets it: it may be back in the pool at once. */
    mca_btl_base_completion_fn_t callback = descriptor->des_cbfunc;
    const bool call = NULL != callback
                      && 0 != (descriptor->des_flags & MCA_BTL_DES_SEND_ALWAYS_CALLBACK);
    int rc;

    if (peer_is_gone(endpoint)) {
        return OPAL_ERR_UNREACH;
    }
    rc = push_frag(endpoint, (mca_btl_epshm_frag_t *) descriptor, tag);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    if (call) {
        callback(btl, endpoint, descriptor, OPAL_SUCCESS);
    }
    return 1;
}
