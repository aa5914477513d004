/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Messages of btl/epofi between two processes: order, sizes, descriptors, gets, floods, callbacks
 * that send, strangers' messages.  Over tcp on the loopback interface and over shm, or over the
 * provider (and interface) of EPT_EPOFI_PROVIDER and EPT_EPOFI_INTERFACE.
 *
 * Guards: btl/epofi, common_ep_prepare.h
 */

#include "test_epofi.h"

/** A byte of message number n at position i. */
static unsigned char pattern(uint64_t n, size_t i)
{
    return (unsigned char) (n * 131 + i * 7 + (i >> 8));
}

static void fill(unsigned char *buffer, size_t length, uint64_t n)
{
    for (size_t i = 0; i < length; ++i) {
        buffer[i] = pattern(n, i);
    }
}

static bool is_pattern(const unsigned char *buffer, size_t length, uint64_t n)
{
    for (size_t i = 0; i < length; ++i) {
        if (buffer[i] != pattern(n, i)) {
            return false;
        }
    }
    return true;
}

/** Every message starts with its number and its length. */
typedef struct head_t {
    uint64_t number;
    uint64_t length; /**< of the payload */
} head_t;

static void expect_numbered(test_ep_t *ep, const unsigned char *data, size_t length)
{
    uint64_t *next = ep->state;
    head_t head;

    if (sizeof(head) > length) {
        TAP_CHECK(false, "message of %zu bytes", length);
        return;
    }
    memcpy(&head, data, sizeof(head));
    TAP_EQ(*next, head.number);
    TAP_EQ(length - sizeof(head), head.length);
    TAP_CHECK(is_pattern(data + sizeof(head), length - sizeof(head), head.number),
              "message %llu of %zu bytes is damaged", (unsigned long long) head.number, length);
    ++*next;
}

static void send_numbered(test_ep_t *ep, uint64_t number, unsigned char *buffer, size_t length)
{
    head_t head = {number, length};

    fill(buffer, length, number);
    TAP_EQ(OPAL_SUCCESS, test_ep_send(ep, &head, sizeof(head), buffer, length));
    memset(buffer, 0xEE, length); /* it has been copied */
}

/** All sizes to 600 bytes, then those around powers of two, to the eager limit; both ways. */
static void case_sizes(const pair_t *pair)
{
    uint64_t next = 0;
    uint64_t number = 0;
    test_ep_t ep = {.on_message = expect_numbered, .state = &next};
    unsigned char *buffer;
    size_t most;

    test_ep_open(&ep);
    test_ep_connect(pair, &ep);
    most = ep.module->super.btl_eager_limit - sizeof(head_t);
    buffer = malloc(most);
    for (size_t length = 0; length <= 600; ++length) {
        send_numbered(&ep, number++, buffer, length);
    }
    for (size_t power = 1024; power < most; power *= 2) {
        for (size_t length = power - 3; length <= power + 3; ++length) {
            send_numbered(&ep, number++, buffer, length);
        }
    }
    send_numbered(&ep, number++, buffer, most);
    TAP_EQ(OPAL_ERR_BAD_PARAM, test_ep_send(&ep, &number, sizeof(number), buffer, most + 9));
    test_ep_wait(&ep, number);
    pair_barrier(pair, &ep);
    TAP_EQ(number, ep.received);
    free(buffer);
    test_ep_end(&ep);
}

static int completions;

static void count_completion(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                             mca_btl_base_descriptor_t *descriptor, int status)
{
    (void) btl;
    (void) endpoint;
    TAP_EQ(OPAL_SUCCESS, status);
    TAP_EQ(0x1234, (uintptr_t) descriptor->des_cbdata);
    ++completions;
}

/** Finish a descriptor for a numbered message and send it.
 * @return completions to come by callback */
