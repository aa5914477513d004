/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of a lane's ring (btl_epshm_spsc.h): one producer, one consumer, four cells, messages
 * of one cell and of two by turns: each cell starts a message and continues one.  With MODEL_OUT_OF_LINE
 * every other message is two lines beside the cells, in an area that comes with the first.
 *
 * The choice of the producer, and its change: places.c.
 *
 * Guards: btl_epshm_spsc.h
 */

#define MODEL_THREADS 2
#include "model.h"

#include "opal/mca/btl/epshm/threads/btl_epshm_spsc.h"

#define MESSAGES 4

static const uint64_t words_of[MESSAGES] = {2, 6, 3, 6};

epshm_spsc_ring_t *ring;
epshm_spsc_writer_t writer;
uint64_t handled; /* messages, by the consumer */

static void model_setup(void)
{
    epshm_spsc_destroy(ring);
    ring = epshm_spsc_create(4);
    assert(NULL != ring);
    epshm_spsc_attach(&writer, ring);
    handled = 0;
}

#if defined(MODEL_OUT_OF_LINE)

/** Bytes of such a message: two lines, of which a word each is looked at. */
#    define BESIDE (EPSHM_SPSC_OUT_OF_LINE + 8)

static void send_out_of_line(uint64_t number)
{
    uint64_t first;
    const uint64_t count = epshm_spsc_cells_out_of_line(writer.mask, writer.tail, BESIDE, &first);

    if (NULL == writer.area) {
        assert(epshm_spsc_make_area(&writer));
    }
    MODEL_AWAIT(epshm_spsc_has_room(&writer, count));
    *(uint64_t *) epshm_spsc_out_of_line(&writer, first) = number;
    *(uint64_t *) epshm_spsc_out_of_line(&writer, first + 1) = number + 100;
    epshm_spsc_continue(&writer, count);
    epshm_spsc_publish(&writer, count,
                       (epshm_spsc_mark_t){.kind = 6, .tag = (uint8_t) number, .size = BESIDE});
}

static void receive_beside(uint64_t number)
{
    const unsigned char *data;
    epshm_spsc_mark_t mark;
    uint64_t count;

    epshm_spsc_await(ring);
    MODEL_AWAIT(NULL != epshm_spsc_peek(ring, &mark));
    assert(number == mark.tag && BESIDE == mark.size);
    data = epshm_spsc_find_out_of_line(ring, BESIDE, &count);
    assert(number == *(const uint64_t *) data);
    assert(number + 100 == *(const uint64_t *) (data + EPSHM_SPSC_OUT_OF_LINE));
    ++handled;
    epshm_spsc_pop(ring, count);
    epshm_spsc_expect(ring, count);
}

#endif

static void send(uint64_t number)
{
    const uint64_t words = words_of[number], count = epshm_spsc_cells_for(8 * words);
    uint64_t message[6];

    for (uint64_t i = 0; i < words; ++i) {
        message[i] = number << 8 | i;
    }
    MODEL_AWAIT(epshm_spsc_has_room(&writer, count));
    epshm_spsc_write(&writer, 0, message, 8 * words);
    epshm_spsc_continue(&writer, count);
    epshm_spsc_publish(&writer, count,
                       (epshm_spsc_mark_t){
                           .kind = 1, .tag = (uint8_t) number, .size = (uint16_t) (8 * words)});
}

static void receive(uint64_t number)
{
    epshm_spsc_mark_t mark;
    const uint64_t words = words_of[number], count = epshm_spsc_cells_for(8 * words);
    uint64_t message[6];

    MODEL_AWAIT(NULL != epshm_spsc_peek(ring, &mark));
    assert(number == mark.tag && 8 * words == mark.size);
    epshm_spsc_read(ring, message, count);
    for (uint64_t i = 0; i < words; ++i) {
        assert(message[i] == (number << 8 | i));
    }
    ++handled;
    epshm_spsc_pop(ring, count);
}

static void model_thread(unsigned int number)
{
    for (uint64_t i = 0; i < MESSAGES; ++i) {
#if defined(MODEL_OUT_OF_LINE)
        if (1 == i % 2) {
            if (0 == number) {
                send_out_of_line(i);
            } else {
                receive_beside(i);
            }
            continue;
        }
#endif
        if (0 == number) {
            send(i);
        } else {
            receive(i);
        }
    }
    if (0 == number) {
        /* What the producer sends by another way now comes behind all that. */
        MODEL_AWAIT(epshm_spsc_is_drained(&writer));
        assert(MESSAGES == handled);
    }
}

static void model_verdict(void)
{
    assert(epshm_spsc_is_drained(&writer) && !epshm_spsc_pending(ring));
#if defined(MODEL_CHECKER)
    epshm_spsc_destroy(ring);
#endif
}
