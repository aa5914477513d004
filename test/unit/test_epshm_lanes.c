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
 * The life of btl/epshm's lanes, step by step: opened, announced, left, freed, forgotten.  Real
 * modules in one thread, which decides who does what next; so what needs a moment of luck between
 * threads (test/mpi/lanes.c) is here done on purpose, and a random program is repeated by its seed.
 *
 * The component's sources are compiled in, as what they share is not exported.  make check builds
 * it as it is; under ThreadSanitizer, by hand, it also proves the orders between the threads that
 * open and leave lanes.
 *
 * Guards: btl/epshm
 */

#include "opal/mca/btl/epshm/threads/btl_epshm_frag.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_inbox.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_lane.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_lend.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_module.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_progress.c"
#include "opal/mca/btl/epshm/threads/btl_epshm_send.c"
#include "opal/mca/btl/epshm/base/btl_epshm_sendi.c"

#include "tap.h"

#include <pthread.h>
#include <sched.h>

#define SLOTS 24
#define INSTANCES 400
#define PAYLOAD_MAX 500
#define PREFIX UINT64_C(0x1122334455667788)

mca_btl_epshm_component_t mca_btl_epshm_component;

/** A module, and what has come to it. */
typedef struct side_t {
    mca_btl_ep_module_t *module;
    unsigned int instance;
    struct mca_btl_base_endpoint_t *to[SLOTS]; /**< connections */
} side_t;

static side_t sides[SLOTS];
static unsigned int next_instance;
static bool no_buffers; /**< all messages fit cells */
static _Atomic uint32_t received_apart; /**< messages that came beside the cells */
static uint32_t sent[INSTANCES][INSTANCES], received[INSTANCES][INSTANCES]; /**< [from][to] */

typedef struct header_t {
    uint64_t prefix;
    uint32_t from, number;
    uint64_t size; /**< of the payload */
} header_t;

_Static_assert(EPSHM_USUAL_HEADER == sizeof(header_t), "may travel bare");

static uint64_t stream_of(unsigned int from, unsigned int to, uint32_t number)
{
    return tap_stream((uint64_t) from << 48 ^ (uint64_t) to << 32 ^ number);
}

static size_t payload_of(unsigned int from, unsigned int to, uint32_t number, unsigned char *data)
{
    static const uint64_t limits[] = {9, 9, 9, 33, 60, 200, PAYLOAD_MAX + 1, PAYLOAD_MAX + 1};
    uint64_t random = stream_of(from, to, number);
    const size_t size = tap_below(&random,
                                  limits[tap_below(&random, no_buffers ? 6 : 8)]);

    for (size_t i = 0; i < size; ++i) {
        data[i] = (unsigned char) (random >> i % 57);
    }
    return size;
}

static void check(const side_t *side, const header_t *header, const unsigned char *data,
                  size_t size)
{
    unsigned char due[PAYLOAD_MAX];
    const uint32_t number = received[header->from][side->instance]++;

    TAP_CHECK(number == header->number, "%u to %u: message %u instead of %u", header->from,
              side->instance, header->number, number);
    TAP_EQ(header->size, size);
    TAP_EQ(payload_of(header->from, side->instance, header->number, due), size);
    TAP_CHECK(0 == memcmp(due, data, size), "%u to %u: message %u differs", header->from,
              side->instance, number);
}

static void on_receive(mca_btl_base_module_t *btl, const mca_btl_base_receive_descriptor_t *message)
{
    const unsigned char *data = message->des_segments[0].seg_addr.pval;
    header_t header;

    memcpy(&header, data, sizeof(header));
    check(((mca_btl_ep_module_t *) btl)->ep_context, &header, data + sizeof(header),
          message->des_segments[0].seg_len - sizeof(header));
}

static void on_bare(void *context, const void *rest, size_t size)
{
    header_t header = {.prefix = PREFIX};

    memcpy((char *) &header + 8, rest, sizeof(header) - 8);
    check(context, &header, (const unsigned char *) rest + sizeof(header) - 8,
          size - sizeof(header) + 8);
}

static void on_apart(void *context, const void *rest, const void *data, size_t size)
{
    header_t header = {.prefix = PREFIX};

    memcpy((char *) &header + 8, rest, sizeof(header) - 8);
    check(context, &header, data, size);
    atomic_fetch_add_explicit(&received_apart, 1, memory_order_relaxed);
}

