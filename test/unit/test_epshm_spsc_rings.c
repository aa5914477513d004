/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The life of btl/epshm's SPSC rings, step by step: opened, announced, left, freed, forgotten.  Real
 * modules in one thread, which decides on the order of steps; so what needs a moment of luck
 * between threads (test/mpi/p2p/SPSC rings.c) is here done on purpose.  By threads, and at random:
 * test_epshm_spsc_rings_random.c.
 *
 * Guards: btl/epshm
 */

#include "test_epshm_spsc_rings.h"

static void case_open(void)
{
    tap_case("an SPSC ring is opened after %d messages, and read from its announcement on",
             EPSHM_SPSC_AFTER);
    begin(3);
    connect_to(0, 1);
    TAP_EQ(2, references_of(recv_queue_of(1)));
    send_many(0, 1, EPSHM_SPSC_AFTER - 1);
    TAP_CHECK(!has_spsc(0, 1), "an SPSC ring too early");
    send_many(0, 1, 1);
    TAP_CHECK(has_spsc(0, 1), "no SPSC ring");
    TAP_EQ(EPSHM_SPSC_TAKEN, state_of(recv_queue_of(1), 0));
    TAP_EQ(3, references_of(recv_queue_of(1)));
    send_many(0, 1, 5);
    TAP_EQ(0, bits_of(recv_queue_of(1)));

    take_all(1);
    TAP_EQ(1, bits_of(recv_queue_of(1)));
    TAP_EQ(EPSHM_SPSC_TAKEN, state_of(recv_queue_of(1), 0));
    TAP_EQ(sent[0][1], received[0][1]);

    send_many(0, 1, 1);
    TAP_CHECK(eps[1].module->ep_pending(eps[1].module), "a message in an SPSC ring is not seen");
    end();
}

/** What stands before the announcement in the shared ring comes first, however much it is. */
static void case_behind_others(void)
{
    tap_case("an SPSC ring is not read before its announcement");
    begin(3);
    send_many(0, 1, EPSHM_SPSC_AFTER - 1);
    send_many(2, 1, EPSHM_SPSC_AFTER - 1);
    send_many(0, 1, 8);
    TAP_CHECK(has_spsc(0, 1), "no SPSC ring");
    TAP_EQ(0, bits_of(recv_queue_of(1)));
    (void) test_ep_progress(1);
    TAP_EQ(0, bits_of(recv_queue_of(1)));
    TAP_EQ(EPSHM_SPSC_AFTER - 1, received[0][1]);
    (void) test_ep_progress(1);
    TAP_EQ(1, bits_of(recv_queue_of(1)));
    end();
}

static void case_left_full(void)
{
    struct mca_btl_base_endpoint_t *recv_queue;
    epshm_spsc_ring_t *ring;

    tap_case("an SPSC ring that is left is freed when it is empty, and used again");
    begin(2);
    recv_queue = recv_queue_of(1);
    send_many(0, 1, EPSHM_SPSC_AFTER + 10);
    test_ep_close(0, true);
    TAP_EQ(1, references_of(recv_queue)); /* neither the connection nor the SPSC ring */
    TAP_EQ(EPSHM_SPSC_LEFT, state_of(recv_queue, 0));
    ring = spsc_ring(recv_queue, 0);

    mca_btl_epshm_spsc_opened(recv_queue, 0); /* as if the announcement had been read */
    mca_btl_epshm_spsc_check(recv_queue, 0);
    TAP_EQ(EPSHM_SPSC_LEFT, state_of(recv_queue, 0)); /* not with messages in it */
    TAP_EQ(1, bits_of(recv_queue));
    take_all(1);
    TAP_EQ(sent[0][1], received[0][1]);
    TAP_EQ(EPSHM_SPSC_FREE, state_of(recv_queue, 0));
    TAP_EQ(0, bits_of(recv_queue));

    test_ep_open(2);
    send_many(2, 1, EPSHM_SPSC_AFTER + 10);
    TAP_EQ(EPSHM_SPSC_TAKEN, state_of(recv_queue, 0));
    TAP_EQ((uintptr_t) ring, (uintptr_t) spsc_ring(recv_queue, 0));
    TAP_EQ(0, bits_of(recv_queue)); /* announced again, not read yet */
    end();
}

static void case_beside(void)
{
    const unsigned char *area;

    tap_case("what is longer than two cells goes beside them, and is dropped with its SPSC ring");
    begin(2);
    received_apart = 0;
    send_many(0, 1, EPSHM_SPSC_AFTER);
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
    test_ep_close(1, false); /* with them in it */
    test_ep_open(1);
    end();
}

static void case_compete(void)
{
    tap_case("a place is given to another receive queue when its SPSC ring is drained, not before");
    begin(18);
    TAP_EQ((uintptr_t) place_of(0, 1), (uintptr_t) place_of(0, 17));
    for (int i = 0; i < 6; ++i) { /* in a row, that is: without the other in between */
        send_many(0, 0 == i % 2 ? 1 : 17, EPSHM_SPSC_AFTER - 1);
    }
    TAP_CHECK(!has_spsc(0, 1) && !has_spsc(0, 17), "an SPSC ring after too few messages in a row");
    take_all(1);
    take_all(17);
    send_many(0, 1, EPSHM_SPSC_AFTER + 1);
    TAP_CHECK(has_spsc(0, 1), "no SPSC ring");
    send_many(0, 17, 3 * EPSHM_SPSC_AFTER);
    TAP_CHECK(has_spsc(0, 1), "left with messages in it");
    take_all(1);
    TAP_CHECK(has_spsc(0, 1), "left without need");
    send_many(0, 17, EPSHM_SPSC_AFTER);
    TAP_CHECK(has_spsc(0, 17), "not left though drained");
    TAP_EQ(EPSHM_SPSC_LEFT, state_of(recv_queue_of(1), 0));
    TAP_EQ(2, references_of(recv_queue_of(1)));
    send_many(0, 1, 4); /* through the shared ring, behind what was in the SPSC ring */
    take_all(1);
    TAP_EQ(EPSHM_SPSC_FREE, state_of(recv_queue_of(1), 0));
    take_all(17);
    send_many(0, 1, EPSHM_SPSC_AFTER); /* and back */
    TAP_CHECK(has_spsc(0, 1), "does not come back");
    end();
}

