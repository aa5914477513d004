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
 * Receiving: buffers are kept posted; what arrives in one is checked, handed to the owner of its
 * tag in place, and the buffer is posted again.
 */

#include "opal_config.h"

#include "btl_epofi_types.h"

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_ALIGNMENT 64

/** A receive failed.  Nobody knows whose message it was; the buffer is posted again. */
static void report(const mca_btl_epofi_module_t *module, int error, const char *detail)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!module->closing && mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("receive failed", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, fi_strerror(error), detail);
    }
}

static void recv_post(mca_btl_epofi_module_t *module, mca_btl_epofi_recv_t *recv)
{
    ssize_t result = fi_recv(module->fi.ep, recv->buffer, module->recv_size, module->recv_desc,
                             FI_ADDR_UNSPEC, &recv->op.context);

    if (OPAL_UNLIKELY(0 != result)) {
        recv->next = module->unposted;
        module->unposted = recv;
        if (OPAL_UNLIKELY(-FI_EAGAIN != result)) {
            report(module, (int) -result, "a receive buffer could not be posted");
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

void mca_btl_epofi_drop(mca_btl_epofi_module_t *module, const char *why)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    ++module->dropped;
    if (!module->closing && mca_btl_epofi_first_time(&said)) {
        EPOFI_SHOW_HELP("bad message", true, opal_process_info.nodename,
                        module->fabric->info->fabric_attr->prov_name, why);
    }
}

/** Hand a message to the owner of its tag.  All of it came off the wire: nothing is used before it
 * has been checked. */
static void deliver(mca_btl_epofi_module_t *module, unsigned char *buffer, size_t size)
{
    const mca_btl_active_message_callback_t *callback;
    mca_btl_epofi_wire_t wire;
    mca_btl_epofi_pair_t *pair;
    mca_btl_base_segment_t segment;
    mca_btl_base_receive_descriptor_t message;

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
    /* Before anything else happens: does the sender belong to the job, and is this its next message?
     * Comparing the proof takes the same time whatever is in it: it is one instruction. */
    pair = mca_btl_epofi_pair_find(module, wire.sender);
    if (OPAL_UNLIKELY(NULL == pair || pair->proof != wire.proof)) {
        pair = mca_btl_epofi_pair_meet(module, &wire);
        if (NULL == pair) {
            return;
        }
    }
    if (OPAL_UNLIKELY(pair->expected != wire.sequence)) {
        mca_btl_epofi_pair_odd(module, pair, &wire);
        return;
    }
    ++pair->expected;
    if (OPAL_UNLIKELY(MCA_BTL_TAG_MAX <= wire.tag
                      || NULL == mca_btl_base_active_message_trigger[wire.tag].cbfunc)) {
        if (mca_btl_epofi_ask_arrived(module, pair, wire.tag, buffer + sizeof(wire),
                                      wire.length)) {
            return;
        }
        mca_btl_epofi_drop(module, "nobody has registered for its tag");
        return;
    }
    callback = &mca_btl_base_active_message_trigger[wire.tag];
    segment.seg_addr.pval = buffer + sizeof(wire);
    segment.seg_len = wire.length;
    module->super.ep_source = wire.sender;
    message.endpoint = pair->endpoint;
    message.des_segments = &segment;
    message.des_segment_count = 1;
    message.tag = wire.tag;
    message.cbdata = callback->cbdata;
    callback->cbfunc(&module->super.super, &message);
}

static void recv_complete(mca_btl_epofi_module_t *module, mca_btl_epofi_op_t *op, size_t length,
                          int status)
{
    mca_btl_epofi_recv_t *recv = EPOFI_CONTAINER(op, mca_btl_epofi_recv_t, op);

    if (OPAL_UNLIKELY(OPAL_SUCCESS != status)) {
        /* A peer that vanished in the middle of a message, or a message longer than ours are. */
        ++module->dropped;
        report(module, module->error, module->error_detail);
    } else if (OPAL_UNLIKELY(module->closing)) {
        ++module->dropped;
    } else {
        deliver(module, recv->buffer, length);
    }
    recv_post(module, recv);
}

int mca_btl_epofi_recv_start(mca_btl_epofi_module_t *module)
{
    /* One line more than needed: buffers a power of two apart would all want the same cache sets.
     */
    const size_t stride = ((sizeof(mca_btl_epofi_wire_t) + module->max_pool.size
                            + BUFFER_ALIGNMENT - 1)
                           & ~(size_t) (BUFFER_ALIGNMENT - 1))
                          + BUFFER_ALIGNMENT;
    const unsigned int count = mca_btl_epofi_component.recv_buffers;
    void *memory;

    module->recvs = calloc(count, sizeof(*module->recvs));
    if (NULL == module->recvs
        || 0 != posix_memalign(&memory, BUFFER_ALIGNMENT, count * stride)) {
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    module->recv_memory = memory;
    module->recv_count = count;
    module->recv_size = sizeof(mca_btl_epofi_wire_t) + module->max_pool.size;
    if (module->fabric->mr_local) {
        int rc = mca_btl_epofi_mr_open(module, memory, count * stride, FI_RECV, &module->recv_mr);

        if (OPAL_SUCCESS != rc) {
            return rc;
        }
        module->recv_desc = fi_mr_desc(module->recv_mr);
    }
    for (unsigned int i = 0; i < count; ++i) {
        mca_btl_epofi_recv_t *recv = &module->recvs[i];

        recv->op.complete = recv_complete;
        recv->buffer = module->recv_memory + i * stride;
        recv_post(module, recv);
    }
    return OPAL_SUCCESS;
}

void mca_btl_epofi_recv_stop(mca_btl_epofi_module_t *module)
{
    free(module->recv_memory);
    free(module->recvs);
    module->recv_memory = NULL;
    module->recvs = NULL;
}
