/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sending to another process of the node.
 *
 * Fast path: what fits in one cell.  Budget: the cell, a release store; no lock, no atomic
 * read-modify-write, nothing of the receiver's but its head once a lap.
 *
 * Tests: unit/test_epshm_node, unit/test_epshm_short, p2p_order, flood
 */

#include "opal_config.h"

#include "../base/base.h"
#include "btl_epshm_node.h"

#include "opal/mca/common/ep/common_ep_prepare.h"

OBJ_CLASS_INSTANCE(epshm_node_frag_t, mca_btl_base_descriptor_t, NULL, NULL);

/** May count cells be written?  Returns as epshm_pipe_refresh. */
static inline int node_send_room(epshm_node_peer_t *peer, uint64_t count)
{
    if (OPAL_LIKELY(peer->out.tail + count <= peer->out.limit)) {
        return EPSHM_PIPE_MESSAGE;
    }
    return NULL != peer->out.pipe ? epshm_pipe_refresh(&peer->out, count) : EPSHM_PIPE_NOTHING;
}

/** A message to a peer without a pipe. */
static int send_packet(epshm_node_peer_t *peer, const void *header, size_t header_size,
                       const void *payload, size_t payload_size, mca_btl_base_tag_t tag)
{
    const size_t size = header_size + payload_size;
    epshm_node_packet_t *packet;
    unsigned char *data;
    int rc;

    if (mca_btl_epshm_node_want_pipe(peer)) {
        return mca_btl_epshm_node_ep_send(peer->module, (struct mca_btl_base_endpoint_t *) peer,
                                          header, header_size, payload, payload_size, tag);
    }
    rc = mca_btl_epshm_node_packet_get(peer, size, &packet);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    data = epshm_packet_data(packet->packet);
    memcpy(data, header, header_size);
    if (0 < payload_size) {
        memcpy(data + header_size, payload, payload_size);
    }
    rc = mca_btl_epshm_node_packet_push(packet, peer, EPSHM_PACKET_MESSAGE, tag, size);
    if (OPAL_SUCCESS == rc) {
        epshm_count_other(&peer->other, 0, size);
    }
    return rc;
}

/** There is no room in the pipe, or there is no pipe. */
static __attribute__((noinline)) int send_otherwise(epshm_node_peer_t *peer, int why,
                                                    const void *header, size_t header_size,
                                                    const void *payload, size_t payload_size,
                                                    mca_btl_base_tag_t tag)
{
    return NULL != peer->out.pipe
               ? mca_btl_epshm_node_full(peer, why)
               : send_packet(peer, header, header_size, payload, payload_size, tag);
}

/** A message in several cells. */
static int send_cells(epshm_node_peer_t *peer, const void *header, size_t header_size,
                      const void *payload, size_t payload_size, mca_btl_base_tag_t tag)
{
    const size_t size = header_size + payload_size;
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_INLINE,
                                            .tag = tag,
                                            .size = (uint32_t) size};
    const uint64_t cells = epshm_pipe_cells_for(size);
    int rc = node_send_room(peer, cells);

    if (OPAL_UNLIKELY(EPSHM_PIPE_MESSAGE != rc)) {
        return mca_btl_epshm_node_full(peer, rc);
    }
    epshm_count_other(&peer->other, cells, size);
    epshm_pipe_write(&peer->out, 0, &envelope, sizeof(envelope));
    epshm_pipe_write(&peer->out, sizeof(envelope), header, header_size);
    epshm_pipe_write(&peer->out, sizeof(envelope) + header_size, payload, payload_size);
    epshm_pipe_publish(&peer->out, cells);
    return OPAL_SUCCESS;
}

/** A piece of the area, and a cell to send it with. */
static int node_send_reserve(epshm_node_module_t *module, epshm_node_peer_t *peer, size_t size,
                             uint64_t *position_p)
{
    int rc = mca_btl_epshm_node_need_area(peer);

    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_UNLIKELY(NULL != module->frag.peer)) {
        return OPAL_ERR_OUT_OF_RESOURCE; /* the caller's own fragment has to go first */
    }
    rc = node_send_room(peer, 1);
    if (OPAL_LIKELY(EPSHM_PIPE_MESSAGE == rc)) {
        rc = epshm_pipe_reserve(&peer->out, size, position_p);
    }
    return OPAL_LIKELY(EPSHM_PIPE_MESSAGE == rc) ? OPAL_SUCCESS : mca_btl_epshm_node_full(peer, rc);
}

