/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Model of the shared copy (btl_epshm_coop_copy.h): a taker that copies twice in the same place, one
 * piece and then two, of other addresses, and a helper that comes at any time.
 * The variant MODEL_TAKERS: two takers, a copy of one piece each, and a helper.
 *
 * A piece is one word here: of each 16 KiB the first word is copied.
 *
 * Guards: btl_epshm_coop_copy.h
 */

#if defined(MODEL_TAKERS)
#    define MODEL_THREADS 3
#else
#    define MODEL_THREADS 2
#endif
#include "model.h"

#if defined(MODEL_CHECKER)
static void copy_piece(void *to, const void *from, size_t size);
#    undef memcpy
#    define memcpy(to, from, size) copy_piece((to), (from), (size))
#endif

#include "opal/mca/btl/epshm/threads/btl_epshm_coop_copy.h"

#define WORDS (EPSHM_COOP_COPY_PIECE / sizeof(uint64_t))

uint64_t source[2][2 * WORDS], target[2][2 * WORDS];
epshm_coop_copy_t share;
int pieces[MODEL_THREADS];

#if defined(MODEL_CHECKER)
static void copy_piece(void *to, const void *from, size_t size)
{
    assert(0 < size && size <= EPSHM_COOP_COPY_PIECE);
    *(uint64_t *) to = *(const uint64_t *) from;
}
#endif

static void model_setup(void)
{
    epshm_coop_copy_init(&share);
    for (uint64_t i = 0; i < 2; ++i) {
        for (uint64_t k = 0; k < 2; ++k) {
            source[i][k * WORDS] = 1 + 2 * i + k;
            target[i][k * WORDS] = 0;
        }
    }
    for (int i = 0; i < MODEL_THREADS; ++i) {
        pieces[i] = 0;
    }
}

static void take_and_copy(unsigned int number, uint64_t i, size_t size)
{
    /* As the sender left it; the last copy is over. */
    target[i][0] = 0;
    MODEL_AWAIT(epshm_coop_copy_take(&share, target[i], source[i], size));
    pieces[number] += epshm_coop_copy_work(&share, INT_MAX);
    epshm_coop_copy_finish(&share);
    for (uint64_t k = 0; k < size / EPSHM_COOP_COPY_PIECE; ++k) {
        assert(target[i][k * WORDS] == 1 + 2 * i + k);
    }
    source[i][0] = 0; /* the sender's again */
}

static void model_thread(unsigned int number)
{
    if (MODEL_THREADS - 1 == number) {
        pieces[number] = epshm_coop_copy_work(&share, INT_MAX);
        return;
    }
#if defined(MODEL_TAKERS)
    take_and_copy(number, number, EPSHM_COOP_COPY_PIECE);
#else
    for (uint64_t i = 0; i < 2; ++i) {
        take_and_copy(number, i, (1 + i) * EPSHM_COOP_COPY_PIECE);
    }
#endif
}

static void model_verdict(void)
{
    int sum = 0;

    for (int i = 0; i < MODEL_THREADS; ++i) {
        sum += pieces[i];
    }
    assert((MODEL_THREADS == 3 ? 2 : 3) == sum && !epshm_coop_copy_open(&share));
}
