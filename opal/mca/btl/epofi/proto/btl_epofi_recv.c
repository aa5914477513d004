/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receiving: buffers are kept posted; what arrives in one is checked, handed to the owner of its
 * tag in place, and the buffer is posted again.
 *
 * Tests: unit/test_epofi, unit/test_epofi_pair, flood, fuzz/epofi,
 * random_traffic (narrow_busy)
 */

#include "opal_config.h"

#include "../object/object.h"
#include "../base/base.h"
#include "btl_epofi_liveness.h"
#include "btl_epofi_discard.h"
#include "btl_epofi_recv.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <stdlib.h>
#include <string.h>

/** So many times its receive buffers a module may have when all of them are held. */
#define EPOFI_RECVS_MOST 16

/** A receive failed.  The sender of its message is not known; the buffer is posted again. */
static void say_failed(const mca_btl_epofi_module_t *module, int error, const char *detail)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!module->closing && mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("receive failed", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, fi_strerror(error), detail);
    }
}

static void recv_post(mca_btl_epofi_module_t *module, mca_btl_epofi_recv_t *recv)
{
    ssize_t result = fi_recv(module->fi.ep, recv->buffer, module->recv_size, recv->desc,
                             FI_ADDR_UNSPEC, &recv->op.context);

    if (OPAL_LIKELY(0 == result)) {
        module->recv_last = recv;
        ++module->recv_posts;
    } else {
        recv->next = module->unposted;
        module->unposted = recv;
        if (OPAL_UNLIKELY(-FI_EAGAIN != result)) {
            say_failed(module, (int) -result, "a receive buffer could not be posted");
        }
    }
}

void mca_btl_epofi_recv_repost(mca_btl_epofi_module_t *module)
{
    mca_btl_epofi_recv_t *list = module->unposted;

    module->unposted = NULL;
    while (NULL != list) {
        mca_btl_epofi_recv_t *next = list->next;

        recv_post(module, list);
        list = next;
    }
}

/** Hand a message, or one of a packet, to the owner of its tag.  @return false: there is none */
static inline bool hand_on(mca_btl_epofi_module_t *module, const mca_btl_epofi_pair_t *pair,
                           mca_btl_base_tag_t tag, unsigned char *data, size_t length)
{
    const mca_btl_active_message_callback_t *callback;
    mca_btl_base_segment_t segment;
    mca_btl_base_receive_descriptor_t message;

    if (OPAL_UNLIKELY(MCA_BTL_TAG_MAX <= tag
                      || NULL == mca_btl_base_active_message_trigger[tag].cbfunc)) {
        return false;
    }
    callback = &mca_btl_base_active_message_trigger[tag];
    segment.seg_addr.pval = data;
    segment.seg_len = length;
    module->super.ep_source = pair->id;
    message.endpoint = pair->endpoint;
    message.des_segments = &segment;
    message.des_segment_count = 1;
    message.tag = tag;
    message.cbdata = callback->cbdata;
    callback->cbfunc(&module->super.super, &message);
    return true;
}

/** Take a packet apart, where it lies.  Contents that make no sense are a loss, of which both sides
 * learn: a receive may wait for the message. */
static void deliver_packet(mca_btl_epofi_module_t *module, mca_btl_epofi_pair_t *pair,
                           unsigned char *data, size_t size)
{
    static const uint8_t zero[3];
    mca_btl_epofi_part_t part;
    size_t at = 0;

    do {
        if (OPAL_UNLIKELY(sizeof(part) > size - at)) {
            break;
        }
        memcpy(&part, data + at, sizeof(part));
        if (OPAL_UNLIKELY(part.length > size - at
                          || mca_btl_epofi_part_size(part.length) > size - at
                          || 0 != memcmp(part.zero, zero, sizeof(zero)))) {
            break;
        }
        if (OPAL_UNLIKELY(!hand_on(module, pair, part.tag, data + at + sizeof(part),
                                   part.length))) {
            mca_btl_epofi_drop(module, "nobody has registered for its tag");
        }
        at += mca_btl_epofi_part_size(part.length);
        if (at == size) {
            return;
        }
    } while (true);
    mca_btl_epofi_drop(module, "it is not made of the messages that it says");
    pair->expected = 0;
    mca_btl_epofi_pair_lose(module, pair, "messages of it are lost: a packet makes no sense");
}

/** Hand a message to the owner of its tag.  All of it came off the wire: nothing is used before it
 * has been checked. */
static void recv_deliver(mca_btl_epofi_module_t *module, unsigned char *buffer, size_t size)
{
    mca_btl_epofi_wire_t wire;
    mca_btl_epofi_pair_t *pair;

    if (OPAL_UNLIKELY(sizeof(wire) > size)) {
        mca_btl_epofi_drop(module, "it is too short");
        return;
    }
    memcpy(&wire, buffer, sizeof(wire));
    if (OPAL_UNLIKELY(EPOFI_WIRE_MAGIC != wire.magic || EPOFI_WIRE_VERSION != wire.version)) {
        mca_btl_epofi_drop(module, "it is of another protocol, version or byte order");
        return;
    }
    if (OPAL_UNLIKELY(size - sizeof(wire) != wire.length)) {
        mca_btl_epofi_drop(module, "its length is not what it says");
        return;
    }
    /* Before anything else happens: does the sender belong to the job, and is this its next
     * message? Comparing the proof takes the same time whatever is in it: it is one instruction. */
    pair = mca_btl_epofi_pair_find(module, wire.sender);
    if (OPAL_UNLIKELY(NULL == pair || pair->proof != wire.proof)) {
        pair = mca_btl_epofi_pair_meet(module, &wire);
        if (NULL == pair) {
            return;
        }
    }
    if (OPAL_UNLIKELY(pair->expected != wire.sequence)) {
        mca_btl_epofi_pair_discard(module, pair, &wire);
        return;
    }
    ++pair->expected;
    if (EPOFI_TAG_PACKET == wire.tag) {
        deliver_packet(module, pair, buffer + sizeof(wire), wire.length);
        return;
    }
    if (OPAL_UNLIKELY(!hand_on(module, pair, wire.tag, buffer + sizeof(wire), wire.length))
        && !mca_btl_epofi_liveness_arrived(module, pair, wire.tag, buffer + sizeof(wire),
                                           wire.length)) {
        mca_btl_epofi_drop(module, "nobody has registered for its tag");
    }
}

