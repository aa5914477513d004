/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Everything that puts a message into a peer's receive queue, but for zero-copy sends (btl_epshm_zcopy.c).
 *
 * Fast path: up to EPSHM_INLINE_MAX bytes go into the cells of an SPSC ring.  Budget: one copy, one
 * release store; no atomic read-modify-write, no allocation, no lock.
 *
 * Tests: unit/test_epshm_spsc_rings, p2p_order, flood
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_types.h"

#include "opal/mca/common/ep/common_ep_prepare.h"

/** Messages in a row, without looking for some, that make a stream. */
#define EPSHM_BURST 4

/**
 * Let what has been written reach memory before the cell that the peer looks at.
 *
 * Not for order, which a release store gives, but for speed.  A core that waits for lines to write
 * to asks for the line of the cell ahead of time; the peer, which polls it, takes it back, and it
 * has to be fetched a second time when its turn comes.  64 and 256 bytes took 9 % longer without
 * it, on cores 100 ns apart.  In a stream the peer does not poll, and no thread waits.
 */
static inline void drain_stores(const mca_btl_epshm_module_t *module)
{
#if defined(__x86_64__)
    if (EPSHM_BURST >= module->burst) {
        __builtin_ia32_sfence();
    }
#else
    (void) module;
#endif
}

