/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of a lane's way from one sender to the next (btl_epshm_spsc.c): a receive queue has one lane, two
 * senders; each opens it if it can, announces it in the shared ring, sends a message, and leaves;
 * the receiver reads until both have been.
 *
 * The variant MODEL_ONLOOKER: a fourth thread asks whether there is something in a lane, as
 * mca_btl_epshm_pending (btl_epshm_progress.c) does.  For a checker only: real threads do all this
 * in unit/test_epshm_spsc_rings_random.
 *
 * Guards: btl_epshm_spsc.c
 */

#if defined(MODEL_ONLOOKER)
#    define MODEL_THREADS 4
#else
#    define MODEL_THREADS 3
#endif
#include "model.h"

#undef __linux__ /* there are no zero-copy sends */
#include "opal/mca/btl/epshm/threads/btl_epshm_spsc.c"

mca_btl_epshm_component_t mca_btl_epshm_component = {.spsc_rings = 1, .spsc_cells = 2};

static struct mca_btl_base_endpoint_t *recv_queue;

void mca_btl_epshm_recv_queue_release(struct mca_btl_base_endpoint_t *released)
{
    /* As there: a reference that is not the last. */
    (void) atomic_fetch_sub_explicit(&released->references, 1, memory_order_acq_rel);
}

/** There are no zero-copy sends. */
int mca_btl_epshm_zcopy_end(mca_btl_epshm_module_t *module, epshm_place_t *place)
{
    (void) module;
    (void) place;
    return 0;
}

void mca_btl_epshm_zcopy_free(epshm_place_t *place)
{
    (void) place;
}

static void model_setup(void)
{
    recv_queue = aligned_alloc(EPSHM_CACHE_LINE, sizeof(*recv_queue));
    assert(0 == epshm_ring_init(&recv_queue->ring, 2));
    atomic_init(&recv_queue->spsc_rings, 0);
    atomic_init(&recv_queue->spsc[0].state, EPSHM_SPSC_FREE);
    atomic_init(&recv_queue->spsc[0].ring, NULL);
    atomic_init(&recv_queue->references, 1);
    atomic_init(&recv_queue->closed, false);
}

static void send(unsigned int number)
{
    epshm_place_t place;
    uint64_t message = 100 + number;

    place.recv_queue = NULL;
    MODEL_AWAIT(EPSHM_SPSC_FREE
                == atomic_load_explicit(&recv_queue->spsc[0].state, memory_order_relaxed));
    /* Another one may be quicker; the second look then waits until that one has gone. */
    if (!open_spsc(&place, recv_queue)) {
        MODEL_AWAIT(open_spsc(&place, recv_queue));
    }
    MODEL_AWAIT(epshm_spsc_has_room(&place.writer, 1));
    epshm_spsc_write(&place.writer, 0, &message, sizeof(message));
    epshm_spsc_publish(&place.writer, 1,
                       (epshm_spsc_mark_t){
                           .kind = EPSHM_KIND_BARE, .tag = (uint8_t) number, .size = 8});
    leave(NULL, &place);
}

static void receive(void)
{
    bool seen[2] = {false, false};

    for (int i = 0; i < 2; ++i) {
        const epshm_cell_t *announcement;
        const epshm_spsc_cell_t *cell;
        epshm_spsc_ring_t *ring;
        epshm_envelope_t envelope;
        epshm_spsc_mark_t mark;
        uint64_t message;

        MODEL_AWAIT(NULL != (announcement = epshm_ring_peek(&recv_queue->ring)));
        memcpy(&envelope, announcement->data, 8);
        assert(EPSHM_KIND_SPSC == envelope.kind && 0 == envelope.size);
        mca_btl_epshm_spsc_opened(recv_queue, 0);
        epshm_ring_pop(&recv_queue->ring, 1);

        ring = atomic_load_explicit(&recv_queue->spsc[0].ring, memory_order_relaxed);
        MODEL_AWAIT(NULL != (cell = epshm_spsc_peek(ring, &mark)));
        memcpy(&message, cell->data, 8);
        assert(message == UINT64_C(100) + mark.tag && !seen[mark.tag]);
        seen[mark.tag] = true;
        epshm_spsc_pop(ring, 1);

        MODEL_AWAIT(EPSHM_SPSC_LEFT
                    == atomic_load_explicit(&recv_queue->spsc[0].state, memory_order_relaxed));
        mca_btl_epshm_spsc_check(recv_queue, 0);
        assert(0 == atomic_load_explicit(&recv_queue->spsc_rings, memory_order_relaxed));
    }
}

/** As mca_btl_epshm_pending. */
static void look_on(void)
{
    if (0 != atomic_load_explicit(&recv_queue->spsc_rings, memory_order_acquire)) {
        (void) epshm_spsc_pending(atomic_load_explicit(&recv_queue->spsc[0].ring,
                                                       memory_order_relaxed));
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
    assert(1 == atomic_load_explicit(&recv_queue->references, memory_order_relaxed));
    epshm_spsc_destroy(atomic_load_explicit(&recv_queue->spsc[0].ring, memory_order_relaxed));
    epshm_ring_fini(&recv_queue->ring);
    free(recv_queue);
}
