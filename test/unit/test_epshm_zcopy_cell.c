/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Loans (btl_epshm_zcopy_cell.h): every order of sender and receiver by hand, then senders that want their
 * memory back while receivers read it.  Run it under ThreadSanitizer too: a byte that is read after
 * it has been given back is a race there, and mostly a wrong byte here.
 *
 * Guards: btl_epshm_zcopy_cell.h
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

/* Some receivers take their time between looking and borrowing. */
static void step(void);
#define EPSHM_ZCOPY_STEP() step()

/* System calls that have gone well: all are membarrier(2). */
static _Atomic uint64_t barriers;

static long count_barrier(long rc)
{
    atomic_fetch_add_explicit(&barriers, 0 == rc ? 1 : 0, memory_order_relaxed);
    return rc;
}

#define syscall(...) count_barrier((syscall) (__VA_ARGS__))
#include "opal/mca/btl/epshm/threads/btl_epshm_zcopy_cell.h"
#undef syscall

enum { CELLS = 64, BYTES = 512, OUT_MOST = 8, PAIRS_MAX = 4 };

static const epshm_spsc_mark_t zcopy_mark = {.kind = 5, .size = BYTES};

static void zcopy_send(epshm_spsc_writer_t *writer, void *address)
{
    const epshm_zcopy_cell_t cell = {.address = address};

    TAP_CHECK(epshm_spsc_has_room(writer, 1), "no room");
    memcpy(epshm_spsc_cell(writer, 0)->data, &cell, sizeof(cell));
    epshm_spsc_publish(writer, 1, zcopy_mark);
}

/** The address in the first cell. */
static void *peek(const epshm_spsc_ring_t *ring)
{
    epshm_spsc_mark_t mark;
    const epshm_spsc_cell_t *cell = epshm_spsc_peek(ring, &mark);

    return NULL == cell ? NULL : ((const epshm_zcopy_cell_t *) cell->data)->address;
}

/** Each recall passes a barrier.  Without one nothing goes wrong on a machine that is quick to
 * empty its store buffers; ../model/zcopy.c shows what would. */
static void recall(const epshm_spsc_writer_t *writer)
{
    const uint64_t before = atomic_load_explicit(&barriers, memory_order_relaxed);

    epshm_zcopy_recall(writer);
    TAP_EQ(before + 1, atomic_load_explicit(&barriers, memory_order_relaxed));
}

static void case_by_hand(void)
{
    epshm_spsc_ring_t *ring = epshm_spsc_create(CELLS);
    epshm_spsc_writer_t writer;
    char mine[3], copy[3];

    tap_case("every order of sender and receiver");
    epshm_spsc_attach(&writer, ring);

    /* The receiver comes, and is through, before the recall. */
    zcopy_send(&writer, &mine[0]);
    TAP_CHECK(!epshm_zcopy_is_over(ring, 0), "over before it was read");
    TAP_EQ(EPSHM_ZCOPY_OPEN, epshm_zcopy_borrow(ring));
    TAP_CHECK(&mine[0] == peek(ring), "another address");
    epshm_spsc_pop(ring, 1);
    TAP_CHECK(epshm_zcopy_is_over(ring, 0), "not over after it was read");
    recall(&writer);
    TAP_CHECK(epshm_zcopy_is_settled(ring), "not settled, and nothing is out");

    /* It is reading the first of two when both are recalled. */
    zcopy_send(&writer, &mine[1]);
    zcopy_send(&writer, &mine[2]);
    TAP_EQ(EPSHM_ZCOPY_OPEN, epshm_zcopy_borrow(ring));
    recall(&writer);
    TAP_CHECK(!epshm_zcopy_is_settled(ring), "settled while the receiver reads");
    epshm_spsc_pop(ring, 1);
    TAP_CHECK(epshm_zcopy_is_settled(ring), "not settled after that");
    TAP_CHECK(epshm_zcopy_is_over(ring, 1) && !epshm_zcopy_is_over(ring, 2), "which is over?");
    TAP_EQ(EPSHM_ZCOPY_RECALLED, epshm_zcopy_borrow(ring));
    TAP_CHECK(epshm_zcopy_is_settled(ring), "not settled though the receiver was refused");
    epshm_zcopy_replace(ring, 2, &copy[2]);
    TAP_EQ(EPSHM_ZCOPY_REPLACED, epshm_zcopy_borrow(ring));
    TAP_CHECK(&copy[2] == peek(ring), "not the copy");
    epshm_spsc_pop(ring, 1);

    /* The recall comes first; what is lent after it is open again. */
    zcopy_send(&writer, &mine[0]);
    recall(&writer);
    TAP_CHECK(epshm_zcopy_is_settled(ring), "not settled, and nobody reads");
    TAP_EQ(EPSHM_ZCOPY_RECALLED, epshm_zcopy_borrow(ring));
    epshm_zcopy_replace(ring, 3, &copy[0]);
    zcopy_send(&writer, &mine[1]);
    TAP_EQ(EPSHM_ZCOPY_REPLACED, epshm_zcopy_borrow(ring));
    epshm_spsc_pop(ring, 1);
    TAP_EQ(EPSHM_ZCOPY_OPEN, epshm_zcopy_borrow(ring));
    TAP_CHECK(&mine[1] == peek(ring), "another address");
    epshm_spsc_pop(ring, 1);
    tap_case_done();
    epshm_spsc_destroy(ring);
}