static int send_descriptor(test_ep_t *ep, mca_btl_base_descriptor_t *descriptor, uint64_t number)
{
    mca_btl_base_module_t *btl = &ep->module->super;
    head_t head = {number, descriptor->des_segments[0].seg_len - sizeof(head_t)};
    int rc;

    memcpy(descriptor->des_segments[0].seg_addr.pval, &head, sizeof(head));
    descriptor->des_cbfunc = count_completion;
    descriptor->des_cbdata = (void *) 0x1234;
    while (OPAL_ERR_OUT_OF_RESOURCE
           == (rc = btl->btl_send(btl, ep->peer, descriptor, MCA_BTL_EP_TAG))) {
        (void) test_ep_progress(ep);
    }
    TAP_CHECK(OPAL_SUCCESS == rc || 1 == rc, "btl_send: %d", rc);
    return 1 == rc ? 0 : 1;
}

static mca_btl_base_descriptor_t *alloc_descriptor(test_ep_t *ep, size_t size, uint32_t flags)
{
    mca_btl_base_module_t *btl = &ep->module->super;
    mca_btl_base_descriptor_t *descriptor;

    while (NULL == (descriptor = btl->btl_alloc(btl, ep->peer, MCA_BTL_NO_ORDER, size, flags))) {
        (void) test_ep_progress(ep);
    }
    TAP_EQ(size, descriptor->des_segments[0].seg_len);
    return descriptor;
}

/** btl_alloc and btl_send up to the largest fragment, many at once, between messages of ep_send. */
static void case_descriptors(const pair_t *pair)
{
    uint64_t next = 0;
    uint64_t number = 0;
    int expected = 0;
    test_ep_t ep = {.on_message = expect_numbered, .state = &next};
    unsigned char small[100];
    size_t most;

    test_ep_open(&ep);
    test_ep_connect(pair, &ep);
    most = ep.module->super.btl_max_send_size;
    TAP_CHECK(NULL
                  == ep.module->super.btl_alloc(&ep.module->super, ep.peer, MCA_BTL_NO_ORDER,
                                                most + 1, 0),
              "a descriptor above btl_max_send_size");
    completions = 0;
    for (int i = 0; i < 200; ++i) {
        size_t size = sizeof(head_t) + (size_t) i * (most - sizeof(head_t)) / 199;
        uint32_t flags = MCA_BTL_DES_FLAGS_BTL_OWNERSHIP
                         | (0 == i % 3 ? MCA_BTL_DES_SEND_ALWAYS_CALLBACK : 0);
        mca_btl_base_descriptor_t *descriptor = alloc_descriptor(&ep, size, flags);

        fill((unsigned char *) descriptor->des_segments[0].seg_addr.pval + sizeof(head_t),
             size - sizeof(head_t), number);
        expected += send_descriptor(&ep, descriptor, number++);
        send_numbered(&ep, number++, small, sizeof(small));
    }
    test_ep_wait(&ep, number);
    while (completions < expected) {
        (void) test_ep_progress(&ep);
    }
    pair_barrier(pair, &ep);
    TAP_EQ(expected, completions);
    test_ep_end(&ep);
}

/** Every second 16-bit number of an array. */
static opal_datatype_t *strided_type(size_t count)
{
    opal_datatype_t *type = opal_datatype_create((int32_t) 2);

    (void) opal_datatype_add(type, &opal_datatype_uint2, count, 0, 4);
    (void) opal_datatype_commit(type);
    return type;
}