/** A message of several cells goes faster in one piece: between cores 50 ns apart 128 bytes took
 * 0.14 us in cells and 0.12 in the area, and streams of 384 bytes 4.5 and 7.3 M/s where a line
 * takes 200 ns.  But an area is memory: it is taken for senders of many such messages. */
static inline bool prefers_area(epshm_node_peer_t *peer, bool bare, size_t size)
{
    return (bare || EPSHM_NODE_CELLS_BEST < size)
           && (NULL != peer->out.area
               || (EPSHM_NODE_AREA_AFTER < ++peer->medium && mca_btl_epshm_node_want_area(peer)));
}

static int send_area(epshm_node_module_t *module, epshm_node_peer_t *peer, bool bare,
                     const unsigned char *header, size_t header_size, const void *payload,
                     size_t payload_size, mca_btl_base_tag_t tag)
{
    const size_t size = (bare ? 0 : header_size) + payload_size;
    unsigned char *target;
    uint64_t position = 0; /* gcc 16 takes it for unset */
    int rc = node_send_reserve(module, peer, size, &position);

    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    epshm_count_other(&peer->other, 1, header_size + payload_size);
    target = epshm_pipe_area_at(&peer->out, position);
    if (bare) {
        memcpy(target, payload, payload_size);
        epshm_pipe_send_apart(&peer->out, position, header + sizeof(uint64_t),
                              (uint32_t) payload_size, tag);
        return OPAL_SUCCESS;
    }
    memcpy(target, header, header_size);
    if (0 < payload_size) { /* one from the pending queue is all header */
        memcpy(target + header_size, payload, payload_size);
    }
    epshm_pipe_send_bulk(&peer->out, position, (uint32_t) size, tag);
    return OPAL_SUCCESS;
}

/** All that does not fit in one cell. */
static __attribute__((noinline)) int send_long(epshm_node_module_t *module, epshm_node_peer_t *peer,
                                               const void *header, size_t header_size,
                                               const void *payload, size_t payload_size,
                                               mca_btl_base_tag_t tag)
{
    const size_t size = header_size + payload_size;
    const bool bare = epshm_is_bare(&module->super, header, header_size, tag);
    const bool in_cells = EPSHM_PIPE_INLINE_MAX >= size;
    int rc;

    if (OPAL_UNLIKELY(NULL == peer->out.pipe)) {
        return send_packet(peer, header, header_size, payload, payload_size, tag);
    }
    if (!in_cells || prefers_area(peer, bare, size)) {
        rc = send_area(module, peer, bare, header, header_size, payload, payload_size, tag);
        /* What the area has no room for goes in the cells. */
        if (OPAL_LIKELY(!in_cells || OPAL_ERR_OUT_OF_RESOURCE != rc)) {
            return rc;
        }
    }
    return send_cells(peer, header, header_size, payload, payload_size, tag);
}

/** A short message with a bare header. */
static inline int send_bare(epshm_node_peer_t *peer, const unsigned char *header,
                            const void *payload, size_t payload_size, mca_btl_base_tag_t tag)
{
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_BARE,
                                            .tag = tag,
                                            .size = (uint32_t) payload_size};
    const int rc = node_send_room(peer, 1);
    unsigned char *data;

    if (OPAL_UNLIKELY(EPSHM_PIPE_MESSAGE != rc)) {
        return send_otherwise(peer, rc, header, EPSHM_SHORT_HEADER, payload, payload_size, tag);
    }
    data = epshm_pipe_out_cell(&peer->out, 0)->data;
    memcpy(data, &envelope, sizeof(envelope));
    data += sizeof(envelope);
    epshm_pipe_write_rest(data, header + sizeof(uint64_t));
    data += EPSHM_PIPE_REST;
    if (OPAL_LIKELY(sizeof(uint64_t) == payload_size)) {
        memcpy(data, payload, sizeof(uint64_t));
    } else {
        epshm_count_other(&peer->other, 1, EPSHM_SHORT_HEADER + payload_size);
        epshm_copy_small(data, payload, payload_size);
    }
    epshm_pipe_publish(&peer->out, 1);
    return OPAL_SUCCESS;
}

