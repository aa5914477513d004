/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The shared copy (btl_epshm_coop_copy.h): bytes, pieces, and many takers and helpers at once.
 *
 * Guards: btl_epshm_coop_copy.h
 */

#include "opal/mca/btl/epshm/threads/btl_epshm_coop_copy.h"

#include "tap.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAKERS_MAX = 4, HELPERS_MAX = 6, SIZE_MOST = 20 * 16384 + 77 };

/** Bytes on either side of a target that must not change. */
enum { GUARD = 64 };

static unsigned char pattern(size_t i, uint64_t salt)
{
    return (unsigned char) ((i * 131 + (i >> 8) * 7 + salt * 29) & 0xff);
}

static void fill(unsigned char *data, size_t size, uint64_t salt)
{
    for (size_t i = 0; i < size; ++i) {
        data[i] = pattern(i, salt);
    }
}

/** Checks the copy and its guards. */
static void check(const unsigned char *room, size_t size, uint64_t salt)
{
    for (size_t i = 0; i < GUARD; ++i) {
        TAP_CHECK(0xa5 == room[i] && 0xa5 == room[GUARD + size + i], "a guard changed at %zu", i);
    }
    for (size_t i = 0; i < size; ++i) {
        if (pattern(i, salt) != room[GUARD + i]) {
            TAP_CHECK(false, "byte %zu of %zu: expected %u, got %u", i, size, pattern(i, salt),
                      room[GUARD + i]);
            return;
        }
    }
}

static void case_alone(void)
{
    static const size_t sizes[] = {1,
                                   EPSHM_COOP_COPY_PIECE - 1,
                                   EPSHM_COOP_COPY_PIECE,
                                   EPSHM_COOP_COPY_PIECE + 1,
                                   3 * EPSHM_COOP_COPY_PIECE,
                                   SIZE_MOST};
    unsigned char *source = malloc(SIZE_MOST);
    unsigned char *room = malloc(SIZE_MOST + 2 * GUARD);
    epshm_coop_copy_t share;

    tap_case("without helpers: every size around the pieces");
    epshm_coop_copy_init(&share);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
        TAP_CHECK(!epshm_coop_copy_open(&share), "open before size %zu", sizes[s]);
        fill(source, sizes[s], s);
        memset(room, 0xa5, SIZE_MOST + 2 * GUARD);
        epshm_coop_copy_copy(&share, room + GUARD, source, sizes[s]);
        check(room, sizes[s], s);
        TAP_EQ(0, epshm_coop_copy_work(&share, INT_MAX));
    }
    TAP_CHECK(!epshm_coop_copy_open(&share), "open at the end");
    tap_case_done();
    free(source);
    free(room);
}

static void case_by_hand(void)
{
    unsigned char *source = malloc(SIZE_MOST);
    unsigned char *room = malloc(SIZE_MOST + 2 * GUARD);
    epshm_coop_copy_t share;
    uint64_t ticket;

    tap_case("a place that is taken; a helper that does it all, in two turns");
    epshm_coop_copy_init(&share);
    fill(source, SIZE_MOST, 3);
    memset(room, 0xa5, SIZE_MOST + 2 * GUARD);
    TAP_CHECK(epshm_coop_copy_take(&share, room + GUARD, source, SIZE_MOST), "not taken");
    TAP_CHECK(epshm_coop_copy_open(&share), "not open");
    TAP_CHECK(!epshm_coop_copy_take(&share, room, source, 1), "taken twice");
    TAP_EQ(EPSHM_COOP_COPY_TURN, epshm_coop_copy_work(&share, EPSHM_COOP_COPY_TURN));
    TAP_EQ(21 - EPSHM_COOP_COPY_TURN, epshm_coop_copy_work(&share, INT_MAX));
    TAP_EQ(0, epshm_coop_copy_work(&share, INT_MAX));
    epshm_coop_copy_finish(&share);
    check(room, SIZE_MOST, 3);
    TAP_CHECK(!epshm_coop_copy_open(&share), "open at the end");

    /* A helper that has read a ticket and comes back in a later copy must not find it valid. */
    ticket = atomic_load(&share.ticket);
    for (int i = 0; i < 3; ++i) {
        TAP_CHECK(epshm_coop_copy_take(&share, room + GUARD, source, SIZE_MOST), "not taken");
        TAP_CHECK(atomic_load(&share.ticket) >> 32 != ticket >> 32, "the generation came again");
        ticket = atomic_load(&share.ticket);
        (void) epshm_coop_copy_work(&share, INT_MAX);
        epshm_coop_copy_finish(&share);
    }
    tap_case_done();
    free(source);
    free(room);
}

