/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libFuzzer's target for the header in front of what arrives at btl/epofi (deliver in
 * btl_epofi_recv.c): random bytes in a receive buffer, completed as the completion queue would.
 * The module has no network: what it posts is refused.  Whatever is handed on must lie within what
 * arrived, and be what the header says.
 *
 * Guards: btl_epofi_recv.c
 */

#include "opal_config.h"

#include "opal/mca/btl/epofi/proto/btl_epofi_discard.h"
#include "opal/mca/btl/epofi/object/btl_epofi_pair.h"
#include "opal/mca/btl/epofi/proto/btl_epofi_recv.h"
#include "opal/mca/btl/epofi/object/btl_epofi_types.h"

#include "opal/runtime/opal.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS 4
#define BYTES_MAX 512
#define SENDER UINT64_C(0x1122334455667788)

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "fuzz: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                              \
        }                                                                         \
    } while (0)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mca_btl_epofi_module_t module;
static mca_btl_epofi_pair_t *sender; /**< a sender that behaves well */
static const unsigned char *arrived; /**< in the receive buffer, the wire header first */
static size_t arrived_size;
static unsigned int handed_on;
static size_t expected_at; /**< where the next message of a packet begins */

static void on_receive(mca_btl_base_module_t *btl, const mca_btl_base_receive_descriptor_t *message)
{
    const mca_btl_base_segment_t *segment = message->des_segments;
    static volatile unsigned char sink;

    CHECK(&module.super.super == btl);
    CHECK(1 == message->des_segment_count && MCA_BTL_EP_TAG == message->tag);
    if (EPOFI_TAG_PACKET == arrived[offsetof(mca_btl_epofi_wire_t, tag)]) {
        const unsigned char *place = segment->seg_addr.pval;
        mca_btl_epofi_part_t part;

        CHECK(arrived + expected_at < place && 0 == (place - arrived) % 8);
        CHECK(segment->seg_len <= (size_t) (arrived + arrived_size - place));
        memcpy(&part, place - sizeof(part), sizeof(part));
        CHECK(part.length == segment->seg_len && part.tag == message->tag);
        expected_at = (size_t) (place - arrived) + segment->seg_len;
    } else {
        CHECK(arrived + sizeof(mca_btl_epofi_wire_t) == segment->seg_addr.pval);
        CHECK(arrived_size - sizeof(mca_btl_epofi_wire_t) == segment->seg_len);
    }
    for (size_t i = 0; i < segment->seg_len; ++i) {
        sink = ((const unsigned char *) segment->seg_addr.pval)[i];
    }
    (void) sink;
    ++handed_on;
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
    } else if (0 != (choice & 2)) {
        wire.version = EPOFI_WIRE_VERSION;
        wire.tag = EPOFI_TAG_PACKET;
    }
    if (0 == (choice & 8)) {
        wire.length = (uint32_t) (size - sizeof(wire));
    }
    /* Nobody finds a proof by trying; a fourth of the inputs are, as they stand, of strangers. */
    if (3 != (choice >> 4) % 4) {
        wire.sender = SENDER;
        wire.proof = sender->proof;
    }
    if (2 != (choice >> 4) % 4) {
        wire.sequence = sender->expected;
    }
    memcpy(buffer, &wire, sizeof(wire));
}

/** How many messages there are in a packet that are to be handed on, and how many that are to be
 * thrown away.  @return is there nothing else? */
static bool count_parts(const unsigned char *data, size_t size, unsigned int *good_p,
                        unsigned int *bad_p)
{
    static const uint8_t zero[3];
    mca_btl_epofi_part_t part;

    do {
        uint64_t length;

        if (sizeof(part) > size) {
            return false;
        }
        memcpy(&part, data, sizeof(part));
        length = sizeof(part) + ((uint64_t) part.length + 7) / 8 * 8;
        if (length > size || 0 != memcmp(part.zero, zero, sizeof(zero))) {
            return false;
        }
        *(MCA_BTL_EP_TAG == part.tag ? good_p : bad_p) += 1;
        data += length;
        size -= length;
    } while (0 < size);
    return true;
}

/** Does the sender know our secret, and is it its next message?  Trying does not find a proof, but
 * libFuzzer does: it sees what the module compares with, and then there are senders besides ours. */
static bool is_next(const mca_btl_epofi_wire_t *wire)
{
    const mca_btl_epofi_address_t *own = (const mca_btl_epofi_address_t *) module.super.ep_address;
    const mca_btl_epofi_pair_t *pair = mca_btl_epofi_pair_find(&module, wire->sender);

    return mca_btl_epofi_keyed(&own->secret, wire->sender) == wire->proof
           && (NULL == pair ? 1 : pair->expected) == wire->sequence;
}

/** What is to be handed on, and thrown away, if the header is right?
 * @param[out] good_p  messages to be handed on
 * @param[out] bad_p   messages to be thrown away */
static void judge(const unsigned char *buffer, size_t size, unsigned int *good_p,
                  unsigned int *bad_p)
{
    mca_btl_epofi_wire_t wire;
    bool sound;

    *good_p = 0;
    *bad_p = 1;
    if (sizeof(wire) > size) {
        return;
    }
    memcpy(&wire, buffer, sizeof(wire));
    sound = EPOFI_WIRE_MAGIC == wire.magic && EPOFI_WIRE_VERSION == wire.version
            && size - sizeof(wire) == wire.length && is_next(&wire);
    if (sound && EPOFI_TAG_PACKET == wire.tag) {
        *bad_p = 0;
        if (!count_parts(buffer + sizeof(wire), size - sizeof(wire), good_p, bad_p)) {
            ++*bad_p;
        }
    } else if (sound && MCA_BTL_EP_TAG == wire.tag) {
        *good_p = 1;
        *bad_p = 0;
    } else if (sound && EPOFI_TAG_HERE <= wire.tag
               && (EPOFI_TAG_HERE != wire.tag || sizeof(uint64_t) == wire.length)) {
        *bad_p = 0; /* one of btl/epofi's own */
    }
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
    unsigned int good, bad;

    sender->expected = 0 == sender->expected ? 1 : sender->expected; /* after a gap: a new start */
    sender->lost = false;
    length = length < module.recv_size ? length : module.recv_size;
    if (0 < length) {
        memcpy(buffer, data + 1, length);
        mend_header(choice, buffer, length);
    }
    arrived = buffer;
    arrived_size = length;
    handed_on = 0;
    expected_at = sizeof(mca_btl_epofi_wire_t);
    judge(buffer, length, &good, &bad);
    module.unposted = NULL;
    /* What is behind it in the buffer is an earlier message's, and not to be read. */
    ASAN_POISON_MEMORY_REGION(buffer + length, module.recv_size - length);
    recv->op.complete(&module, &recv->op, length, status);
    ASAN_UNPOISON_MEMORY_REGION(buffer + length, module.recv_size - length);
    CHECK(handed_on == (OPAL_SUCCESS == status ? good : 0));
    CHECK(module.dropped == dropped + (OPAL_SUCCESS == status ? bad : 1));
    CHECK(recv == module.unposted && NULL == recv->next);
    return 0;
}