static void side_open(int slot)
{
    side_t *side = &sides[slot];

    memset(side, 0, sizeof(*side));
    if (INSTANCES == next_instance
        || OPAL_SUCCESS != mca_btl_epshm_module_create(side, MCA_BTL_EP_FLAG_NONE,
                                                       &side->module)) {
        printf("Bail out! no module\n");
        exit(99);
    }
    side->instance = next_instance++;
    side->module->ep_prefix = PREFIX;
    side->module->ep_receive_bare = on_bare;
    side->module->ep_receive_loan = on_apart;
}

static void side_disconnect(int slot, int other)
{
    if (NULL != sides[slot].to[other]) {
        sides[slot].module->ep_disconnect(sides[slot].module, sides[slot].to[other]);
        sides[slot].to[other] = NULL;
    }
}

/** @param[in] forgotten  do the others give up their connections to it? */
static void side_close(int slot, bool forgotten)
{
    for (int other = 0; other < SLOTS; ++other) {
        side_disconnect(slot, other);
        if (forgotten && NULL != sides[other].module) {
            side_disconnect(other, slot);
        }
    }
    (void) sides[slot].module->super.btl_finalize(&sides[slot].module->super);
    sides[slot].module = NULL;
}

static void connect_to(int from, int to)
{
    if (NULL == sides[from].to[to]) {
        TAP_EQ(OPAL_SUCCESS,
               sides[from].module->ep_connect(sides[from].module, sides[to].module->ep_address,
                                              sizeof(mca_btl_epshm_address_t),
                                              &sides[from].to[to]));
    }
}

static int side_send(int from, int to)
{
    const unsigned int a = sides[from].instance, b = sides[to].instance;
    unsigned char data[PAYLOAD_MAX];
    header_t header = {.from = a, .number = sent[a][b]};
    uint64_t random = stream_of(a, b, header.number) + 1;
    int rc;

    connect_to(from, to);
    header.prefix = 0 == tap_below(&random, 4) ? PREFIX + 1 : PREFIX;
    header.size = payload_of(a, b, header.number, data);
    rc = sides[from].module->ep_send(sides[from].module, sides[from].to[to], &header,
                                     sizeof(header), data, header.size, MCA_BTL_EP_TAG);
    if (OPAL_SUCCESS == rc) {
        ++sent[a][b];
    }
    return rc;
}

static void send_many(int from, int to, int count)
{
    for (int i = 0; i < count; ++i) {
        TAP_EQ(OPAL_SUCCESS, side_send(from, to));
    }
}

static int side_progress(int slot)
{
    return sides[slot].module->ep_progress(sides[slot].module);
}

static void take_all(int slot)
{
    while (0 < side_progress(slot)) {
    }
}

static struct mca_btl_base_endpoint_t *inbox_of(int slot)
{
    return ((mca_btl_epshm_module_t *) sides[slot].module)->inbox;
}

static epshm_place_t *place_of(int from, int to)
{
    return mca_btl_epshm_place((mca_btl_epshm_module_t *) sides[from].module, inbox_of(to));
}

static bool has_lane(int from, int to)
{
    return inbox_of(to) == place_of(from, to)->inbox;
}

static unsigned int state_of(const struct mca_btl_base_endpoint_t *inbox, int lane)
{
    return atomic_load_explicit(&inbox->lane[lane].state, memory_order_relaxed);
}

static uint32_t bits_of(const struct mca_btl_base_endpoint_t *inbox)
{
    return atomic_load_explicit(&inbox->lanes, memory_order_relaxed);
}

static uint32_t references_of(const struct mca_btl_base_endpoint_t *inbox)
{
    return atomic_load_explicit(&inbox->references, memory_order_relaxed);
}

static void begin(int count)
{
    mca_btl_epshm_component.ring_cells = 1024;
    mca_btl_epshm_component.lanes = 8;
    mca_btl_epshm_component.lane_cells = 256;
    mca_btl_epshm_component.eager_limit = 4096;
    mca_btl_epshm_component.max_send_size = 32768;
    mca_btl_epshm_component.share_min = 32768;
    mca_btl_epshm_component.eager_frags_max = 256;
    mca_btl_epshm_component.max_frags_max = 16;
    next_instance = 0;
    memset(sides, 0, sizeof(sides));
    memset(sent, 0, sizeof(sent));
    memset(received, 0, sizeof(received));
    for (int i = 0; i < count; ++i) {
        side_open(i);
    }
}

