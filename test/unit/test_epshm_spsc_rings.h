/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the tests of btl/epshm's SPSC rings share: real modules, and what has come to each.  The
 * component's sources are compiled in, as what they share is not exported.
 */

#ifndef TEST_EPSHM_SPSC_RINGS_H
#define TEST_EPSHM_SPSC_RINGS_H

#include "opal/mca/btl/epshm/threads/btl_epshm_frag.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_recv_queue.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_spsc.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_zcopy.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_module.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_progress.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_send.c"
#include "opal/mca/btl/epshm/base/btl_epshm_sendi.c"

#include "tap.h"

#define SLOTS 24
#define INSTANCES 400
#define PAYLOAD_MAX 500
#define PREFIX UINT64_C(0x1122334455667788)

mca_btl_epshm_component_t mca_btl_epshm_component;

/** A module, and what has come to it. */
typedef struct test_ep_t {
    mca_btl_ep_module_t *module;
    unsigned int instance;
    struct mca_btl_base_endpoint_t *to[SLOTS]; /**< connections */
} test_ep_t;

static test_ep_t eps[SLOTS];
static unsigned int next_instance;
static bool no_buffers;                 /**< all messages fit cells */
static _Atomic uint32_t received_apart; /**< messages that came beside the cells */
static uint32_t sent[INSTANCES][INSTANCES], received[INSTANCES][INSTANCES]; /**< [from][to] */

typedef struct header_t {
    uint64_t prefix;
    uint32_t from, number;
    uint64_t size; /**< of the payload */
} header_t;

_Static_assert(EPSHM_SHORT_HEADER == sizeof(header_t), "may travel bare");

static inline uint64_t stream_of(unsigned int from, unsigned int to, uint32_t number)
{
    return tap_stream((uint64_t) from << 48 ^ (uint64_t) to << 32 ^ number);
}

static inline size_t payload_of(unsigned int from, unsigned int to, uint32_t number,
                                unsigned char *data)
{
    static const uint64_t limits[] = {9, 9, 9, 33, 60, 200, PAYLOAD_MAX + 1, PAYLOAD_MAX + 1};
    uint64_t random = stream_of(from, to, number);
    const size_t size = tap_below(&random, limits[tap_below(&random, no_buffers ? 6 : 8)]);

    for (size_t i = 0; i < size; ++i) {
        data[i] = (unsigned char) (random >> i % 57);
    }
    return size;
}

static inline void check(const test_ep_t *ep, const header_t *header, const unsigned char *data,
                         size_t size)
{
    unsigned char due[PAYLOAD_MAX];
    const uint32_t number = received[header->from][ep->instance]++;

    TAP_CHECK(number == header->number, "%u to %u: message %u instead of %u", header->from,
              ep->instance, header->number, number);
    TAP_EQ(header->size, size);
    TAP_EQ(payload_of(header->from, ep->instance, header->number, due), size);
    TAP_CHECK(0 == memcmp(due, data, size), "%u to %u: message %u differs", header->from,
              ep->instance, number);
}

static inline void on_receive(mca_btl_base_module_t *btl,
                              const mca_btl_base_receive_descriptor_t *message)
{
    const unsigned char *data = message->des_segments[0].seg_addr.pval;
    header_t header;

    memcpy(&header, data, sizeof(header));
    check(((mca_btl_ep_module_t *) btl)->ep_context, &header, data + sizeof(header),
          message->des_segments[0].seg_len - sizeof(header));
}

static inline void on_bare(void *context, const void *rest, size_t size)
{
    header_t header = {.prefix = PREFIX};

    memcpy((char *) &header + 8, rest, sizeof(header) - 8);
    check(context, &header, (const unsigned char *) rest + sizeof(header) - 8,
          size - sizeof(header) + 8);
}

static inline void on_apart(void *context, const void *rest, const void *data, size_t size)
{
    header_t header = {.prefix = PREFIX};

    memcpy((char *) &header + 8, rest, sizeof(header) - 8);
    check(context, &header, data, size);
    atomic_fetch_add_explicit(&received_apart, 1, memory_order_relaxed);
}

static inline void test_ep_open(int slot)
{
    test_ep_t *ep = &eps[slot];

    memset(ep, 0, sizeof(*ep));
    if (INSTANCES == next_instance
        || OPAL_SUCCESS != mca_btl_epshm_module_create(ep, MCA_BTL_EP_FLAG_NONE, &ep->module)) {
        printf("Bail out! no module\n");
        exit(99);
    }
    ep->instance = next_instance++;
    ep->module->ep_prefix = PREFIX;
    ep->module->ep_receive_bare = on_bare;
    ep->module->ep_receive_zcopy = on_apart;
}