/** btl_sendi and btl_prepare_src with data that must be packed, and with data that need not. */
static void case_convertors(const pair_t *pair)
{
    enum { COUNT = 1500 };
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_numbered, .state = &next};
    opal_datatype_t *type = strided_type(COUNT);
    unsigned char *spread = malloc(4 * COUNT);
    unsigned char *packed = malloc(2 * COUNT);
    mca_btl_base_module_t *btl;
    opal_convertor_t *convertor = opal_convertor_create((int32_t) opal_local_arch, 0);

    test_ep_open(&ep);
    test_ep_connect(pair, &ep);
    btl = &ep.module->super;
    for (uint64_t number = 0; number < 40; ++number) {
        const bool strided = 0 != number % 2;
        size_t size = 2 * COUNT;
        head_t head = {number, size};
        int rc;

        fill(packed, 2 * COUNT, number);
        for (int i = 0; i < COUNT; ++i) {
            memcpy(spread + 4 * i, packed + 2 * i, 2);
        }
        (void) opal_convertor_prepare_for_send(convertor, strided ? type : &opal_datatype_uint2,
                                               strided ? 1 : COUNT, strided ? spread : packed);
        if (20 > number) {
            do {
                rc = btl->btl_sendi(btl, ep.peer, convertor, &head, sizeof(head), size,
                                    MCA_BTL_NO_ORDER, 0, MCA_BTL_EP_TAG, NULL);
                (void) test_ep_progress(&ep);
            } while (OPAL_ERR_RESOURCE_BUSY == rc);
            TAP_EQ(OPAL_SUCCESS, rc);
        } else {
            mca_btl_base_descriptor_t *descriptor
                = btl->btl_prepare_src(btl, ep.peer, convertor, MCA_BTL_NO_ORDER, sizeof(head_t),
                                       &size, MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);

            TAP_EQ(2 * COUNT, size);
            (void) send_descriptor(&ep, descriptor, number);
        }
        (void) opal_convertor_cleanup(convertor);
    }
    test_ep_wait(&ep, 40);
    pair_barrier(pair, &ep);
    OBJ_RELEASE(convertor);
    OBJ_RELEASE(type);
    free(spread);
    free(packed);
    test_ep_end(&ep);
}

typedef struct offer_t {
    uint64_t address;
    unsigned char handle[64];
} offer_t;

static int got;

static void count_get(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      void *local_address, struct mca_btl_base_registration_handle_t *local_handle,
                      void *context, void *cbdata, int status)
{
    (void) btl;
    (void) endpoint;
    (void) local_address;
    (void) local_handle;
    TAP_EQ(1, (uintptr_t) context);
    TAP_EQ(2, (uintptr_t) cbdata);
    TAP_EQ(OPAL_SUCCESS, status);
    ++got;
}

/** Fetch length bytes in count gets of adjacent pieces. */
static void get_once(const pair_t *pair, test_ep_t *ep, unsigned char *memory, size_t length,
                     int count)
{
    mca_btl_base_module_t *btl = &ep->module->super;
    struct mca_btl_base_registration_handle_t *handle;
    offer_t mine = {0};
    offer_t theirs;
    uint32_t access = 0 == pair->rank ? MCA_BTL_REG_FLAG_REMOTE_READ : MCA_BTL_REG_FLAG_LOCAL_WRITE;

    if (0 == pair->rank) {
        fill(memory, length, length);
    } else {
        memset(memory, 0, length + 1);
    }
    handle = btl->btl_register_mem(btl, ep->peer, memory, length, access);
    TAP_CHECK(NULL != handle, "btl_register_mem");
    mine.address = (uint64_t) (uintptr_t) memory;
    memcpy(mine.handle, handle, btl->btl_registration_handle_size);
    pair_exchange(pair, ep, &mine, &theirs, sizeof(mine));
    got = 0;
    for (int i = 0; i < count && 1 == pair->rank; ++i) {
        size_t from = length / (size_t) count * (size_t) i;
        size_t to = i + 1 == count ? length : length / (size_t) count * (size_t) (i + 1);
        int rc;

        while (OPAL_ERR_OUT_OF_RESOURCE
               == (rc = btl->btl_get(btl, ep->peer, memory + from, theirs.address + from, handle,
                                     (struct mca_btl_base_registration_handle_t *) theirs.handle,
                                     to - from, 0, MCA_BTL_NO_ORDER, count_get, (void *) 1,
                                     (void *) 2))) {
            (void) test_ep_progress(ep);
        }
        TAP_EQ(OPAL_SUCCESS, rc);
    }
    while (1 == pair->rank && got < count) {
        (void) test_ep_progress(ep);
    }
    pair_barrier(pair, ep);
    if (1 == pair->rank) {
        TAP_CHECK(is_pattern(memory, length, length), "get of %zu bytes", length);
        TAP_EQ(0, memory[length]);
    }
    TAP_EQ(OPAL_SUCCESS, btl->btl_deregister_mem(btl, handle));
}