int mca_btl_epshm_node_ep_send(mca_btl_ep_module_t *module,
                               struct mca_btl_base_endpoint_t *endpoint, const void *header,
                               size_t header_size, const void *payload, size_t payload_size,
                               mca_btl_base_tag_t tag)
{
    epshm_node_peer_t *peer = (epshm_node_peer_t *) endpoint;
    const size_t size = header_size + payload_size;
    unsigned char *data;
    int rc;

    if (OPAL_LIKELY(EPSHM_PIPE_BARE_MAX >= payload_size
                    && epshm_is_bare(module, header, header_size, tag))) {
        return send_bare(peer, header, payload, payload_size, tag);
    }
    if (OPAL_UNLIKELY(size > EPSHM_PIPE_ONE_CELL_MAX)) {
        return send_long((epshm_node_module_t *) module, peer, header, header_size, payload,
                         payload_size, tag);
    }
    rc = node_send_room(peer, 1);
    if (OPAL_UNLIKELY(EPSHM_PIPE_MESSAGE != rc)) {
        return send_otherwise(peer, rc, header, header_size, payload, payload_size, tag);
    }
    epshm_count_other(&peer->other, 1, size);
    data = epshm_pipe_out_cell(&peer->out, 0)->data;
    memcpy(data,
           &(epshm_pipe_envelope_t){.kind = EPSHM_PIPE_INLINE, .tag = tag, .size = (uint32_t) size},
           sizeof(epshm_pipe_envelope_t));
    epshm_copy_small(data + sizeof(epshm_pipe_envelope_t), header, header_size);
    epshm_copy_small(data + sizeof(epshm_pipe_envelope_t) + header_size, payload, payload_size);
    epshm_pipe_publish(&peer->out, 1);
    return OPAL_SUCCESS;
}

/* ---- descriptors: packed in place ------------------------------------------------------------ */

/** Bytes that one descriptor may have of the size bytes that are to be sent.  For a peer that has
 * gone there is a small one, so that btl_send can say so: without any, the caller would wait for
 * room. */
static size_t node_send_largest(const mca_btl_base_module_t *btl, epshm_node_peer_t *peer,
                                size_t size)
{
    if (OPAL_UNLIKELY(NULL == peer->out.pipe && !peer->gone)) {
        return mca_btl_epshm_node_packet_most((epshm_node_module_t *) peer->module,
                                              btl->btl_max_send_size < size ? btl->btl_max_send_size
                                                                            : size);
    }
    if (OPAL_UNLIKELY(peer->gone || OPAL_SUCCESS != mca_btl_epshm_node_need_area(peer))) {
        return EPSHM_PIPE_INLINE_MAX;
    }
    return btl->btl_max_send_size < peer->out.area_size ? btl->btl_max_send_size
                                                        : peer->out.area_size;
}

/** Memory for a descriptor of size bytes.  @return as ep_send */
static int frag_place(epshm_node_module_t *module, epshm_node_peer_t *peer, size_t size)
{
    epshm_node_frag_t *frag = &module->frag;
    int rc;

    if (OPAL_UNLIKELY(NULL != frag->peer)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    frag->packet = NULL;
    if (OPAL_UNLIKELY(NULL == peer->out.pipe && !mca_btl_epshm_node_want_pipe(peer))) {
        rc = mca_btl_epshm_node_packet_get(peer, size, &frag->packet);
        frag->segment.seg_addr.pval = OPAL_SUCCESS == rc ? epshm_packet_data(frag->packet->packet)
                                                         : frag->small;
        return rc;
    }
    rc = node_send_reserve(module, peer, size, &frag->position);
    frag->segment.seg_addr.pval = OPAL_SUCCESS == rc
                                      ? epshm_pipe_area_at(&peer->out, frag->position)
                                      : frag->small;
    return rc;
}

mca_btl_base_descriptor_t *mca_btl_epshm_node_alloc(mca_btl_base_module_t *btl,
                                                    struct mca_btl_base_endpoint_t *endpoint,
                                                    uint8_t order, size_t size, uint32_t flags)
{
    epshm_node_module_t *module = (epshm_node_module_t *) btl;
    epshm_node_peer_t *peer = (epshm_node_peer_t *) endpoint;
    epshm_node_frag_t *frag = &module->frag;
    int rc = frag_place(module, peer, size);

    if (OPAL_SUCCESS != rc
        && ((OPAL_ERR_NOT_AVAILABLE != rc && OPAL_ERR_UNREACH != rc)
            || sizeof(frag->small) < size)) {
        return NULL;
    }
    frag->peer = peer;
    frag->segment.seg_len = size;
    frag->base.des_segments = &frag->segment;
    frag->base.des_segment_count = 1;
    frag->base.order = order;
    frag->base.des_flags = flags;
    frag->base.des_cbfunc = NULL;
    return &frag->base;
}

int mca_btl_epshm_node_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *descriptor)
{
    epshm_node_frag_t *frag = (epshm_node_frag_t *) descriptor;

    if (NULL != frag->packet) {
        mca_btl_epshm_node_packet_put((epshm_node_module_t *) btl, frag->packet);
        frag->packet = NULL;
    }
    frag->peer = NULL;
    return OPAL_SUCCESS;
}

