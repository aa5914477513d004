/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stress of an SPSC ring's ring, btl_epshm_spsc.h, with real threads: producers and
 * consumers that take turns, one ring and several.  Run it under ThreadSanitizer too: on x86-64 a
 * memory order that is too weak shows only there.
 *
 * All that the threads of a stress share beside the ring is accessed with relaxed atomics, or is
 * ordered by the ring alone, so that an order that the ring forgets is a race.
 *
 * Guards: btl_epshm_spsc.h
 */

#include <pthread.h>
#include <sched.h>

#include "test_epshm_spsc.h"

#define PRODUCERS_MAX 4
#define CONSUMERS_MAX 3
#define RINGS_MAX 6

/** A ring with its threads.  Producers take turns under producing; consumers under consuming. */
typedef struct stress_t {
    epshm_spsc_ring_t *ring;
    int producers, consumers;
    uint64_t messages;     /**< of each producer */
    unsigned int laziness; /**< one delay in so many steps */
    pthread_mutex_t producing, consuming;
    uint64_t received, expected[PRODUCERS_MAX]; /**< consumer's */
    uint64_t note; /**< consumer's; a producer looks at it when the ring is drained */
    _Atomic bool stop;
} stress_t;

typedef struct worker_t {
    pthread_t thread;
    stress_t *stress;
    int index;
    uint64_t random, full, drained;
} worker_t;

static bool stopped(const stress_t *stress)
{
    return atomic_load_explicit(&stress->stop, memory_order_relaxed);
}

static void delay(worker_t *worker)
{
    const uint64_t dice = tap_below(&worker->random, 16 * worker->stress->laziness);

    if (0 == dice) {
        sched_yield();
    } else if (16 > dice) {
        for (volatile uint64_t i = tap_below(&worker->random, 500); 0 < i; --i) {
        }
    }
}

/** @return false if the stress was stopped */
static bool produce_one(worker_t *worker, epshm_spsc_writer_t *writer, uint64_t sequence)
{
    unsigned char message[MESSAGE_MAX];
    epshm_spsc_mark_t mark = {0};
    const size_t size = message_make((uint64_t) worker->index, sequence, message, &mark);
    const uint64_t count = epshm_spsc_cells_for(size);

    while (!epshm_spsc_has_room(writer, count)) {
        if (stopped(worker->stress)) {
            return false;
        }
        ++worker->full;
        sched_yield();
    }
    delay(worker);
    if (1 == count) {
        memcpy(epshm_spsc_cell(writer, 0)->data, message, size);
    } else {
        write_in_pieces(writer, message, size, &worker->random);
    }
    delay(worker);
    publish(writer, count, mark);
    return true;
}

/** Everything has been taken: what the consumer did with it is ours to see. */
static bool await_drained(worker_t *worker, epshm_spsc_writer_t *writer)
{
    while (!epshm_spsc_is_drained(writer)) {
        if (stopped(worker->stress)) {
            return false;
        }
        sched_yield();
    }
    TAP_EQ(writer->tail, worker->stress->note);
    ++worker->drained;
    return true;
}

static void *producer_main(void *argument)
{
    worker_t *worker = argument;
    stress_t *stress = worker->stress;
    uint64_t sequence = 0;
    bool going = true;

    while (going && sequence < stress->messages) {
        uint64_t batch = 1 + tap_below(&worker->random, 1 == stress->producers ? 4000 : 50);
        epshm_spsc_writer_t writer;

        pthread_mutex_lock(&stress->producing);
        epshm_spsc_attach(&writer, stress->ring);
        for (; going && 0 < batch && sequence < stress->messages; --batch) {
            going = produce_one(worker, &writer, sequence++);
            if (going && 0 == tap_below(&worker->random, 100)) {
                going = await_drained(worker, &writer);
            }
        }
        epshm_spsc_detach(&writer);
        pthread_mutex_unlock(&stress->producing);
        sched_yield();
    }
    return NULL;
}

/** @return false if there was no message */
static bool consume_one(worker_t *worker)
{
    stress_t *stress = worker->stress;
    epshm_spsc_ring_t *ring = stress->ring;
    unsigned char due[MESSAGE_MAX], message[MESSAGE_MAX];
    epshm_spsc_mark_t mark, wanted;
    const epshm_spsc_cell_t *cell = epshm_spsc_peek(ring, &mark);
    const unsigned char *data = message;
    size_t size;
    bool whole;

    if (NULL == cell) {
        return false;
    }
    TAP_CHECK(epshm_spsc_pending(ring), "a message, but not pending");
    if (0 == mark.kind || stress->producers < mark.kind || MESSAGE_MAX < mark.size) {
        TAP_CHECK(false, "not a message: producer %u, size %u", mark.kind, mark.size);
        atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
        return false;
    }
    size = message_make(mark.kind - 1u, stress->expected[mark.kind - 1]++, due, &wanted);
    if (EPSHM_SPSC_PAYLOAD >= mark.size) {
        data = cell->data; /* in place */
    } else {
        epshm_spsc_read(ring, message, epshm_spsc_cells_for(mark.size));
    }
    whole = size == mark.size && wanted.tag == mark.tag && 0 == memcmp(due, data, size);
    TAP_CHECK(whole, "producer %u: message %llu is not as sent", mark.kind - 1u,
              (unsigned long long) stress->expected[mark.kind - 1] - 1);
    if (!whole) {
        atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
    }
    delay(worker);
    stress->note = head_of(ring) + epshm_spsc_cells_for(size);
    ++stress->received;
    epshm_spsc_pop(ring, epshm_spsc_cells_for(size));
    return true;
}