/** @param[in] most  bytes, at least 8 MiB */
static void gets(const pair_t *pair, size_t most)
{
    test_ep_t ep = {0};
    unsigned char *memory = malloc(most + 1);
    const size_t sizes[] = {1, 7, 4096, 65537, 1048576, 5000003, most};

    test_ep_open(&ep);
    test_ep_connect(pair, &ep);
    TAP_CHECK(0 != (ep.module->super.btl_flags & MCA_BTL_FLAGS_GET), "no gets");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        get_once(pair, &ep, memory, sizes[i], 1);
    }
    get_once(pair, &ep, memory, 1 << 20, 500);
    free(memory);
    test_ep_end(&ep);
}

static void case_gets(const pair_t *pair)
{
    gets(pair, (size_t) 64 << 20);
}

/** The same in reads of an odd size, as if the provider allowed no more. */
static void case_gets_in_chunks(const pair_t *pair)
{
    mca_btl_epofi_component.get_chunk = 12345;
    gets(pair, (size_t) 8 << 20);
}

/** As over a provider that wants local memory registered and a context per operation. */
static void case_demanding(const pair_t *pair)
{
    const mca_btl_epofi_fabric_t *fabric;
    mca_btl_epofi_fabric_t *changed;

    opal_mutex_lock(&mca_btl_epofi_lock);
    TAP_EQ(OPAL_SUCCESS, mca_btl_epofi_fabric_acquire(&fabric));
    changed = (mca_btl_epofi_fabric_t *) fabric;
    changed->mr_local = true;
    changed->wants_context = true;
    opal_mutex_unlock(&mca_btl_epofi_lock);
    case_sizes(pair);
    gets(pair, (size_t) 8 << 20);
    opal_mutex_lock(&mca_btl_epofi_lock);
    mca_btl_epofi_fabric_release();
    opal_mutex_unlock(&mca_btl_epofi_lock);
}

/** One process sends all it can and ends at once, the other looks only later: nothing may be lost. */
static void case_flood(const pair_t *pair)
{
    enum { COUNT = 60000 };
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_numbered, .state = &next};
    unsigned char payload[2000];

    test_ep_open(&ep);
    test_ep_connect(pair, &ep);
    send_numbered(&ep, 0, payload, 8);
    test_ep_wait(&ep, 1);
    pair_barrier(pair, &ep);
    if (0 == pair->rank) {
        for (uint64_t number = 1; number < COUNT; ++number) {
            send_numbered(&ep, number, payload, number % 100 ? 8 : sizeof(payload));
        }
    } else {
        usleep(300000);
        test_ep_wait(&ep, COUNT);
    }
    test_ep_end(&ep);
}

/** How much the end of a flood can have left in queues depends on its length: many lengths, and
 * the receiver looks only when the sender's module is on its way out. */
static void case_flood_tails(const pair_t *pair)
{
    unsigned char payload[64];

    for (uint64_t length = 0; length < 24; ++length) {
        const uint64_t count = 2000 + length * 977;
        uint64_t next = 0;
        test_ep_t ep = {.on_message = expect_numbered, .state = &next};

        test_ep_open(&ep);
        test_ep_connect(pair, &ep);
        send_numbered(&ep, 0, payload, 8);
        test_ep_wait(&ep, 1);
        pair_barrier(pair, &ep);
        if (0 == pair->rank) {
            for (uint64_t number = 1; number < count; ++number) {
                send_numbered(&ep, number, payload, sizeof(payload));
            }
        } else {
            usleep(20000);
            test_ep_wait(&ep, count);
        }
        test_ep_end(&ep);
    }
}

/** Every message is answered from within its own callback. */
static void answer(test_ep_t *ep, const unsigned char *data, size_t length)
{
    uint64_t *left = ep->state;
    int rc;

    (void) data;
    if (0 == *left) {
        return;
    }
    --*left;
    rc = ep->module->ep_send(ep->module, ep->peer, &length, sizeof(length), NULL, 0,
                             MCA_BTL_EP_TAG);
    TAP_EQ(OPAL_SUCCESS, rc);
}