/** Everything that was sent between those who live must have come. */
static void check_all_received(void)
{
    for (int to = 0; to < SLOTS; ++to) {
        for (unsigned int from = 0; NULL != sides[to].module && from < next_instance; ++from) {
            TAP_EQ(sent[from][sides[to].instance], received[from][sides[to].instance]);
        }
    }
}

static void end(void)
{
    for (int i = 0; i < SLOTS; ++i) {
        if (NULL != sides[i].module) {
            take_all(i);
        }
    }
    check_all_received();
    for (int i = 0; i < SLOTS; ++i) {
        if (NULL != sides[i].module) {
            side_close(i, true);
        }
    }
    no_buffers = false;
    tap_case_done();
}

/* ---- one step after the other --------------------------------------------------------------- */

static void case_open(void)
{
    tap_case("a lane is opened after %d messages, and read from its announcement on",
             EPSHM_LANE_AFTER);
    begin(3);
    connect_to(0, 1);
    TAP_EQ(2, references_of(inbox_of(1)));
    send_many(0, 1, EPSHM_LANE_AFTER - 1);
    TAP_CHECK(!has_lane(0, 1), "a lane too early");
    send_many(0, 1, 1);
    TAP_CHECK(has_lane(0, 1), "no lane");
    TAP_EQ(EPSHM_LANE_TAKEN, state_of(inbox_of(1), 0));
    TAP_EQ(3, references_of(inbox_of(1)));
    send_many(0, 1, 5);
    TAP_EQ(0, bits_of(inbox_of(1)));

    take_all(1);
    TAP_EQ(1, bits_of(inbox_of(1)));
    TAP_EQ(EPSHM_LANE_TAKEN, state_of(inbox_of(1), 0));
    TAP_EQ(sent[0][1], received[0][1]);

    send_many(0, 1, 1);
    TAP_CHECK(sides[1].module->ep_pending(sides[1].module), "a message in a lane is not seen");
    end();
}

/** What stands before the announcement in the shared ring comes first, however much it is. */
static void case_behind_others(void)
{
    tap_case("a lane is not read before its announcement");
    begin(3);
    send_many(0, 1, EPSHM_LANE_AFTER - 1);
    send_many(2, 1, EPSHM_LANE_AFTER - 1);
    send_many(0, 1, 8);
    TAP_CHECK(has_lane(0, 1), "no lane");
    TAP_EQ(0, bits_of(inbox_of(1)));
    (void) side_progress(1);
    TAP_EQ(0, bits_of(inbox_of(1)));
    TAP_EQ(EPSHM_LANE_AFTER - 1, received[0][1]);
    (void) side_progress(1);
    TAP_EQ(1, bits_of(inbox_of(1)));
    end();
}

static void case_left_full(void)
{
    struct mca_btl_base_endpoint_t *inbox;
    epshm_lane_ring_t *ring;

    tap_case("a lane that is left is freed when it is empty, and used again");
    begin(2);
    inbox = inbox_of(1);
    send_many(0, 1, EPSHM_LANE_AFTER + 10);
    side_close(0, true);
    TAP_EQ(1, references_of(inbox)); /* neither the connection nor the lane */
    TAP_EQ(EPSHM_LANE_LEFT, state_of(inbox, 0));
    ring = lane_ring(inbox, 0);

    mca_btl_epshm_lane_opened(inbox, 0); /* as if the announcement had been read */
    mca_btl_epshm_lane_check(inbox, 0);
    TAP_EQ(EPSHM_LANE_LEFT, state_of(inbox, 0)); /* not with messages in it */
    TAP_EQ(1, bits_of(inbox));
    take_all(1);
    TAP_EQ(sent[0][1], received[0][1]);
    TAP_EQ(EPSHM_LANE_FREE, state_of(inbox, 0));
    TAP_EQ(0, bits_of(inbox));

    side_open(2);
    send_many(2, 1, EPSHM_LANE_AFTER + 10);
    TAP_EQ(EPSHM_LANE_TAKEN, state_of(inbox, 0));
    TAP_EQ((uintptr_t) ring, (uintptr_t) lane_ring(inbox, 0));
    TAP_EQ(0, bits_of(inbox)); /* announced again, not read yet */
    end();
}

