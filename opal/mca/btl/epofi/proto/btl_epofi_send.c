/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sending: ep_send, btl_sendi, btl_send, ep_answer.
 *
 * Up to the provider's inject size a message is put together in one small buffer and injected;
 * above it, it goes into a fragment, which the provider keeps until the completion.  The wire
 * header is always in front of the message in the same buffer, so that one provider call with one
 * buffer sends it: measured at 8 bytes over tcp, a list of three pieces costs the same as the copy.
 *
 * Injected messages ask for a completion, too.  It tells what fi_inject would keep quiet about:
 * that a message could not be delivered, and how much is still queued in the provider, which is
 * what the limit per peer and the end of an endpoint need to know.
 *
 * Budget of a small send: no allocation, no lock of ours, one provider call; or, where others are
 * under way to the same peer, a place in a packet and no call (btl_epofi_packet.c).
 *
 * Tests: unit/test_epofi, p2p_order, flood, random_traffic (narrow_busy)
 */

#include "opal_config.h"

#include "../peer/peer.h"
#include "../object/object.h"
#include "../base/base.h"
#include "btl_epofi_packet.h"
#include "btl_epofi_send.h"

#include "opal/datatype/opal_convertor.h"

#include <string.h>

/** May another operation to this peer be started? */
static inline int send_admit(const mca_btl_epofi_module_t *module,
                             struct mca_btl_base_endpoint_t *endpoint)
{
    if (OPAL_UNLIKELY(endpoint->failed)) {
        /* A new owner of the module may not know. */
        mca_btl_epofi_endpoint_fail(endpoint, 0, "-");
        return OPAL_ERR_UNREACH;
    }
    if (OPAL_UNLIKELY(endpoint->inflight >= module->peer_queue)) {
        return mca_btl_epofi_endpoint_stalled(endpoint);
    }
    return OPAL_SUCCESS;
}

/** A message that is lost cannot be made up for: the order of what follows would be wrong. */
static inline void send_check(mca_btl_epofi_module_t *module,
                              struct mca_btl_base_endpoint_t *endpoint, int status)
{
    if (OPAL_UNLIKELY(OPAL_SUCCESS != status)) {
        mca_btl_epofi_endpoint_fail(endpoint, module->error, module->error_detail);
    }
}

void mca_btl_epofi_inject_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op,
                                   size_t length, int status)
{
    struct mca_btl_base_endpoint_t *endpoint = EPOFI_CONTAINER(op, struct mca_btl_base_endpoint_t,
                                                               inject_op);

    (void) length;
    send_check(module, endpoint, status);
    mca_btl_epofi_op_ended(module, endpoint);
}

/** Inject size bytes, wire header included. */
static inline int send_inject(mca_btl_epofi_module_t *module,
                              struct mca_btl_base_endpoint_t *endpoint, void *buffer, size_t size)
{
    ssize_t result;

    if (OPAL_LIKELY(!module->fabric->wants_context)) {
        struct iovec iov = {.iov_base = buffer, .iov_len = size};
        struct fi_msg message = {
            .msg_iov = &iov,
            .iov_count = 1,
            .addr = endpoint->address,
            .context = &endpoint->inject_op.context,
        };

        result = fi_sendmsg(module->fi.ep, &message, FI_INJECT | FI_COMPLETION);
        if (OPAL_LIKELY(0 == result)) {
            mca_btl_epofi_op_started(module, endpoint);
            mca_btl_epofi_pair_sent(endpoint->pair);
            return OPAL_SUCCESS;
        }
    } else {
        /* Such a provider wants a context per operation, and we keep no state for these. */
        result = fi_inject(module->fi.ep, buffer, size, endpoint->address);
        if (OPAL_LIKELY(0 == result)) {
            endpoint->stalled_ns = 0;
            mca_btl_epofi_pair_sent(endpoint->pair);
            return OPAL_SUCCESS;
        }
    }
    module->send_refused = true;
    return mca_btl_epofi_endpoint_refused(endpoint, result);
}

/** Send a fragment whose buffer is complete; length is that behind the wire header. */
static int frag_post(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                     mca_btl_epofi_frag_t *frag, size_t length,
                     mca_btl_epofi_complete_fn_t complete)
{
    ssize_t result;

    frag->endpoint = endpoint;
    frag->op.complete = complete;
    result = fi_send(module->fi.ep, frag->buffer, sizeof(mca_btl_epofi_wire_t) + length, frag->desc,
                     endpoint->address, &frag->op.context);
    if (OPAL_LIKELY(0 == result)) {
        mca_btl_epofi_op_started(module, endpoint);
        mca_btl_epofi_pair_sent(endpoint->pair);
        return OPAL_SUCCESS;
    }
    module->send_refused = true;
    return mca_btl_epofi_endpoint_refused(endpoint, result);
}