mca_btl_base_descriptor_t *mca_btl_epshm_node_prepare_src(mca_btl_base_module_t *btl,
                                                          struct mca_btl_base_endpoint_t *endpoint,
                                                          struct opal_convertor_t *convertor,
                                                          uint8_t order, size_t reserve,
                                                          size_t *size, uint32_t flags)
{
    return mca_btl_ep_prepare_src(btl, endpoint, convertor, order,
                                  node_send_largest(btl, (epshm_node_peer_t *) endpoint,
                                                    reserve + *size),
                                  reserve, size, flags);
}

/** Send what has been packed.  @return as ep_send */
static int frag_send(epshm_node_frag_t *frag, epshm_node_peer_t *peer, mca_btl_base_tag_t tag)
{
    const size_t size = frag->segment.seg_len;
    int rc;

    if (OPAL_UNLIKELY(peer->gone && frag->small == frag->segment.seg_addr.pval)) {
        return OPAL_ERR_UNREACH;
    }
    if (NULL != frag->packet) {
        rc = mca_btl_epshm_node_packet_push(frag->packet, peer, EPSHM_PACKET_MESSAGE, tag, size);
        frag->packet = NULL;
        if (OPAL_SUCCESS == rc) {
            epshm_count_other(&peer->other, 0, size);
        }
        return rc;
    }
    if (OPAL_UNLIKELY(frag->small == frag->segment.seg_addr.pval)) {
        return NULL == peer->out.pipe ? send_packet(peer, frag->small, size, NULL, 0, tag)
                                      : send_cells(peer, frag->small, size, NULL, 0, tag);
    }
    rc = node_send_room(peer, 1); /* small messages may have used it up since */
    if (OPAL_UNLIKELY(EPSHM_PIPE_MESSAGE != rc)) {
        return mca_btl_epshm_node_full(peer, rc);
    }
    epshm_count_other(&peer->other, 1, size);
    epshm_pipe_send_bulk(&peer->out, frag->position, (uint32_t) size, tag);
    return OPAL_SUCCESS;
}

int mca_btl_epshm_node_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                            mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
    epshm_node_frag_t *frag = (epshm_node_frag_t *) descriptor;
    epshm_node_peer_t *peer = (epshm_node_peer_t *) endpoint;
    int rc = frag_send(frag, peer, tag);

    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    frag->peer = NULL;
    if (NULL != frag->base.des_cbfunc
        && 0 != (frag->base.des_flags & MCA_BTL_DES_SEND_ALWAYS_CALLBACK)) {
        frag->base.des_cbfunc(btl, endpoint, descriptor, OPAL_SUCCESS);
    }
    return 1;
}

int mca_btl_epshm_node_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                             struct opal_convertor_t *convertor, void *header, size_t header_size,
                             size_t payload_size, uint8_t order, uint32_t flags,
                             mca_btl_base_tag_t tag, mca_btl_base_descriptor_t **descriptor)
{
    if (0 < payload_size
        && header_size + payload_size > node_send_largest(btl, (epshm_node_peer_t *) endpoint,
                                                          header_size + payload_size)) {
        return OPAL_ERR_NOT_AVAILABLE; /* there is no memory for as much at once */
    }
    return mca_btl_epshm_sendi(btl, endpoint, convertor, header, header_size, payload_size, order,
                               flags, tag, descriptor);
}