static void *consumer_main(void *argument)
{
    worker_t *worker = argument;
    stress_t *stress = worker->stress;
    const uint64_t total = stress->messages * (uint64_t) stress->producers;
    bool done = false;

    while (!done && !stopped(stress)) {
        uint64_t batch = 1 + tap_below(&worker->random, 1 == stress->consumers ? 1000 : 32);

        pthread_mutex_lock(&stress->consuming);
        while (stress->received < total && 0 < batch-- && consume_one(worker)) {
        }
        done = stress->received == total;
        pthread_mutex_unlock(&stress->consuming);
        (void) epshm_spsc_pending(stress->ring); /* a hint for anyone, at any time */
        sched_yield();
    }
    return NULL;
}

static void start(worker_t *worker, stress_t *stress, int number, int index,
                  void *(*entry)(void *) )
{
    *worker = (worker_t){.stress = stress, .index = index};
    worker->random = tap_stream(1000 + (uint64_t) (consumer_main == entry ? 100 : 0)
                                + (uint64_t) (1000 * number + index));
    if (0 != pthread_create(&worker->thread, NULL, entry, worker)) {
        printf("Bail out! no thread\n");
        exit(99);
    }
}

static void check_through(const stress_t *stress)
{
    epshm_spsc_mark_t mark = {0};

    TAP_EQ(stress->messages * (uint64_t) stress->producers, stress->received);
    for (int i = 0; i < stress->producers; ++i) {
        TAP_EQ(stress->messages, stress->expected[i]);
    }
    TAP_CHECK(NULL == epshm_spsc_peek(stress->ring, &mark), "one message too many");
    TAP_EQ(stress->ring->tail, head_of(stress->ring));
}

static void case_stress(int rings, int producers, int consumers, size_t cells, uint64_t base,
                        unsigned int laziness)
{
    const uint64_t total = (TAP_SANITIZED ? 30000 : 100000) / (uint64_t) rings;
    static stress_t stress[RINGS_MAX];
    static worker_t producing[RINGS_MAX][PRODUCERS_MAX], consuming[RINGS_MAX][CONSUMERS_MAX];
    uint64_t full = 0, drained = 0;

    tap_case("stress: %d rings of %zu cells, %d producers and %d consumers in turn", rings, cells,
             producers, consumers);
    for (int r = 0; r < rings; ++r) {
        memset((void *) &stress[r], 0, sizeof(stress[r]));
        stress[r].ring = ring_at(cells, base);
        stress[r].producers = producers;
        stress[r].consumers = consumers;
        stress[r].messages = total / (uint64_t) producers;
        stress[r].laziness = laziness;
        pthread_mutex_init(&stress[r].producing, NULL);
        pthread_mutex_init(&stress[r].consuming, NULL);
    }
    for (int r = 0; r < rings; ++r) {
        for (int i = 0; i < consumers; ++i) {
            start(&consuming[r][i], &stress[r], r, i, consumer_main);
        }
        for (int i = 0; i < producers; ++i) {
            start(&producing[r][i], &stress[r], r, i, producer_main);
        }
    }
    for (int r = 0; r < rings; ++r) {
        for (int i = 0; i < producers; ++i) {
            pthread_join(producing[r][i].thread, NULL);
            full += producing[r][i].full;
            drained += producing[r][i].drained;
        }
        for (int i = 0; i < consumers; ++i) {
            pthread_join(consuming[r][i].thread, NULL);
        }
        check_through(&stress[r]);
        epshm_spsc_destroy(stress[r].ring);
        pthread_mutex_destroy(&stress[r].producing);
        pthread_mutex_destroy(&stress[r].consuming);
    }
    printf("# %llu messages, %llu times full, %llu times drained\n",
           (unsigned long long) (total * (uint64_t) rings), (unsigned long long) full,
           (unsigned long long) drained);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_spsc_stress", TAP_SANITIZED ? 240 : 120);
    case_stress(1, 1, 1, CELLS_MIN, 0, 4);
    case_stress(1, 1, 1, 1024, UINT64_C(0xffffff00), 64);
    case_stress(1, 4, 1, CELLS_MIN, UINT64_C(0x7ffffff8), 4);
    case_stress(1, 4, 3, 256, UINT64_C(0x7fffffffffffff00), 64);
    case_stress(RINGS_MAX, 1, 1, CELLS_MIN, UINT64_C(0xfffffff0), 16);
    case_stress(RINGS_MAX, 2, 2, 256, 3, 16);
    return tap_end();
}