void mca_btl_epofi_frag_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op,
                                 size_t length, int status)
{
    mca_btl_epofi_frag_t *frag = EPOFI_CONTAINER(op, mca_btl_epofi_frag_t, op);
    struct mca_btl_base_endpoint_t *endpoint = frag->endpoint;

    (void) length;
    send_check(module, endpoint, status);
    mca_btl_epofi_frag_put(frag);
    mca_btl_epofi_op_ended(module, endpoint);
}

/** Completion of a fragment that was handed out as a descriptor. */
static void descriptor_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op,
                                size_t length, int status)
{
    mca_btl_epofi_frag_t *frag = EPOFI_CONTAINER(op, mca_btl_epofi_frag_t, op);
    struct mca_btl_base_endpoint_t *endpoint = frag->endpoint;
    /* Read now: the callback may free the descriptor, and the pool may hand it out again. */
    const uint32_t flags = frag->base.des_flags;

    (void) length;
    send_check(module, endpoint, status);
    if (NULL != frag->base.des_cbfunc && !module->closing) {
        frag->base.des_cbfunc(&module->super.super, endpoint, &frag->base, status);
    }
    if (0 != (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP)) {
        mca_btl_epofi_frag_put(frag);
    }
    mca_btl_epofi_op_ended(module, endpoint);
}

/** The headers of a message, ours and the one of those above.  @return where its payload goes */
static inline unsigned char *put_headers(struct mca_btl_base_endpoint_t *endpoint,
                                         unsigned char *buffer, mca_btl_base_tag_t tag,
                                         const void *header, size_t header_size, size_t length)
{
    mca_btl_epofi_wire_init(endpoint->pair, buffer, tag, length);
    memcpy(buffer + sizeof(mca_btl_epofi_wire_t), header, header_size);
    return buffer + sizeof(mca_btl_epofi_wire_t) + header_size;
}

/** A message that is too large to inject: through a fragment. */
static int send_buffered(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                         const void *header, size_t header_size, const void *payload,
                         size_t payload_size, mca_btl_base_tag_t tag)
{
    const size_t length = header_size + payload_size;
    mca_btl_epofi_frag_t *frag;
    unsigned char *place;
    int rc;

    if (length > module->eager_pool.size) {
        return OPAL_ERR_BAD_PARAM;
    }
    frag = mca_btl_epofi_frag_get(module, length);
    if (OPAL_UNLIKELY(NULL == frag)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    place = put_headers(endpoint, frag->buffer, tag, header, header_size, length);
    if (0 < payload_size) {
        memcpy(place, payload, payload_size);
    }
    rc = frag_post(module, endpoint, frag, length, mca_btl_epofi_frag_complete);
    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        mca_btl_epofi_frag_put(frag);
    }
    return rc;
}

int mca_btl_epofi_ep_send(mca_btl_ep_module_t *ep_module, struct mca_btl_base_endpoint_t *endpoint,
                          const void *header, size_t header_size, const void *payload,
                          size_t payload_size, mca_btl_base_tag_t tag)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) ep_module;
    const size_t length = header_size + payload_size;
    unsigned char *place;
    int rc = send_admit(module, endpoint);

    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        return rc;
    }
    if (OPAL_UNLIKELY(endpoint->inflight >= endpoint->pack_after)) {
        rc = mca_btl_epofi_pack(module, endpoint, header, header_size, payload, payload_size, tag);
        if (OPAL_ERR_NOT_AVAILABLE != rc) {
            return rc;
        }
    }
    if (sizeof(mca_btl_epofi_wire_t) + length > module->inject_size) {
        return send_buffered(module, endpoint, header, header_size, payload, payload_size, tag);
    }
    place = put_headers(endpoint, module->inject_buffer, tag, header, header_size, length);
    if (0 < payload_size) {
        memcpy(place, payload, payload_size);
    }
    return send_inject(module, endpoint, module->inject_buffer,
                       sizeof(mca_btl_epofi_wire_t) + length);
}