/** Hand a fragment of size bytes over to the peer; it comes back through its pool. */
static int push_frag(mca_btl_epshm_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                     mca_btl_epshm_frag_t *frag, size_t size, mca_btl_base_tag_t tag)
{
    const epshm_envelope_t envelope = {.kind = EPSHM_KIND_FRAG, .tag = tag};
    epshm_place_t *place = mca_btl_epshm_place(module, endpoint);
    uint64_t position;
    epshm_cell_t *cell;

    if (endpoint == place->recv_queue || mca_btl_epshm_spsc_consider(module, endpoint)) {
        const epshm_spsc_mark_t mark = {.kind = EPSHM_KIND_FRAG, .tag = tag, .size = sizeof(frag)};

        if (!epshm_spsc_has_room(&place->writer, 1)) {
            return OPAL_ERR_OUT_OF_RESOURCE;
        }
        drain_stores(module);
        epshm_count_other(&module->other, 1, size);
        memcpy(epshm_spsc_cell(&place->writer, 0)->data, &frag, sizeof(frag));
        epshm_spsc_publish(&place->writer, 1, mark);
        ++module->burst;
        return OPAL_SUCCESS;
    }
    if (!epshm_ring_claim(&endpoint->ring, 1, &position)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    epshm_count_other(&module->other, 0, size); /* no cells of an SPSC ring */
    cell = epshm_ring_cell(&endpoint->ring, position);
    memcpy(cell->data, &envelope, sizeof(envelope));
    memcpy(cell->data + sizeof(envelope), &frag, sizeof(frag));
    epshm_ring_publish(&endpoint->ring, position);
    return OPAL_SUCCESS;
}

static inline bool peer_is_gone(struct mca_btl_base_endpoint_t *endpoint)
{
    /* Relaxed: a message that crosses with the peer's end is lost either way. */
    return OPAL_UNLIKELY(atomic_load_explicit(&endpoint->closed, memory_order_relaxed));
}

/** Write all of a message in pieces but what goes into the first cell. */
static void write_behind_first(epshm_spsc_writer_t *writer, const unsigned char *header,
                               size_t header_size, const unsigned char *payload,
                               size_t payload_size)
{
    const size_t in_first = header_size < EPSHM_SPSC_PAYLOAD ? EPSHM_SPSC_PAYLOAD - header_size : 0;

    if (EPSHM_SPSC_PAYLOAD < header_size) {
        epshm_spsc_write(writer, EPSHM_SPSC_PAYLOAD, header + EPSHM_SPSC_PAYLOAD,
                         header_size - EPSHM_SPSC_PAYLOAD);
    }
    if (in_first < payload_size) {
        epshm_spsc_write(writer, header_size + in_first, payload + in_first,
                         payload_size - in_first);
    }
}

/** The most bytes of a stream's messages that go in the cells behind a bare header, two cells: with
 * more there would be more lines than beside them.  For a single message one cell is the best:
 * where a line takes 210 ns from core to core 32 bytes took 0.40 us in two, 0.30 beside. */
#define EPSHM_CELLS_BEST (2 * EPSHM_SPSC_PAYLOAD - EPSHM_SHORT_HEADER + sizeof(uint64_t))

/** A message with a bare header: that in a cell, the payload in one piece beside it.  256 bytes
 * took 0.11 instead of 0.14 us so, on cores 50 ns apart.
 * @return OPAL_SUCCESS, OPAL_ERR_OUT_OF_RESOURCE; OPAL_ERR_NOT_AVAILABLE: no memory for it */
static int send_out_of_line(mca_btl_epshm_module_t *module, epshm_spsc_writer_t *writer,
                            const unsigned char *header, const unsigned char *payload,
                            size_t payload_size)
{
    uint64_t first;
    const uint64_t count = epshm_spsc_cells_out_of_line(writer->mask, writer->tail, payload_size,
                                                        &first);

    if (OPAL_UNLIKELY(NULL == writer->area) && !epshm_spsc_make_area(writer)) {
        return OPAL_ERR_NOT_AVAILABLE;
    }
    if (!epshm_spsc_has_room(writer, count)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    epshm_count_other(&module->other, count, EPSHM_SHORT_HEADER + payload_size);
    memcpy(epshm_spsc_out_of_line(writer, first), payload, payload_size);
    epshm_spsc_continue(writer, count);
    drain_stores(module);
    memcpy(epshm_spsc_cell(writer, 0)->data, header + sizeof(uint64_t),
           EPSHM_SHORT_HEADER - sizeof(uint64_t));
    epshm_spsc_publish(writer, count,
                       (epshm_spsc_mark_t){.kind = EPSHM_KIND_BESIDE,
                                           .tag = MCA_BTL_EP_TAG,
                                           .size = (uint16_t) payload_size});
    ++module->burst;
    return OPAL_SUCCESS;
}

/** A message of any kind and size in the cells of an SPSC ring. */
static __attribute__((noinline)) int send_cells(mca_btl_epshm_module_t *module,
                                                epshm_spsc_writer_t *writer, bool bare,
                                                const unsigned char *header, size_t header_size,
                                                const unsigned char *payload, size_t payload_size,
                                                mca_btl_base_tag_t tag)
{
    const size_t size = header_size + payload_size - (bare ? sizeof(uint64_t) : 0);
    const uint64_t count = epshm_spsc_cells_for(size);
    size_t left;

    if (bare && (EPSHM_CELLS_BEST < payload_size || EPSHM_BURST >= module->burst)) {
        const int rc = send_out_of_line(module, writer, header, payload, payload_size);

        if (OPAL_LIKELY(OPAL_ERR_NOT_AVAILABLE != rc)) {
            return rc;
        }
    }
    if (!epshm_spsc_has_room(writer, count)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    epshm_count_other(&module->other, count, header_size + payload_size);
    if (bare) {
        header += sizeof(uint64_t);
        header_size -= sizeof(uint64_t);
    }
    if (1 < count) {
        write_behind_first(writer, header, header_size, payload, payload_size);
        epshm_spsc_continue(writer, count);
        drain_stores(module);
    }
    left = header_size < EPSHM_SPSC_PAYLOAD ? header_size : EPSHM_SPSC_PAYLOAD;
    epshm_spsc_write(writer, 0, header, left);
    left = EPSHM_SPSC_PAYLOAD - left;
    epshm_spsc_write(writer, EPSHM_SPSC_PAYLOAD - left, payload,
                     left < payload_size ? left : payload_size);
    epshm_spsc_publish(writer, count,
                       (epshm_spsc_mark_t){.kind = bare ? EPSHM_KIND_BARE : EPSHM_KIND_INLINE,
                                           .tag = tag,
                                           .size = (uint16_t) size});
    ++module->burst;
    return OPAL_SUCCESS;
}

/** Streams of messages of more bytes are faster in buffers, of which there are more than lines
 * beside an SPSC ring: 14 and 24 M/s of 512 bytes in buffers and beside, 10.6 and 9.0 of 1536. */
#define EPSHM_STREAM_BESIDE 512

/** May a short message go beside the cells? */
static inline bool goes_beside(const mca_btl_epshm_module_t *module, const void *header,
                               size_t header_size, size_t payload_size, mca_btl_base_tag_t tag)
{
    return epshm_is_bare(&module->super, header, header_size, tag)
           && (EPSHM_BURST < module->burst ? EPSHM_STREAM_BESIDE : EPSHM_SPSC_OUT_OF_LINE_MAX)
                  >= payload_size;
}

/** More than the cells of the shared ring take: in a buffer, but for what may go beside the cells,
 * and a single message that is not much longer. */
static __attribute__((noinline)) int send_long(mca_btl_epshm_module_t *module,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               const void *header, size_t header_size,
                                               const void *payload, size_t payload_size,
                                               mca_btl_base_tag_t tag)
{
    epshm_place_t *place = mca_btl_epshm_place(module, endpoint);
    mca_btl_epshm_frag_t *frag;
    int rc;

    if (endpoint == place->recv_queue
        && goes_beside(module, header, header_size, payload_size, tag)) {
        rc = send_out_of_line(module, &place->writer, header, payload, payload_size);
        if (OPAL_LIKELY(OPAL_ERR_NOT_AVAILABLE != rc)) {
            return rc;
        }
    }
    if (endpoint == place->recv_queue && EPSHM_BURST >= module->burst
        && EPSHM_SPSC_MAX >= header_size + payload_size) {
        return send_cells(module, &place->writer, false, header, header_size, payload, payload_size,
                          tag);
    }
    frag = mca_btl_epshm_frag_get(module->pool, endpoint, header_size + payload_size);
    if (OPAL_UNLIKELY(NULL == frag)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    memcpy(frag->data, header, header_size);
    if (0 < payload_size) { /* one from the pending queue is all header */
        memcpy(frag->data + header_size, payload, payload_size);
    }
    rc = push_frag(module, endpoint, frag, header_size + payload_size, tag);
    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        mca_btl_epshm_frag_free(frag);
    }
    return rc;
}

/** A short message through an SPSC ring. */
static inline int send_spsc(mca_btl_epshm_module_t *module, epshm_spsc_writer_t *writer,
                            const void *header, size_t header_size, const void *payload,
                            size_t payload_size, mca_btl_base_tag_t tag)
{
    const unsigned char *from = header;
    const bool bare = epshm_is_bare(&module->super, header, header_size, tag);
    uint64_t second, third;
    unsigned char *data;

    if (OPAL_UNLIKELY(!bare || sizeof(uint64_t) < payload_size)) {
        return send_cells(module, writer, bare, header, header_size, payload, payload_size, tag);
    }
    if (OPAL_UNLIKELY(!epshm_spsc_has_room(writer, 1))) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    data = epshm_spsc_cell(writer, 0)->data;
    memcpy(&second, from + 8, sizeof(second));
    __asm__("" : "+r"(second)); /* or the compiler makes one load of two */
    memcpy(&third, from + 16, sizeof(third));
    memcpy(data, &second, sizeof(second));
    memcpy(data + 8, &third, sizeof(third));
    if (OPAL_LIKELY(sizeof(uint64_t) == payload_size)) {
        memcpy(data + 16, payload, sizeof(uint64_t));
    } else {
        epshm_count_other(&module->other, 1, EPSHM_SHORT_HEADER + payload_size);
        if (0 < payload_size) {
            memcpy(data + 16, payload, payload_size);
        }
    }
    epshm_spsc_publish(writer, 1,
                       (epshm_spsc_mark_t){.kind = EPSHM_KIND_BARE,
                                           .tag = MCA_BTL_EP_TAG,
                                           .size = (uint16_t) (16 + payload_size)});
    if (EPSHM_BURST < ++module->burst) {
        epshm_spsc_prefetch(writer);
    }
    return OPAL_SUCCESS;
}

/** A short message through the ring that all senders share. */
static __attribute__((noinline)) int send_shared(mca_btl_epshm_module_t *module,
                                                 struct mca_btl_base_endpoint_t *endpoint,
                                                 const void *header, size_t header_size,
                                                 const void *payload, size_t payload_size,
                                                 mca_btl_base_tag_t tag)
{
    const size_t size = header_size + payload_size;
    epshm_envelope_t envelope = {.kind = EPSHM_KIND_INLINE, .tag = tag, .size = (uint16_t) size};
    uint64_t position;

    if (OPAL_UNLIKELY(!epshm_ring_claim(&endpoint->ring,
                                        epshm_ring_cells_for(sizeof(envelope) + size),
                                        &position))) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    epshm_count_other(&module->other, 0, size); /* no cells of an SPSC ring */
    if (sizeof(envelope) + size <= EPSHM_CELL_PAYLOAD) {
        unsigned char *data = epshm_ring_cell(&endpoint->ring, position)->data;

        memcpy(data, &envelope, sizeof(envelope));
        epshm_copy_small(data + sizeof(envelope), header, header_size);
        epshm_copy_small(data + sizeof(envelope) + header_size, payload, payload_size);
    } else {
        epshm_ring_write(&endpoint->ring, position, 0, &envelope, sizeof(envelope));
        epshm_ring_write(&endpoint->ring, position, sizeof(envelope), header, header_size);
        epshm_ring_write(&endpoint->ring, position, sizeof(envelope) + header_size, payload,
                         payload_size);
    }
    epshm_ring_publish(&endpoint->ring, position);
    return OPAL_SUCCESS;
}

int mca_btl_epshm_ep_send(mca_btl_ep_module_t *ep_module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag)
{
    mca_btl_epshm_module_t *module = (mca_btl_epshm_module_t *) ep_module;
    epshm_place_t *place = mca_btl_epshm_place(module, endpoint);

    if (peer_is_gone(endpoint)) {
        return OPAL_ERR_UNREACH;
    }
    if (OPAL_UNLIKELY(EPSHM_INLINE_MAX < header_size + payload_size)) {
        return send_long(module, endpoint, header, header_size, payload, payload_size, tag);
    }
    if (OPAL_LIKELY(endpoint == place->recv_queue)
        || mca_btl_epshm_spsc_consider(module, endpoint)) {
        return send_spsc(module, &place->writer, header, header_size, payload, payload_size, tag);
    }
    return send_shared(module, endpoint, header, header_size, payload, payload_size, tag);
}

mca_btl_base_descriptor_t *mca_btl_epshm_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint,
                                               uint8_t order, size_t size, uint32_t flags)
{
    mca_btl_epshm_frag_t *frag;

    if (size > mca_btl_epshm_component.max_send_size) {
        return NULL;
    }
    frag = mca_btl_epshm_frag_get(((mca_btl_epshm_module_t *) btl)->pool, endpoint, size);
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
    return mca_btl_ep_prepare_src(btl, endpoint, convertor, order,
                                  mca_btl_epshm_component.max_send_size, reserve, size, flags);
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
    rc = push_frag((mca_btl_epshm_module_t *) btl, endpoint, (mca_btl_epshm_frag_t *) descriptor,
                   descriptor->des_segments->seg_len, tag);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    if (call) {
        callback(btl, endpoint, descriptor, OPAL_SUCCESS);
    }
    return 1;
}