static void case_callbacks_send(const pair_t *pair)
{
    enum { COUNT = 5000, AT_ONCE = 50 };
    uint64_t left = COUNT;
    test_ep_t ep = {.on_message = answer, .state = &left};

    test_ep_open(&ep);
    test_ep_connect(pair, &ep);
    if (0 == pair->rank) {
        for (uint64_t i = 0; i < AT_ONCE; ++i) {
            TAP_EQ(OPAL_SUCCESS, test_ep_send(&ep, &i, sizeof(i), NULL, 0));
        }
    }
    test_ep_wait(&ep, COUNT);
    pair_barrier(pair, &ep);
    test_ep_end(&ep);
}

/** Send bytes that btl/epofi would not send. */
static void send_raw(test_ep_t *ep, const void *bytes, size_t length)
{
    mca_btl_epofi_module_t *module = (mca_btl_epofi_module_t *) ep->module;

    while (-FI_EAGAIN == fi_inject(module->fi.ep, bytes, length, ep->peer->address)) {
        (void) test_ep_progress(ep);
    }
}

/** Messages that are not ours are dropped, counted, and do no harm. */
static void case_strangers(const pair_t *pair)
{
    mca_btl_epofi_wire_t good;
    uint64_t next = 0;
    test_ep_t ep = {.on_message = expect_numbered, .state = &next};
    unsigned char bytes[64] = {0};
    unsigned char payload[8];

    test_ep_open(&ep);
    test_ep_connect(pair, &ep);
    send_numbered(&ep, 0, payload, sizeof(payload));
    if (0 == pair->rank) {
        mca_btl_epofi_wire_t bad;

        mca_btl_epofi_wire_init(ep.peer->pair, &good, MCA_BTL_EP_TAG, 8);
        send_raw(&ep, bytes, 3);
        send_raw(&ep, bytes, sizeof(bytes));
        bad = good;
        bad.version = EPOFI_WIRE_VERSION + 1;
        memcpy(bytes, &bad, sizeof(bad));
        send_raw(&ep, bytes, sizeof(bad) + 8);
        bad = good;
        bad.length = 9;
        memcpy(bytes, &bad, sizeof(bad));
        send_raw(&ep, bytes, sizeof(bad) + 8);
        bad.length = UINT32_MAX;
        memcpy(bytes, &bad, sizeof(bad));
        send_raw(&ep, bytes, sizeof(bad) + 8);
        bad = good;
        bad.length = 8;
        bad.tag = MCA_BTL_EP_TAG + 1;
        memcpy(bytes, &bad, sizeof(bad));
        send_raw(&ep, bytes, sizeof(bad) + 8);
        mca_btl_epofi_pair_sent(ep.peer->pair); /* these two are taken for ours, and numbered */
        ++bad.sequence;
        bad.tag = 0xFC;
        memcpy(bytes, &bad, sizeof(bad));
        send_raw(&ep, bytes, sizeof(bad) + 8);
        mca_btl_epofi_pair_sent(ep.peer->pair);
    }
    send_numbered(&ep, 1, payload, sizeof(payload));
    test_ep_wait(&ep, 2);
    pair_barrier(pair, &ep);
    TAP_EQ(0 == pair->rank ? 0 : 7, mca_btl_epofi_dropped(ep.module));
    test_ep_end(&ep);
}

static void run_all(void)
{
    run_pair("all sizes, in order, whole", case_sizes);
    run_pair("descriptors between messages", case_descriptors);
    run_pair("sendi and prepare_src", case_convertors);
    run_pair("gets of 1 B to 64 MiB", case_gets);
    run_pair("gets in chunks", case_gets_in_chunks);
    run_pair("a demanding provider", case_demanding);
    run_pair("a flood, then the end", case_flood);
    run_pair("floods of many lengths", case_flood_tails);
    run_pair("callbacks that send", case_callbacks_send);
    run_pair("messages of strangers", case_strangers);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epofi", 60);
    run_providers(run_all);
    return tap_end();
}
