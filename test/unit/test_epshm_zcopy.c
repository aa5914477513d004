/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * When a module sends from its user's memory, and when it recalls that (btl_epshm_zcopy.c): two modules
 * in one thread, with a clock that the test sets.  The protocol of a single zero-copy send is
 * test_epshm_zcopy_cell.c's.
 *
 * The component's sources are compiled in, as what they share is not exported.
 *
 * Guards: btl_epshm_frag.c, btl_epshm_zcopy.c
 */

#include "opal_config.h"

#include "opal/mca/common/ep/common_ep_pace.h"

#include <stdint.h>

static uint64_t ticks; /* what the clock says */

#define ep_pace_clock() ticks
#include "opal/mca/btl/epshm/threads/btl_epshm_frag.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_recv_queue.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_spsc.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_zcopy.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_module.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_progress.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_send.c"
#include "opal/mca/btl/epshm/base/btl_epshm_sendi.c"

#include "tap.h"

#define PREFIX UINT64_C(0x1122334455667788)

enum { CELLS = 64, BYTES = 512, MANY = 80, MAX_FRAGS = 16, NONE = -1 };

mca_btl_epshm_component_t mca_btl_epshm_component;

typedef struct header_t {
    uint64_t prefix, number, unused;
} header_t;

static mca_btl_ep_module_t *sender, *receiver;
static struct mca_btl_base_endpoint_t *connection;
static unsigned char memory[MANY][BYTES]; /**< what is lent; each only once in a case */
static uint64_t lent, returned, received; /**< messages */

/* ---- callbacks ------------------------------------------------------------------------------- */

static void on_returned(void *context, void *token)
{
    (void) context;
    TAP_EQ(returned, (uint64_t) (uintptr_t) token);
    memset(memory[returned++], 0xee, BYTES); /* it is ours again */
}

static void on_zcopy(void *context, const void *rest, const void *data, size_t size)
{
    uint64_t number;
    size_t wrong = 0;

    (void) context;
    memcpy(&number, rest, sizeof(number));
    TAP_EQ(received, number);
    TAP_EQ(BYTES, size);
    for (size_t i = 0; i < size; ++i) {
        wrong += (unsigned char) (number + i) != ((const unsigned char *) data)[i];
    }
    TAP_EQ(0, wrong);
    ++received;
}

static void on_bare(void *context, const void *rest, size_t size)
{
    (void) context;
    (void) rest;
    (void) size;
}

static void on_receive(mca_btl_base_module_t *btl, const mca_btl_base_receive_descriptor_t *message)
{
    (void) btl;
    (void) message;
}

/* ---- two modules ----------------------------------------------------------------------------- */

static mca_btl_ep_module_t *module_open(void)
{
    mca_btl_ep_module_t *module = NULL;

    if (OPAL_SUCCESS != mca_btl_epshm_module_create(NULL, MCA_BTL_EP_FLAG_NONE, &module)) {
        printf("Bail out! no module\n");
        exit(99);
    }
    module->ep_prefix = PREFIX;
    module->ep_receive_bare = on_bare;
    module->ep_receive_zcopy = on_zcopy;
    module->ep_returned = on_returned;
    return module;
}

static void take_all(mca_btl_ep_module_t *module)
{
    while (0 < module->ep_progress(module)) {
    }
}

/** Two modules, the first of which has an SPSC ring to the second. */
static void begin(const char *name)
{
    const header_t header = {.prefix = PREFIX};

    tap_case("%s", name);
    mca_btl_epshm_component.ring_cells = 1024;
    mca_btl_epshm_component.spsc_rings = 8;
    mca_btl_epshm_component.spsc_cells = CELLS;
    mca_btl_epshm_component.eager_limit = 4096;
    mca_btl_epshm_component.max_send_size = 32768;
    mca_btl_epshm_component.coop_copy_min = 32768;
    mca_btl_epshm_component.eager_frags_max = 256;
    mca_btl_epshm_component.max_frags_max = MAX_FRAGS;
    mca_btl_epshm_component.zcopy_min = 224;
    mca_btl_epshm_component.zcopy_max = 4096;
    ticks = lent = returned = received = 0;
    sender = module_open();
    receiver = module_open();
    TAP_EQ(OPAL_SUCCESS, sender->ep_connect(sender, receiver->ep_address,
                                            sizeof(mca_btl_epshm_address_t), &connection));
    for (int i = 0; i < 2 * EPSHM_SPSC_AFTER; ++i) {
        TAP_EQ(OPAL_SUCCESS, sender->ep_send(sender, connection, &header, sizeof(header), NULL, 0,
                                             MCA_BTL_EP_TAG));
        take_all(receiver);
    }
}