static inline void test_ep_disconnect(int slot, int other)
{
    if (NULL != eps[slot].to[other]) {
        eps[slot].module->ep_disconnect(eps[slot].module, eps[slot].to[other]);
        eps[slot].to[other] = NULL;
    }
}

/** @param[in] forgotten  do the others give up their connections to it? */
static inline void test_ep_close(int slot, bool forgotten)
{
    for (int other = 0; other < SLOTS; ++other) {
        test_ep_disconnect(slot, other);
        if (forgotten && NULL != eps[other].module) {
            test_ep_disconnect(other, slot);
        }
    }
    (void) eps[slot].module->super.btl_finalize(&eps[slot].module->super);
    eps[slot].module = NULL;
}

static inline void connect_to(int from, int to)
{
    if (NULL == eps[from].to[to]) {
        TAP_EQ(OPAL_SUCCESS,
               eps[from].module->ep_connect(eps[from].module, eps[to].module->ep_address,
                                            sizeof(mca_btl_epshm_address_t), &eps[from].to[to]));
    }
}

static inline int test_ep_send(int from, int to)
{
    const unsigned int a = eps[from].instance, b = eps[to].instance;
    unsigned char data[PAYLOAD_MAX];
    header_t header = {.from = a, .number = sent[a][b]};
    uint64_t random = stream_of(a, b, header.number) + 1;
    int rc;

    connect_to(from, to);
    header.prefix = 0 == tap_below(&random, 4) ? PREFIX + 1 : PREFIX;
    header.size = payload_of(a, b, header.number, data);
    rc = eps[from].module->ep_send(eps[from].module, eps[from].to[to], &header, sizeof(header),
                                   data, header.size, MCA_BTL_EP_TAG);
    if (OPAL_SUCCESS == rc) {
        ++sent[a][b];
    }
    return rc;
}

static inline void send_many(int from, int to, int count)
{
    for (int i = 0; i < count; ++i) {
        TAP_EQ(OPAL_SUCCESS, test_ep_send(from, to));
    }
}

static inline int test_ep_progress(int slot)
{
    return eps[slot].module->ep_progress(eps[slot].module);
}

static inline void take_all(int slot)
{
    while (0 < test_ep_progress(slot)) {
    }
}

static inline struct mca_btl_base_endpoint_t *recv_queue_of(int slot)
{
    return ((mca_btl_epshm_module_t *) eps[slot].module)->recv_queue;
}

static inline epshm_place_t *place_of(int from, int to)
{
    return mca_btl_epshm_place((mca_btl_epshm_module_t *) eps[from].module, recv_queue_of(to));
}

static inline bool has_spsc(int from, int to)
{
    return recv_queue_of(to) == place_of(from, to)->recv_queue;
}

static inline unsigned int state_of(const struct mca_btl_base_endpoint_t *recv_queue, int spsc)
{
    return atomic_load_explicit(&recv_queue->spsc[spsc].state, memory_order_relaxed);
}

static inline uint32_t bits_of(const struct mca_btl_base_endpoint_t *recv_queue)
{
    return atomic_load_explicit(&recv_queue->spsc_rings, memory_order_relaxed);
}

static inline uint32_t references_of(const struct mca_btl_base_endpoint_t *recv_queue)
{
    return atomic_load_explicit(&recv_queue->references, memory_order_relaxed);
}

static inline void begin(int count)
{
    mca_btl_epshm_component.ring_cells = 1024;
    mca_btl_epshm_component.spsc_rings = 8;
    mca_btl_epshm_component.spsc_cells = 256;
    mca_btl_epshm_component.eager_limit = 4096;
    mca_btl_epshm_component.max_send_size = 32768;
    mca_btl_epshm_component.coop_copy_min = 32768;
    mca_btl_epshm_component.eager_frags_max = 256;
    mca_btl_epshm_component.max_frags_max = 16;
    next_instance = 0;
    memset(eps, 0, sizeof(eps));
    memset(sent, 0, sizeof(sent));
    memset(received, 0, sizeof(received));
    for (int i = 0; i < count; ++i) {
        test_ep_open(i);
    }
}

/** All messages between modules that live must have come. */
static inline void check_all_received(void)
{
    for (int to = 0; to < SLOTS; ++to) {
        for (unsigned int from = 0; NULL != eps[to].module && from < next_instance; ++from) {
            TAP_EQ(sent[from][eps[to].instance], received[from][eps[to].instance]);
        }
    }
}

static inline void end(void)
{
    for (int i = 0; i < SLOTS; ++i) {
        if (NULL != eps[i].module) {
            take_all(i);
        }
    }
    check_all_received();
    for (int i = 0; i < SLOTS; ++i) {
        if (NULL != eps[i].module) {
            test_ep_close(i, true);
        }
    }
    no_buffers = false;
    tap_case_done();
}

#endif /* TEST_EPSHM_SPSC_RINGS_H */