static void recv_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op, size_t length,
                          int status)
{
    mca_btl_epofi_recv_t *recv = EPOFI_CONTAINER(op, mca_btl_epofi_recv_t, op);

    if (OPAL_UNLIKELY(OPAL_SUCCESS != status && FI_ECANCELED == module->error
                      && recv == module->recv_probed)) {
        module->recv_probed = NULL; /* it waited */
    } else if (OPAL_UNLIKELY(OPAL_SUCCESS != status)) {
        /* A peer that vanished in the middle of a message, or a message longer than ours are. */
        ++module->dropped;
        say_failed(module, module->error, module->error_detail);
    } else if (OPAL_UNLIKELY(module->closing)) {
        ++module->dropped;
    } else {
        recv_deliver(module, recv->buffer, length);
    }
    recv_post(module, recv);
}

/** Make count receive buffers and post them. */
static int recvs_add(mca_btl_epofi_module_t *module, unsigned int count)
{
    mca_btl_epofi_recvs_t *recvs = calloc(1, sizeof(*recvs) + count * sizeof(recvs->recv[0]));
    size_t stride;
    void *memory;

    if (NULL == recvs) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    memory = mca_btl_epofi_buffers_alloc(count, module->recv_size, &stride);
    if (NULL == memory) {
        goto err_free_recvs;
    }
    recvs->memory = memory;
    if (module->fabric->mr_local
        && OPAL_SUCCESS
               != mca_btl_epofi_mr_open(module, memory, count * stride, FI_RECV, &recvs->mr)) {
        goto err_free_memory;
    }
    recvs->next = module->recvs;
    module->recvs = recvs;
    module->recv_count += count;
    for (unsigned int i = 0; i < count; ++i) {
        mca_btl_epofi_recv_t *recv = &recvs->recv[i];

        recv->op.complete = recv_complete;
        recv->buffer = recvs->memory + i * stride;
        recv->desc = NULL == recvs->mr ? NULL : fi_mr_desc(recvs->mr);
        recv_post(module, recv);
    }
    return OPAL_SUCCESS;

err_free_memory:
    free(memory);
err_free_recvs:
    free(recvs);
    return OPAL_ERR_OUT_OF_RESOURCE;
}

int mca_btl_epofi_recv_start(mca_btl_epofi_module_t *module)
{
    module->recv_size = sizeof(mca_btl_epofi_wire_t) + module->max_pool.size;
    return recvs_add(module, mca_btl_epofi_component.recv_buffers);
}

/** No receive waits: all are being filled, and nothing has come of it since the last look. */
static void recv_held(mca_btl_epofi_module_t *module)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const unsigned int count = module->recv_count;
    const size_t most = module->fabric->info->rx_attr->size;
    unsigned int more = mca_btl_epofi_component.recv_buffers;

    if (count + more > most || count >= EPOFI_RECVS_MOST * more
        || OPAL_SUCCESS != recvs_add(module, more)) {
        more = 0;
    }
    if (mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("receive buffers held", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, count, more);
    }
}

/** Nanoseconds between two looks: so long half a message may hold the last buffer unnoticed. */
#define WATCH_NS (UINT64_C(1) * 1000000000)

void mca_btl_epofi_recv_watch(mca_btl_epofi_module_t *module)
{
    const uint64_t now = mca_btl_epofi_now();

    if (!module->fabric->recv_watched || module->closing || now - module->watch_ns < WATCH_NS) {
        return;
    }
    module->watch_ns = now;
    if (NULL != module->recv_probed) {
        /* It has not come back, and nothing was posted behind it: whatever was, is being filled. */
        if (module->recv_probed_posts == module->recv_posts) {
            recv_held(module);
        }
        if (NULL == module->fi.member) {
            module->recv_probed = NULL;
        } /* of a context that is shared it still comes back, when it is next free */
        return;
    }
    /* The last one in the queue is asked to come back, which it does in the next progress if it
     * waits.  It is posted again then. */
    module->recv_probed = module->recv_last;
    module->recv_probed_posts = module->recv_posts;
    if (NULL != module->recv_last) {
        (void) fi_cancel(&module->fi.ep->fid, &module->recv_last->op.context);
    }
}

void mca_btl_epofi_recv_stop(mca_btl_epofi_module_t *module)
{
    while (NULL != module->recvs) {
        mca_btl_epofi_recvs_t *next = module->recvs->next;

        free(module->recvs->memory);
        free(module->recvs);
        module->recvs = next;
    }
}