static void end(void)
{
    if (NULL != receiver) {
        take_all(receiver);
    }
    while (returned < lent) {
        (void) mca_btl_epshm_zcopy_progress((mca_btl_epshm_module_t *) sender);
    }
    TAP_EQ(lent, returned);
    sender->ep_disconnect(sender, connection);
    (void) sender->super.btl_finalize(&sender->super);
    if (NULL != receiver) {
        TAP_EQ(lent, received);
        (void) receiver->super.btl_finalize(&receiver->super);
    }
    tap_case_done();
}

static int zcopy_send(void)
{
    const header_t header = {.prefix = PREFIX, .number = lent};
    int rc;

    for (size_t i = 0; i < BYTES; ++i) {
        memory[lent][i] = (unsigned char) (lent + i);
    }
    rc = sender->ep_send_zcopy(sender, connection, &header, sizeof(header), memory[lent], BYTES,
                               (void *) (uintptr_t) lent);
    lent += OPAL_SUCCESS == rc ? 1 : 0;
    return rc;
}

static void zcopy_many(int count)
{
    for (int i = 0; i < count; ++i) {
        TAP_EQ(OPAL_SUCCESS, zcopy_send());
    }
}

/** Turns of the sender until all that it has lent is back, each so many ticks after the last one.
 * @return NONE: it did not come back */
static int turns_until_back(uint64_t ticks_each)
{
    for (int turns = 1; turns <= 1000; ++turns) {
        (void) mca_btl_epshm_zcopy_progress((mca_btl_epshm_module_t *) sender);
        if (returned == lent) {
            return turns;
        }
        ticks += ticks_each;
    }
    return NONE;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void case_taken(void)
{
    begin("what the receiver takes is back at the next turn");
    zcopy_many(3);
    TAP_CHECK(sender->ep_pending(sender), "nothing to look at");
    take_all(receiver);
    TAP_EQ(3, received);
    TAP_EQ(0, returned);
    TAP_EQ(1, turns_until_back(0));
    end();
}

static void case_refused(void)
{
    const header_t good = {.prefix = PREFIX}, other = {.prefix = PREFIX + 1};
    static const unsigned char large[4097];
    mca_btl_ep_module_t *third = module_open();
    struct mca_btl_base_endpoint_t *apart;

    begin("what does not fit a loan is not lent");
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE,
           sender->ep_send_zcopy(sender, connection, &other, sizeof(other), large, BYTES, NULL));
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE,
           sender->ep_send_zcopy(sender, connection, &good, sizeof(good) - 8, large, BYTES, NULL));
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE, sender->ep_send_zcopy(sender, connection, &good, sizeof(good),
                                                         large, sizeof(large), NULL));
    /* Nor to one that there is no SPSC ring to. */
    TAP_EQ(OPAL_SUCCESS,
           sender->ep_connect(sender, third->ep_address, sizeof(mca_btl_epshm_address_t), &apart));
    TAP_EQ(OPAL_ERR_NOT_AVAILABLE,
           sender->ep_send_zcopy(sender, apart, &good, sizeof(good), large, BYTES, NULL));
    sender->ep_disconnect(sender, apart);
    (void) third->super.btl_finalize(&third->super);
    end();
}

/** The receiver does not come: the memory is wanted back after so many quick turns, or some that
 * are slow.  It finds copies when it does come, and the next messages are not lent. */
static void not_there(uint64_t ticks_each, int turns)
{
    zcopy_many(5);
    TAP_EQ(turns, turns_until_back(ticks_each));
    for (int i = 0; i < 1 << EPSHM_ZCOPY_SHY_FIRST; ++i) {
        TAP_EQ(OPAL_ERR_NOT_AVAILABLE, zcopy_send());
    }
    TAP_EQ(OPAL_SUCCESS, zcopy_send());
    take_all(receiver);
    TAP_EQ(1, turns_until_back(0));
    end();
}