static void case_all_taken(void)
{
    struct mca_btl_base_endpoint_t *recv_queue;

    tap_case("more senders than SPSC rings: the shared ring serves, until an SPSC ring is free");
    begin(11);
    recv_queue = recv_queue_of(0);
    for (int i = 1; i <= 9; ++i) {
        send_many(i, 0, 2 * EPSHM_SPSC_AFTER);
        take_all(0);
        TAP_EQ(i <= 8, has_spsc(i, 0));
    }
    TAP_EQ(0xff, bits_of(recv_queue));
    TAP_EQ(1 + 9 + 8, references_of(recv_queue));
    test_ep_close(3, true);
    take_all(0);
    TAP_EQ(0xff & ~(1 << 2), bits_of(recv_queue));
    send_many(9, 0, EPSHM_SPSC_AFTER);
    TAP_CHECK(has_spsc(9, 0), "the free SPSC ring is not taken");
    TAP_EQ((uintptr_t) &recv_queue->spsc[2], (uintptr_t) place_of(9, 0)->spsc);
    end();
}

static void case_no_announcement(void)
{
    struct mca_btl_base_endpoint_t *recv_queue;
    uint64_t position;

    tap_case("no room for the announcement: the SPSC ring stays free");
    begin(1);
    mca_btl_epshm_component.ring_cells = 16;
    test_ep_open(1);
    recv_queue = recv_queue_of(1);
    connect_to(0, 1);
    while (epshm_ring_claim(&recv_queue->ring, 1, &position)) { /* as if others were slow */
    }
    for (int i = 0; i < 2 * EPSHM_SPSC_AFTER; ++i) {
        TAP_EQ(OPAL_ERR_OUT_OF_RESOURCE, test_ep_send(0, 1));
        TAP_CHECK(!has_spsc(0, 1), "an SPSC ring unannounced");
        TAP_EQ(EPSHM_SPSC_FREE, state_of(recv_queue, 0));
        TAP_EQ(2, references_of(recv_queue));
    }
    test_ep_close(1, true);
    test_ep_close(0, true);
    tap_case_done();
}

static void case_self(void)
{
    tap_case("a module's SPSC ring to itself");
    begin(1);
    for (int i = 0; i < 20; ++i) {
        send_many(0, 0, 10);
        take_all(0);
    }
    TAP_CHECK(has_spsc(0, 0), "no SPSC ring");
    TAP_EQ(3, references_of(recv_queue_of(0)));
    end();
}

/** The one buffer that an endpoint may have, for somebody, or NULL while it is out. */
static mca_btl_epshm_frag_t *buffer_of(int slot, int to)
{
    return mca_btl_epshm_frag_get(((mca_btl_epshm_module_t *) eps[slot].module)->pool,
                                  eps[slot].to[to], 500);
}

/** A closed receive queue: buffers come back, SPSC rings to it are given up, nobody needs the place for it. */
static void case_closed(void)
{
    const unsigned char unwanted[500] = {0};
    struct mca_btl_base_endpoint_t *recv_queue;
    mca_btl_epshm_frag_t *frag;
    epshm_place_t *place;

    tap_case("a closed receive queue gives buffers back, and SPSC rings to it are given up");
    begin(2);
    mca_btl_epshm_component.eager_frags_max = 1;
    test_ep_open(2);
    recv_queue = recv_queue_of(1);
    place = place_of(2, 1);
    for (int i = 0; i < 2 * EPSHM_SPSC_AFTER; ++i) {
        send_many(2, 1, 1);
        take_all(1);
    }
    TAP_CHECK(has_spsc(2, 1), "no SPSC ring");
    TAP_EQ(OPAL_SUCCESS, eps[2].module->ep_send(eps[2].module, eps[2].to[1], unwanted,
                                                sizeof(unwanted), NULL, 0, MCA_BTL_EP_TAG));
    TAP_CHECK(NULL == buffer_of(2, 1), "the buffer is not out");
    test_ep_close(1, false);
    TAP_EQ(2, references_of(recv_queue)); /* the connection's and the SPSC ring's */
    frag = buffer_of(2, 1);
    TAP_CHECK(NULL != frag, "the buffer does not come back");
    if (NULL != frag) {
        mca_btl_epshm_frag_free(frag);
    }
    TAP_EQ(OPAL_ERR_UNREACH, eps[2].module->ep_send(eps[2].module, eps[2].to[1], unwanted, 8, NULL,
                                                    0, MCA_BTL_EP_TAG));
    TAP_CHECK(eps[2].module->ep_pending(eps[2].module), "nothing to do about the SPSC ring");
    take_all(2);
    TAP_CHECK(NULL == place->recv_queue, "the SPSC ring is not given up");
    TAP_EQ(1, references_of(recv_queue));
    TAP_CHECK(!eps[2].module->ep_pending(eps[2].module), "still something to do");
    test_ep_disconnect(2, 1);
    end();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_spsc_rings", 120);
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
    return tap_end();
}