/** Takers copy through one place, each its own data, with as many helpers. */
static struct {
    epshm_coop_copy_t share;
    _Atomic bool over;
    _Atomic long helped;
    int rounds;
} stress;

static void *taker(void *argument)
{
    const uint64_t me = (uint64_t) (uintptr_t) argument;
    uint64_t state = tap_stream(me);
    unsigned char *source = malloc(SIZE_MOST);
    unsigned char *room = malloc(SIZE_MOST + 2 * GUARD);

    for (int round = 0; round < stress.rounds; ++round) {
        const size_t size = 1 + tap_below(&state, SIZE_MOST);
        const uint64_t salt = tap_random(&state);

        fill(source, size, salt);
        memset(room, 0xa5, size + 2 * GUARD);
        epshm_coop_copy_copy(&stress.share, room + GUARD, source, size);
        check(room, size, salt);
        tap_pause(&state, 12, 30000);
    }
    free(source);
    free(room);
    return NULL;
}

/* A copy that leaves its first pieces to the helpers, until one has come. */
static void copy_with_help(void)
{
    unsigned char *source = malloc(SIZE_MOST);
    unsigned char *room = malloc(SIZE_MOST + 2 * GUARD);

    fill(source, SIZE_MOST, 4);
    memset(room, 0xa5, SIZE_MOST + 2 * GUARD);
    TAP_CHECK(epshm_coop_copy_take(&stress.share, room + GUARD, source, SIZE_MOST), "not taken");
    while (0 == atomic_load(&stress.helped)) {
        sched_yield();
    }
    (void) epshm_coop_copy_work(&stress.share, INT_MAX);
    epshm_coop_copy_finish(&stress.share);
    check(room, SIZE_MOST, 4);
    free(source);
    free(room);
}

static void *helper(void *argument)
{
    uint64_t state = tap_stream(1000 + (uint64_t) (uintptr_t) argument);

    /* Relaxed: the end may be seen late. */
    while (!atomic_load_explicit(&stress.over, memory_order_relaxed)) {
        if (epshm_coop_copy_open(&stress.share)) {
            atomic_fetch_add_explicit(&stress.helped, epshm_coop_copy_work(&stress.share, INT_MAX),
                                      memory_order_relaxed);
        }
        tap_pause(&state, 12, 30000);
    }
    return NULL;
}

static void case_stress(int takers, int helpers, int rounds)
{
    pthread_t taker_threads[TAKERS_MAX], helper_threads[HELPERS_MAX];

    tap_case("%d takers and %d helpers, %d copies each", takers, helpers, rounds);
    epshm_coop_copy_init(&stress.share);
    atomic_store(&stress.over, false);
    atomic_store(&stress.helped, 0);
    stress.rounds = rounds;
    for (int i = 0; i < helpers; ++i) {
        pthread_create(&helper_threads[i], NULL, helper, (void *) (uintptr_t) i);
    }
    for (int i = 0; i < takers; ++i) {
        pthread_create(&taker_threads[i], NULL, taker, (void *) (uintptr_t) i);
    }
    for (int i = 0; i < takers; ++i) {
        pthread_join(taker_threads[i], NULL);
    }
    if (0 < helpers && 0 == atomic_load(&stress.helped)) {
        copy_with_help(); /* on a busy machine they may all have come too late so far */
    }
    atomic_store(&stress.over, true);
    for (int i = 0; i < helpers; ++i) {
        pthread_join(helper_threads[i], NULL);
    }
    TAP_CHECK(!epshm_coop_copy_open(&stress.share), "open at the end");
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_coop_copy", TAP_SANITIZED ? 240 : 120);
    case_alone();
    case_by_hand();
    case_stress(1, 1, 400);
    case_stress(1, 6, 400);
    case_stress(2, 2, 300);
    case_stress(4, 6, 200);
    return tap_end();
}