static void case_beside(void)
{
    const unsigned char *area;

    tap_case("what is longer than two cells goes beside them, and is dropped with its lane");
    begin(2);
    received_apart = 0;
    send_many(0, 1, EPSHM_LANE_AFTER);
    take_all(1);
    TAP_EQ(0, received_apart);
    for (int i = 0; i < 200; ++i) {
        send_many(0, 1, 1);
        take_all(1);
    }
    TAP_CHECK(20 < received_apart, "%u messages beside the cells", (unsigned int) received_apart);
    area = place_of(0, 1)->writer.area;
    TAP_CHECK(NULL != area, "no area");
    send_many(0, 1, 10);
    side_close(1, false); /* with them in it */
    side_open(1);
    end();
}

static void case_compete(void)
{
    tap_case("a place is given to another inbox when its lane is drained, not before");
    begin(18);
    TAP_EQ((uintptr_t) place_of(0, 1), (uintptr_t) place_of(0, 17));
    for (int i = 0; i < 6; ++i) { /* in a row, that is: without the other in between */
        send_many(0, 0 == i % 2 ? 1 : 17, EPSHM_LANE_AFTER - 1);
    }
    TAP_CHECK(!has_lane(0, 1) && !has_lane(0, 17), "a lane after too few messages in a row");
    take_all(1);
    take_all(17);
    send_many(0, 1, EPSHM_LANE_AFTER + 1);
    TAP_CHECK(has_lane(0, 1), "no lane");
    send_many(0, 17, 3 * EPSHM_LANE_AFTER);
    TAP_CHECK(has_lane(0, 1), "left with messages in it");
    take_all(1);
    TAP_CHECK(has_lane(0, 1), "left without need");
    send_many(0, 17, EPSHM_LANE_AFTER);
    TAP_CHECK(has_lane(0, 17), "not left though drained");
    TAP_EQ(EPSHM_LANE_LEFT, state_of(inbox_of(1), 0));
    TAP_EQ(2, references_of(inbox_of(1)));
    send_many(0, 1, 4); /* through the shared ring, behind what was in the lane */
    take_all(1);
    TAP_EQ(EPSHM_LANE_FREE, state_of(inbox_of(1), 0));
    take_all(17);
    send_many(0, 1, EPSHM_LANE_AFTER); /* and back */
    TAP_CHECK(has_lane(0, 1), "does not come back");
    end();
}

static void case_all_taken(void)
{
    struct mca_btl_base_endpoint_t *inbox;

    tap_case("more senders than lanes: the shared ring serves, until a lane is free");
    begin(11);
    inbox = inbox_of(0);
    for (int i = 1; i <= 9; ++i) {
        send_many(i, 0, 2 * EPSHM_LANE_AFTER);
        take_all(0);
        TAP_EQ(i <= 8, has_lane(i, 0));
    }
    TAP_EQ(0xff, bits_of(inbox));
    TAP_EQ(1 + 9 + 8, references_of(inbox));
    side_close(3, true);
    take_all(0);
    TAP_EQ(0xff & ~(1 << 2), bits_of(inbox));
    send_many(9, 0, EPSHM_LANE_AFTER);
    TAP_CHECK(has_lane(9, 0), "the free lane is not taken");
    TAP_EQ((uintptr_t) &inbox->lane[2], (uintptr_t) place_of(9, 0)->lane);
    end();
}

static void case_no_announcement(void)
{
    struct mca_btl_base_endpoint_t *inbox;
    uint64_t position;

    tap_case("no room for the announcement: the lane stays free");
    begin(1);
    mca_btl_epshm_component.ring_cells = 16;
    side_open(1);
    inbox = inbox_of(1);
    connect_to(0, 1);
    while (epshm_ring_claim(&inbox->ring, 1, &position)) { /* as if others were slow */
    }
    for (int i = 0; i < 2 * EPSHM_LANE_AFTER; ++i) {
        TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, side_send(0, 1));
        TAP_CHECK(!has_lane(0, 1), "a lane unannounced");
        TAP_EQ(EPSHM_LANE_FREE, state_of(inbox, 0));
        TAP_EQ(2, references_of(inbox));
    }
    side_close(1, true);
    side_close(0, true);
    tap_case_done();
}