static void case_not_there(void)
{
    begin("the receiver is not there, turns are quick");
    not_there(0, EPSHM_ZCOPY_TURNS + 1);
    begin("the receiver is not there, turns are slow");
    not_there(EPSHM_ZCOPY_TICKS, EPSHM_ZCOPY_LOOK);
}

/** More of them than there may be buffers of their size: these are larger than eager_limit. */
static void case_long_not_there(void)
{
    mca_btl_epshm_frag_t *frag, *list[MANY];
    struct mca_btl_epshm_pool_t *pool;
    int count = 0;

    begin("the receiver is not there, messages are above the eager limit");
    mca_btl_epshm_component.eager_limit = BYTES - 1;
    pool = ((mca_btl_epshm_module_t *) sender)->pool;
    zcopy_many(20);
    TAP_EQ(EPSHM_ZCOPY_LOOK, turns_until_back(EPSHM_ZCOPY_TICKS));
    take_all(receiver);
    TAP_EQ(20, received);
    /* They were in buffers that they fit into, of which there may be no more than before. */
    frag = mca_btl_epshm_frag_get_more(pool, connection, BYTES);
    TAP_EQ(EPSHM_FRAG_MAX, frag->class_index);
    mca_btl_epshm_frag_return(frag);
    while (NULL != (frag = mca_btl_epshm_frag_get(pool, connection, BYTES))) {
        list[count++] = frag;
    }
    TAP_EQ(MAX_FRAGS - MAX_FRAGS / 4, count);
    while (0 < count) {
        mca_btl_epshm_frag_return(list[--count]);
    }
    end();
}

/** What is refused after a loan that was in vain. */
static int refused_then(void)
{
    int refused = 0;

    TAP_EQ(EPSHM_ZCOPY_LOOK, turns_until_back(EPSHM_ZCOPY_TICKS));
    while (OPAL_SUCCESS != zcopy_send()) {
        ++refused;
    }
    return refused;
}

static void case_again(void)
{
    begin("a sender that lends in vain does so ever more rarely");
    zcopy_many(1);
    for (int failures = 0; failures < 4; ++failures) {
        TAP_EQ(1 << (EPSHM_ZCOPY_SHY_FIRST + failures), refused_then());
    }
    take_all(receiver);
    TAP_EQ(1, turns_until_back(0)); /* not in vain */
    TAP_EQ(OPAL_SUCCESS, zcopy_send());
    TAP_EQ(1 << (EPSHM_ZCOPY_SHY_FIRST + 3), refused_then());
    end();
}

/** It comes when the memory is wanted back already: then it is waited for, and the rest is
 * copied. */
static void case_reading(void)
{
    epshm_spsc_ring_t *ring;

    begin("the receiver is reading when the memory is wanted back");
    zcopy_many(2);
    ring = mca_btl_epshm_place((mca_btl_epshm_module_t *) sender, connection)->writer.ring;
    TAP_EQ(EPSHM_ZCOPY_OPEN, epshm_zcopy_borrow(ring));
    TAP_EQ(NONE, turns_until_back(EPSHM_ZCOPY_TICKS));
    TAP_EQ(0, returned);
    epshm_spsc_pop(ring, 1);
    ++received;
    TAP_EQ(1, turns_until_back(0));
    end();
}

/** The SPSC ring has room again before the sender has looked what is back. */
static void case_full(void)
{
    begin("as many loans as an SPSC ring has cells, and one more");
    zcopy_many(CELLS);
    TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, zcopy_send());
    take_all(receiver);
    TAP_EQ(0, returned);
    zcopy_many(1);
    TAP_EQ(CELLS, returned);
    take_all(receiver);
    TAP_EQ(1, turns_until_back(0));
    end();
}

static void case_closed(void)
{
    begin("the receiver goes, with loans in its SPSC ring");
    zcopy_many(4);
    (void) receiver->super.btl_finalize(&receiver->super);
    receiver = NULL;
    TAP_EQ(1, turns_until_back(0));
    end();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_zcopy", 60);
    mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = on_receive;
    if (!epshm_zcopy_setup()) {
        tap_case("no membarrier here: nothing is ever lent");
        tap_case_done();
        return tap_end();
    }
    case_taken();
    case_refused();
    case_not_there();
    case_long_not_there();
    case_again();
    case_reading();
    case_full();
    case_closed();
    return tap_end();
}
