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
 * libFuzzer's target for the header in front of what arrives at btl/epofi (deliver in
 * btl_epofi_recv.c): random bytes in a receive buffer, completed as the completion queue would.
 * The module has no network: what it posts is refused.  Whatever is handed on must lie within what
 * arrived, and be what the header says.
 */

#include "opal_config.h"

#include "opal/mca/btl/epofi/btl_epofi_types.h"

#include "opal/runtime/opal.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS 4
#define BYTES_MAX 512
#define SENDER    UINT64_C(0x1122334455667788)

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "fuzz: %s:%d: %s\n", __FILE__, __LINE__, #condition);    \
            abort();                                                                 \
        }                                                                            \
    } while (0)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mca_btl_epofi_module_t module;
static mca_btl_epofi_pair_t *sender; /**< who sends what is right */
static const unsigned char *arrived; /**< in the receive buffer, the wire header first */
static size_t arrived_size;
static bool handed_on;

static void on_receive(mca_btl_base_module_t *btl,
                       const mca_btl_base_receive_descriptor_t *message)
{
    const mca_btl_base_segment_t *segment = message->des_segments;
    static volatile unsigned char sink;

    CHECK(&module.super.super == btl);
    CHECK(1 == message->des_segment_count && MCA_BTL_EP_TAG == message->tag);
    CHECK(arrived + sizeof(mca_btl_epofi_wire_t) == segment->seg_addr.pval);
    CHECK(arrived_size - sizeof(mca_btl_epofi_wire_t) == segment->seg_len);
    for (size_t i = 0; i < segment->seg_len; ++i) {
        sink = ((const unsigned char *) segment->seg_addr.pval)[i];
    }
    (void) sink;
    handed_on = true;
}

static ssize_t refuse(struct fid_ep *ep, void *buffer, size_t size, void *desc, fi_addr_t address,
                      void *context)
{
    (void) ep;
    (void) buffer;
    (void) size;
    (void) desc;
    (void) address;
    (void) context;
    return -FI_EAGAIN;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static struct fi_ops_msg ops = {.size = sizeof(ops), .recv = refuse};
    static struct fid_ep ep = {.msg = &ops};
    static char name[] = "none";
    static struct fi_fabric_attr attr = {.prov_name = name};
    static struct fi_info info = {.fabric_attr = &attr};
    static mca_btl_epofi_fabric_t fabric = {.info = &info};
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module.super.ep_address;
    mca_btl_epofi_wire_t hello = {.sender = SENDER};

    (void) argc;
    (void) argv;
    CHECK(OPAL_SUCCESS == opal_init_util(NULL, NULL));
    mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = on_receive;
    mca_btl_epofi_component.recv_buffers = BUFFERS;
    module.fabric = &fabric;
    module.fi.ep = &ep;
    module.max_pool.size = BYTES_MAX;
    CHECK(OPAL_SUCCESS == mca_btl_epofi_pairs_init(&module));
    hello.proof = mca_btl_epofi_keyed(&own->secret, SENDER);
    sender = mca_btl_epofi_pair_meet(&module, &hello);
    CHECK(NULL != sender);
    CHECK(OPAL_SUCCESS == mca_btl_epofi_recv_start(&module));
    return 0;
}

/** Make a header that is right but for what the choice spoils. */
static void mend_header(uint8_t choice, unsigned char *buffer, size_t size)
{
    mca_btl_epofi_wire_t wire;

    if (sizeof(wire) > size) {
        return;
    }
    memcpy(&wire, buffer, sizeof(wire));
    if (0 == (choice & 1)) {
        wire.magic = EPOFI_WIRE_MAGIC;
    }
    if (0 == (choice & 2)) {
        wire.version = EPOFI_WIRE_VERSION;
    }
    if (0 == (choice & 4)) {
        wire.tag = MCA_BTL_EP_TAG;
    }
    if (0 == (choice & 8)) {
        wire.length = (uint32_t) (size - sizeof(wire));
    }
    /* A proof cannot be found by trying; a fourth of the inputs are of strangers. */
    if (3 != (choice >> 4) % 4) {
        wire.sender = SENDER;
        wire.proof = sender->proof;
    }
    if (2 != (choice >> 4) % 4) {
        wire.sequence = sender->expected;
    }
    memcpy(buffer, &wire, sizeof(wire));
}

/** Is all of it right?
 * @param[out] own_p  but for the tag, which is one of btl/epofi's own */
static bool is_sound(const unsigned char *buffer, size_t size, bool *own_p)
{
    mca_btl_epofi_wire_t wire;
    bool sound;

    *own_p = false;
    if (sizeof(wire) > size) {
        return false;
    }
    memcpy(&wire, buffer, sizeof(wire));
    sound = EPOFI_WIRE_MAGIC == wire.magic && EPOFI_WIRE_VERSION == wire.version
            && size - sizeof(wire) == wire.length && SENDER == wire.sender
            && sender->proof == wire.proof && sender->expected == wire.sequence;
    *own_p = sound && EPOFI_TAG_HERE <= wire.tag
             && (EPOFI_TAG_HERE != wire.tag || sizeof(uint64_t) == wire.length);
    return sound && MCA_BTL_EP_TAG == wire.tag;
}

/** First byte: what is wrong with the header, and how the receive has ended; then what arrived. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t choice = 0 < size ? data[0] : 0;
    const int status = 0xf0 == (choice & 0xf0) ? OPAL_ERROR : OPAL_SUCCESS;
    mca_btl_epofi_recv_t *recv = &module.recvs->recv[(choice >> 4) % BUFFERS];
    unsigned char *buffer = recv->buffer;
    const uint64_t dropped = module.dropped;
    size_t length = 0 < size ? size - 1 : 0;
    bool sound, own;

    sender->expected = 0 == sender->expected ? 1 : sender->expected; /* after a gap: a new start */
    sender->lost = false;
    length = length < module.recv_size ? length : module.recv_size;
    if (0 < length) {
        memcpy(buffer, data + 1, length);
        mend_header(choice, buffer, length);
    }
    arrived = buffer;
    arrived_size = length;
    handed_on = false;
    sound = is_sound(buffer, length, &own);
    module.unposted = NULL;
    /* What is behind it in the buffer is an earlier message's, and not to be read. */
    ASAN_POISON_MEMORY_REGION(buffer + length, module.recv_size - length);
    recv->op.complete(&module, &recv->op, length, status);
    ASAN_UNPOISON_MEMORY_REGION(buffer + length, module.recv_size - length);
    CHECK(handed_on == (OPAL_SUCCESS == status && sound));
    CHECK(module.dropped == dropped + (handed_on || (own && OPAL_SUCCESS == status) ? 0 : 1));
    CHECK(recv == module.unposted && NULL == recv->next);
    return 0;
}