/** One SPSC ring with its sender and its receiver. */
typedef struct pair_t {
    epshm_spsc_ring_t *ring;
    uint64_t zcopy_sends;
    uint64_t seed;
    uint64_t open, replaced; /**< receiver's: how they came */
    uint64_t spins;          /**< sender's */
    pthread_t sender, receiver;
} pair_t;

static unsigned char pattern(uint64_t number, size_t i)
{
    return (unsigned char) (number * 37 + i * 11 + (number >> 8));
}

static void fill(unsigned char *data, uint64_t number)
{
    for (size_t i = 0; i < BYTES; ++i) {
        data[i] = pattern(number, i);
    }
}

/** Wait a little; what waits is counted, so that others get the core now and then. */
static void spin(uint64_t *spins)
{
    if (0 == ++*spins % 256) {
        sched_yield();
    }
}

static void pause_randomly(uint64_t *random, uint64_t most)
{
    const uint64_t dice = tap_below(random, 64);

    if (0 == dice && 0 == tap_below(random, 8)) {
        sched_yield();
    } else if (dice < 24) {
        for (uint64_t i = tap_below(random, most); 0 < i; --i) {
            __asm__ volatile("" ::: "memory");
        }
    }
}

static _Thread_local uint64_t step_random;

static void step(void)
{
    /* Long enough for a sender to pass the barrier and to look. */
    if (0 != step_random && 0 == tap_below(&step_random, 16)) {
        for (uint64_t i = tap_below(&step_random, 40000); 0 < i; --i) {
            __asm__ volatile("" ::: "memory");
        }
    }
}

/** What the sender has out: its memory, which it writes to as soon as it is its own again. */
typedef struct out_t {
    uint64_t position;
    unsigned char *data;
} out_t;

/** Take back what is out, copies in its place. */
static void take_back(pair_t *pair, epshm_spsc_writer_t *writer, out_t *out, uint64_t first,
                      uint64_t last)
{
    epshm_zcopy_recall(writer);
    while (!epshm_zcopy_is_settled(pair->ring)) {
        spin(&pair->spins);
    }
    for (; first < last; ++first) {
        out_t *zcopy = &out[first % OUT_MOST];

        if (!epshm_zcopy_is_over(pair->ring, zcopy->position)) {
            unsigned char *copy = malloc(BYTES);

            memcpy(copy, zcopy->data, BYTES);
            epshm_zcopy_replace(pair->ring, zcopy->position, copy);
        }
        memset(zcopy->data, 0xee, BYTES);
    }
}