static void case_self(void)
{
    tap_case("a module's lane to itself");
    begin(1);
    for (int i = 0; i < 20; ++i) {
        send_many(0, 0, 10);
        take_all(0);
    }
    TAP_CHECK(has_lane(0, 0), "no lane");
    TAP_EQ(3, references_of(inbox_of(0)));
    end();
}

/** The one buffer that a side may have, for somebody, or NULL while it is out. */
static mca_btl_epshm_frag_t *buffer_of(int slot, int to)
{
    return mca_btl_epshm_frag_get(((mca_btl_epshm_module_t *) sides[slot].module)->pool,
                                  sides[slot].to[to], 500);
}

/** A closed inbox: buffers come back, lanes to it are given up, nobody needs the place for it. */
static void case_closed(void)
{
    const unsigned char unwanted[500] = {0};
    struct mca_btl_base_endpoint_t *inbox;
    mca_btl_epshm_frag_t *frag;
    epshm_place_t *place;

    tap_case("a closed inbox gives buffers back, and lanes to it are given up");
    begin(2);
    mca_btl_epshm_component.eager_frags_max = 1;
    side_open(2);
    inbox = inbox_of(1);
    place = place_of(2, 1);
    for (int i = 0; i < 2 * EPSHM_LANE_AFTER; ++i) {
        send_many(2, 1, 1);
        take_all(1);
    }
    TAP_CHECK(has_lane(2, 1), "no lane");
    TAP_EQ(OPAL_SUCCESS,
           sides[2].module->ep_send(sides[2].module, sides[2].to[1], unwanted, sizeof(unwanted),
                                    NULL, 0, MCA_BTL_EP_TAG));
    TAP_CHECK(NULL == buffer_of(2, 1), "the buffer is not out");
    side_close(1, false);
    TAP_EQ(2, references_of(inbox)); /* the connection's and the lane's */
    frag = buffer_of(2, 1);
    TAP_CHECK(NULL != frag, "the buffer does not come back");
    if (NULL != frag) {
        mca_btl_epshm_frag_free(frag);
    }
    TAP_EQ(OPAL_ERR_UNREACH, sides[2].module->ep_send(sides[2].module, sides[2].to[1], unwanted, 8,
                                                      NULL, 0, MCA_BTL_EP_TAG));
    TAP_CHECK(sides[2].module->ep_pending(sides[2].module), "nothing to do about the lane");
    take_all(2);
    TAP_CHECK(NULL == place->inbox, "the lane is not given up");
    TAP_EQ(1, references_of(inbox));
    TAP_CHECK(!sides[2].module->ep_pending(sides[2].module), "still something to do");
    side_disconnect(2, 1);
    end();
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Two senders take turns with the only lane of slot 0, which the first leaves for slot 16's.
 * Nothing but the lane itself orders one before the other: under ThreadSanitizer an order that is
 * missing is a race for the ring, whose tail waits there between the two. */

enum { RECEIVER = 0, FIRST = 1, SECOND = 2, RIVAL = EPSHM_LANE_PLACES, SLOT_COUNT };

static _Atomic int turn; /* relaxed: must not order anything */

static int turn_is(void)
{
    return atomic_load_explicit(&turn, memory_order_relaxed);
}

/** Send until the lane is there. */
static void send_until_lane(int from, int to)
{
    while (!has_lane(from, to)) {
        (void) side_send(from, to);
        sched_yield();
    }
    for (int i = 0; i < 20; ++i) {
        (void) side_send(from, to);
    }
}

static void *sender_main(void *argument)
{
    const int slot = *(const int *) argument;

    while (slot != turn_is()) {
        sched_yield();
    }
    send_until_lane(slot, RECEIVER);
    if (FIRST == slot) {
        send_until_lane(slot, RIVAL); /* leaves the other */
    }
    atomic_store_explicit(&turn, slot + 1, memory_order_relaxed);
    return NULL;
}

static void *receiver_main(void *argument)
{
    const int slot = *(const int *) argument;

    while (SECOND >= turn_is()) {
        if (0 == side_progress(slot)) {
            sched_yield();
        }
    }
    return NULL;
}

static void *observer_main(void *argument)
{
    (void) argument;
    while (SECOND >= turn_is()) {
        (void) sides[RECEIVER].module->ep_pending(sides[RECEIVER].module);
        sched_yield();
    }
    return NULL;
}

static void case_threads(void)
{
    static const int slots[] = {RECEIVER, RIVAL, RECEIVER, FIRST, SECOND};
    void *(*const mains[])(void *) = {receiver_main, receiver_main, observer_main, sender_main,
                                      sender_main};

    tap_case("a lane goes from thread to thread");
    for (int round = 0; round < 20; ++round) {
        pthread_t threads[5];

        begin(0);
        mca_btl_epshm_component.ring_cells = 1 << 16; /* no order by its limit */
        mca_btl_epshm_component.lanes = 1;
        no_buffers = true; /* which come back in an order */
        for (int i = 0; i < SLOT_COUNT; ++i) {
            side_open(i);
        }
        for (int from = FIRST; from <= SECOND; ++from) {
            connect_to(from, RECEIVER);
            connect_to(from, RIVAL);
        }
        atomic_store_explicit(&turn, FIRST, memory_order_relaxed);
        for (int i = 0; i < 5; ++i) {
            if (0 != pthread_create(&threads[i], NULL, mains[i], (void *) &slots[i])) {
                printf("Bail out! no thread\n");
                exit(99);
            }
        }
        for (int i = 0; i < 5; ++i) {
            pthread_join(threads[i], NULL);
        }
        for (int i = 0; i < SLOT_COUNT; ++i) {
            take_all(i);
        }
        check_all_received();
        for (int i = 0; i < SLOT_COUNT; ++i) {
            side_close(i, true);
        }
    }
    tap_case_done();
}

/* ---- a random program ------------------------------------------------------------------------ */

static void random_step(uint64_t *random, int slots)
{
    const int a = (int) tap_below(random, (uint64_t) slots);
    /* Two in three to a neighbour or the one whose place is the same. */
    const int b = 0 == tap_below(random, 3)
                      ? (int) tap_below(random, (uint64_t) slots)
                      : (a + 1 + EPSHM_LANE_PLACES * (int) tap_below(random, 2)) % slots;

    if (0 == tap_below(random, 400) && next_instance < INSTANCES) {
        if (NULL != sides[a].module) {
            side_close(a, true);
        }
        side_open(a);
        return;
    }
    if (0 == tap_below(random, 3)) {
        (void) side_progress(a);
        return;
    }
    for (uint64_t i = 1 + tap_below(random, 60); 0 < i; --i) {
        if (OPAL_SUCCESS != side_send(a, b)) {
            (void) side_progress(b);
        }
    }
}

static void case_random(int slots, unsigned int lanes, unsigned int lane_cells, unsigned int cells,
                        unsigned int frags)
{
    uint64_t random = tap_stream(7 + (uint64_t) slots * 1000 + lanes);

    tap_case("random: %d modules that come and go, %u lanes of %u cells, %u cells, %u buffers",
             slots, lanes, lane_cells, cells, frags);
    begin(0);
    mca_btl_epshm_component.lanes = lanes;
    mca_btl_epshm_component.lane_cells = lane_cells;
    mca_btl_epshm_component.ring_cells = cells;
    mca_btl_epshm_component.eager_frags_max = frags;
    for (int i = 0; i < slots; ++i) {
        side_open(i);
    }
    for (int step = 0; step < 40000 && !tap_case_failed(); ++step) {
        random_step(&random, slots);
    }
    end();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_lanes", 120);
    mca_btl_base_active_message_trigger[MCA_BTL_EP_TAG].cbfunc = on_receive;
    case_open();
    case_behind_others();
    case_left_full();
    case_beside();
    case_compete();
    case_all_taken();
    case_no_announcement();
    case_self();
    case_closed();
    case_threads();
    case_random(3, 8, 64, 512, 256);
    case_random(20, 8, 256, 512, 4);
    case_random(SLOTS, 1, 64, 64, 1);
    case_random(SLOTS, 32, 64, 16, 2);
    case_random(20, 0, 64, 512, 16);
    return tap_end();
}