/** sendi of data that must be packed.  The convertor is where it was if the message is not sent. */
static int send_packed(mca_btl_epofi_module_t *module, struct mca_btl_base_endpoint_t *endpoint,
                       struct opal_convertor_t *convertor, const void *header, size_t header_size,
                       size_t payload_size, mca_btl_base_tag_t tag)
{
    MCA_BTL_EP_HOLD_CANCEL();
    const size_t length = header_size + payload_size;
    size_t position = convertor->bConverted;
    size_t packed = payload_size;
    mca_btl_epofi_frag_t *frag;
    struct iovec iov;
    uint32_t iov_count = 1;
    int rc = send_admit(module, endpoint);

    if (OPAL_SUCCESS == rc) {
        rc = mca_btl_epofi_packet_send(module, endpoint);
    }
    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        return rc;
    }
    frag = mca_btl_epofi_frag_get(module, length);
    if (OPAL_UNLIKELY(NULL == frag)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    iov.iov_base = put_headers(endpoint, frag->buffer, tag, header, header_size, length);
    iov.iov_len = payload_size;
    if (0 > opal_convertor_pack(convertor, &iov, &iov_count, &packed) || packed != payload_size) {
        rc = OPAL_ERR_NOT_AVAILABLE;
    } else {
        rc = frag_post(module, endpoint, frag, length, mca_btl_epofi_frag_complete);
    }
    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        (void) opal_convertor_set_position(convertor, &position);
        mca_btl_epofi_frag_put(frag);
    }
    return rc;
}

int mca_btl_epofi_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor)
{
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;
    int rc;

    if (header_size + payload_size > module->eager_pool.size) {
        rc = OPAL_ERR_BAD_PARAM;
    } else if (0 < payload_size
               && (opal_convertor_need_buffers(convertor) || opal_convertor_on_device(convertor))) {
        rc = send_packed(module, endpoint, convertor, header, header_size, payload_size, tag);
    } else {
        void *payload = NULL;

        if (0 < payload_size) {
            opal_convertor_get_current_pointer(convertor, &payload);
        }
        rc = mca_btl_epofi_ep_send(&module->super, endpoint, header, header_size, payload,
                                   payload_size, tag);
    }
    if (OPAL_SUCCESS != rc && NULL != descriptor) {
        *descriptor = NULL;
    }
    if (OPAL_ERR_OUT_OF_RESOURCE == rc) {
        if (NULL != descriptor) {
            *descriptor = mca_btl_epofi_alloc(btl, endpoint, order, header_size + payload_size,
                                              flags);
        }
        rc = OPAL_ERR_RESOURCE_BUSY;
    }
    return rc;
}

int mca_btl_epofi_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *descriptor, mca_btl_base_tag_t tag)
{
    MCA_BTL_EP_HOLD_CANCEL();
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) btl;
    mca_btl_epofi_frag_t *frag = (mca_btl_epofi_frag_t *) descriptor;
    const size_t length = frag->segment.seg_len;
    const uint32_t flags = descriptor->des_flags;
    int rc = send_admit(module, endpoint);

    if (OPAL_SUCCESS == rc) {
        rc = mca_btl_epofi_packet_send(module, endpoint);
    }
    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        return rc;
    }
    mca_btl_epofi_wire_init(endpoint->pair, frag->buffer, tag, length);
    if (0 != (flags & MCA_BTL_DES_SEND_ALWAYS_CALLBACK)
        || sizeof(mca_btl_epofi_wire_t) + length > module->inject_size) {
        return frag_post(module, endpoint, frag, length, descriptor_complete);
    }
    rc = send_inject(module, endpoint, frag->buffer, sizeof(mca_btl_epofi_wire_t) + length);
    if (OPAL_UNLIKELY(OPAL_SUCCESS != rc)) {
        return rc;
    }
    if (0 != (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP)) {
        mca_btl_epofi_frag_put(frag);
    }
    return 1;
}

int mca_btl_epofi_ep_answer(mca_btl_ep_module_t *ep_module, const void *blob, size_t length,
                            const void *message, size_t size, mca_btl_base_tag_t tag)
{
    MCA_BTL_EP_HOLD_CANCEL();
    struct mca_btl_base_endpoint_t *endpoint;
    int rc = mca_btl_epofi_endpoint_at((mca_btl_epofi_module_t *) ep_module, blob, length,
                                       &endpoint);

    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    (void) mca_btl_epofi_ep_send(ep_module, endpoint, message, size, NULL, 0, tag);
    if (0 == endpoint->references) {
        mca_btl_epofi_endpoint_retire(endpoint);
    }
    return OPAL_SUCCESS;
}