static void *sender(void *argument)
{
    pair_t *pair = argument;
    uint64_t random = tap_stream(pair->seed), first = 0, last = 0;
    unsigned char *memory = malloc(OUT_MOST * BYTES);
    epshm_spsc_writer_t writer;
    out_t out[OUT_MOST];

    epshm_spsc_attach(&writer, pair->ring);
    while (first < pair->zcopy_sends) {
        if (last < pair->zcopy_sends && last - first < OUT_MOST && epshm_spsc_has_room(&writer, 1)
            && 0 < tap_below(&random, 4)) {
            out_t *zcopy = &out[last % OUT_MOST];

            zcopy->data = memory + last % OUT_MOST * BYTES;
            zcopy->position = writer.tail;
            fill(zcopy->data, last);
            zcopy_send(&writer, zcopy->data);
            ++last;
        }
        while (first < last && epshm_zcopy_is_over(pair->ring, out[first % OUT_MOST].position)) {
            memset(out[first++ % OUT_MOST].data, 0xee, BYTES);
        }
        if (first < last && 0 == tap_below(&random, 64)) {
            take_back(pair, &writer, out, first, last);
            first = last;
        }
        pause_randomly(&random, 400);
    }
    while (!epshm_spsc_is_drained(&writer)) {
        spin(&pair->spins);
    }
    free(memory);
    return NULL;
}

static void *receiver(void *argument)
{
    pair_t *pair = argument;
    uint64_t random = tap_stream(pair->seed + 1000), spins = 0;

    step_random = tap_stream(pair->seed + 2000) | 1;
    for (uint64_t number = 0; number < pair->zcopy_sends;) {
        epshm_spsc_mark_t mark;
        const epshm_spsc_cell_t *cell = epshm_spsc_peek(pair->ring, &mark);
        epshm_zcopy_state_t state;
        unsigned char *data;
        size_t wrong = 0;

        if (NULL == cell || EPSHM_ZCOPY_RECALLED == (state = epshm_zcopy_borrow(pair->ring))) {
            spin(&spins);
            continue;
        }
        data = ((const epshm_zcopy_cell_t *) cell->data)->address;
        for (size_t i = 0; i < BYTES; ++i) {
            wrong += data[i] != pattern(number, i);
            if (BYTES / 2 == i) {
                pause_randomly(&random, 400);
            }
        }
        TAP_CHECK(0 == wrong, "loan %llu, %s: %zu wrong bytes", (unsigned long long) number,
                  EPSHM_ZCOPY_OPEN == state ? "open" : "replaced", wrong);
        ++*(EPSHM_ZCOPY_OPEN == state ? &pair->open : &pair->replaced);
        epshm_spsc_pop(pair->ring, 1);
        if (EPSHM_ZCOPY_REPLACED == state) {
            free(data);
        }
        ++number;
        pause_randomly(&random, 800);
    }
    return NULL;
}

static void case_stress(int pairs, uint64_t zcopy_sends)
{
    pair_t pair[PAIRS_MAX];
    uint64_t open = 0, replaced = 0;

    tap_case("%d SPSC rings, %llu loans each, some taken back", pairs,
             (unsigned long long) zcopy_sends);
    for (int i = 0; i < pairs; ++i) {
        pair[i] = (pair_t){.ring = epshm_spsc_create(CELLS),
                           .zcopy_sends = zcopy_sends,
                           .seed = (uint64_t) (10 * pairs + i)};
        pthread_create(&pair[i].sender, NULL, sender, &pair[i]);
        pthread_create(&pair[i].receiver, NULL, receiver, &pair[i]);
    }
    for (int i = 0; i < pairs; ++i) {
        pthread_join(pair[i].sender, NULL);
        pthread_join(pair[i].receiver, NULL);
        TAP_EQ(zcopy_sends, pair[i].open + pair[i].replaced);
        open += pair[i].open;
        replaced += pair[i].replaced;
        epshm_spsc_destroy(pair[i].ring);
    }
    TAP_CHECK(0 < open && 0 < replaced, "%llu open, %llu replaced: both were to come",
              (unsigned long long) open, (unsigned long long) replaced);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_zcopy_cell", TAP_SANITIZED ? 240 : 120);
    if (!epshm_zcopy_setup()) {
        printf("# no membarrier here: nothing is ever lent\n");
        return tap_end();
    }
    case_by_hand();
    case_stress(1, 20000);
    case_stress(PAIRS_MAX, 4000);
    return tap_end();
}
