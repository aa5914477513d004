/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of the receive queue ring (btl_epshm_ring.h): two producers, one consumer, a ring that is full
 * after two messages, so that cells are written again.
 *
 * The variant MODEL_LONG: four cells, messages of two cells and of one, so that a cell which has
 * started a message continues one, and the other way round.
 *
 * Guards: btl_epshm_ring.h
 */

#define MODEL_THREADS 3
#include "model.h"

#include "opal/mca/btl/epshm/threads/btl_epshm_ring.h"

#if defined(MODEL_LONG)
#    define CELLS 4
#    define WORDS_FIRST 8 /* of the first producer's messages: two cells */
#else
#    define CELLS 2
#    define WORDS_FIRST 1
#endif

#define FIRSTS 2  /* messages of the first producer */
#define SECONDS 2 /* of the second one: it may take room that the first has found */

epshm_ring_t ring;

static void model_setup(void)
{
    if (NULL != ring.cells) {
        epshm_ring_fini(&ring);
    }
    assert(0 == epshm_ring_init(&ring, CELLS));
}

static void send(uint64_t producer, uint64_t number, size_t words)
{
    uint64_t message[8], position;

    for (size_t i = 0; i < words; ++i) {
        message[i] = producer << 16 | number << 8 | words;
    }
    MODEL_AWAIT(epshm_ring_claim(&ring, epshm_ring_cells_for(8 * words), &position));
    epshm_ring_write(&ring, position, 0, message, 8 * words);
    epshm_ring_publish(&ring, position);
}

static void receive_all(void)
{
    uint64_t expected[2] = {0, 0};

    for (int i = 0; i < FIRSTS + SECONDS; ++i) {
        const epshm_cell_t *cell;
        uint64_t message[8], producer, words;

        MODEL_AWAIT(NULL != (cell = epshm_ring_peek(&ring)));
        memcpy(message, cell->data, sizeof(uint64_t));
        producer = message[0] >> 16;
        words = message[0] & 0xff;
        assert(2 > producer && (0 == producer ? WORDS_FIRST : 1) == words);
        assert(expected[producer]++ == (message[0] >> 8 & 0xff));
        epshm_ring_read(&ring, message, 8 * words);
        for (uint64_t k = 1; k < words; ++k) {
            assert(message[k] == message[0]);
        }
        epshm_ring_pop(&ring, epshm_ring_cells_for(8 * words));
    }
    assert(NULL == epshm_ring_peek(&ring));
}

static void model_thread(unsigned int number)
{
    switch (number) {
    case 0:
        for (uint64_t i = 0; i < FIRSTS; ++i) {
            send(0, i, WORDS_FIRST);
        }
        break;
    case 1:
        for (uint64_t i = 0; i < SECONDS; ++i) {
            send(1, i, 1);
        }
        break;
    default:
        receive_all();
    }
}

static void model_verdict(void)
{
    assert(!epshm_ring_pending(&ring));
#if defined(MODEL_CHECKER)
    epshm_ring_fini(&ring);
#endif
}
