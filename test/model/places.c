/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of a lane's way from one sender to the next (btl_epshm_lane.c): an inbox has one lane, two
 * senders; each opens it if it can, announces it in the shared ring, sends a message, and leaves;
 * the receiver reads until both have been.
 *
 * The variant MODEL_ONLOOKER: a fourth thread asks whether there is something in a lane, as
 * mca_btl_epshm_pending (btl_epshm_progress.c) does.  For a checker only: real threads do all this
 * in unit/test_epshm_lanes_random.
 *
 * Guards: btl_epshm_lane.c
 */

#if defined(MODEL_ONLOOKER)
#    define MODEL_THREADS 4
#else
#    define MODEL_THREADS 3
#endif
#include "model.h"

#undef __linux__ /* nothing is lent */
#include "opal/mca/btl/epshm/threads/btl_epshm_lane.c"

mca_btl_epshm_component_t mca_btl_epshm_component = {.lanes = 1, .lane_cells = 2};

static struct mca_btl_base_endpoint_t *inbox;

void mca_btl_epshm_inbox_release(struct mca_btl_base_endpoint_t *released)
{
    /* As there: a reference that is not the last. */
    (void) atomic_fetch_sub_explicit(&released->references, 1, memory_order_acq_rel);
}

/** Nothing is lent. */
int mca_btl_epshm_loans_end(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    (void) module;
    (void) place;
    return 0;
}

void mca_btl_epshm_loans_free(epshm_place_t *place)
{
    (void) place;
}

static void model_setup(void)
{
    inbox = aligned_alloc(EPSHM_CACHE_LINE, sizeof(*inbox));
    assert(0 == epshm_ring_init(&inbox->ring, 2));
    atomic_init(&inbox->lanes, 0);
    atomic_init(&inbox->lane[0].state, EPSHM_LANE_FREE);
    atomic_init(&inbox->lane[0].ring, NULL);
    atomic_init(&inbox->references, 1);
    atomic_init(&inbox->closed, false);
}

static void send(unsigned int number)
{
    epshm_place_t place;
    uint64_t message = 100 + number;

    place.inbox = NULL;
    MODEL_AWAIT(EPSHM_LANE_FREE
                == atomic_load_explicit(&inbox->lane[0].state, memory_order_relaxed));
    /* Another one may be quicker; the second look then waits until that one has gone. */
    if (!open_lane(&place, inbox)) {
        MODEL_AWAIT(open_lane(&place, inbox));
    }
    MODEL_AWAIT(epshm_lane_has_room(&place.writer, 1));
    epshm_lane_write(&place.writer, 0, &message, sizeof(message));
    epshm_lane_publish(&place.writer, 1,
                       (epshm_lane_mark_t){
                           .kind = EPSHM_KIND_BARE, .tag = (uint8_t) number, .size = 8});
    leave(NULL, &place);
}

static void receive(void)
{
    bool seen[2] = {false, false};

    for (int i = 0; i < 2; ++i) {
        const epshm_cell_t *announcement;
        const epshm_lane_cell_t *cell;
        epshm_lane_ring_t *ring;
        epshm_envelope_t envelope;
        epshm_lane_mark_t mark;
        uint64_t message;

        MODEL_AWAIT(NULL != (announcement = epshm_ring_peek(&inbox->ring)));
        memcpy(&envelope, announcement->data, 8);
        assert(EPSHM_KIND_LANE == envelope.kind && 0 == envelope.size);
        mca_btl_epshm_lane_opened(inbox, 0);
        epshm_ring_pop(&inbox->ring, 1);

        ring = atomic_load_explicit(&inbox->lane[0].ring, memory_order_relaxed);
        MODEL_AWAIT(NULL != (cell = epshm_lane_peek(ring, &mark)));
        memcpy(&message, cell->data, 8);
        assert(message == UINT64_C(100) + mark.tag && !seen[mark.tag]);
        seen[mark.tag] = true;
        epshm_lane_pop(ring, 1);

        MODEL_AWAIT(EPSHM_LANE_LEFT
                    == atomic_load_explicit(&inbox->lane[0].state, memory_order_relaxed));
        mca_btl_epshm_lane_check(inbox, 0);
        assert(0 == atomic_load_explicit(&inbox->lanes, memory_order_relaxed));
    }
}

/** As mca_btl_epshm_pending. */
static void look_on(void)
{
    if (0 != atomic_load_explicit(&inbox->lanes, memory_order_acquire)) {
        (void) epshm_lane_pending(atomic_load_explicit(&inbox->lane[0].ring, memory_order_relaxed));
    }
}

static void model_thread(unsigned int number)
{
    if (3 == number) {
        look_on();
    } else if (2 == number) {
        receive();
    } else {
        send(number);
    }
}

static void model_verdict(void)
{
    assert(1 == atomic_load_explicit(&inbox->references, memory_order_relaxed));
    epshm_lane_destroy(atomic_load_explicit(&inbox->lane[0].ring, memory_order_relaxed));
    epshm_ring_fini(&inbox->ring);
    free(inbox);
}
