/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stress of the receive queue ring, btl_epshm_ring.h, with real threads.  Run it under ThreadSanitizer too:
 * on x86-64 a memory order that is too weak shows only there.
 *
 * All that the threads of a stress share beside the ring is accessed with relaxed atomics or not at
 * all, so that nothing but the ring orders a producer before the consumer and back.
 *
 * Guards: btl_epshm_ring.h
 */

#include "test_epshm_ring.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define PRODUCERS_MAX 8
#define CONSUMERS_MAX 4

typedef struct stress_t {
    epshm_ring_t ring;
    uint64_t cells;
    int producers, consumers;
    uint64_t messages;     /**< of each producer */
    unsigned int laziness; /**< one delay in so many messages */
    _Atomic bool stop;     /**< a check failed: no sense in going on */

    /* The consumer's; the mutex hands the role on if there are several. */
    pthread_mutex_t role;
    uint64_t expected[PRODUCERS_MAX]; /**< sequence number due */
    uint64_t received;
    uint64_t turns; /**< times that the role changed hands */
    int last;
} stress_t;

typedef struct worker_t {
    stress_t *stress;
    int index;
    uint64_t random;
    uint64_t full; /**< claims that failed */
    pthread_t thread;
} worker_t;

/** How every message of a stress begins. */
typedef struct header_t {
    uint32_t producer;
    uint32_t size; /**< header and payload, bytes */
    uint64_t sequence;
    uint64_t sum;
} header_t;

_Static_assert(sizeof(header_t) <= EPSHM_CELL_PAYLOAD, "the header is in the first cell");

static uint64_t checksum(const header_t *header, const unsigned char *payload)
{
    uint64_t sum = header->producer * UINT64_C(0x9e3779b97f4a7c15) ^ header->sequence;

    for (size_t i = 0; i < header->size - sizeof(*header); ++i) {
        sum = (sum ^ payload[i]) * UINT64_C(0x100000001b3);
    }
    return sum ^ header->size;
}

static bool stopped(stress_t *stress)
{
    return atomic_load_explicit(&stress->stop, memory_order_relaxed);
}

/** Mostly nothing; sometimes some work, the end of the time slice, or sleep. */
static void delay(worker_t *worker)
{
    const uint64_t dice = tap_below(&worker->random, 16 * worker->stress->laziness);

    if (0 == dice) {
        const struct timespec time = {.tv_nsec = (long) (1 + tap_below(&worker->random, 20000))};

        nanosleep(&time, NULL);
    } else if (4 > dice) {
        sched_yield();
    } else if (16 > dice) {
        for (volatile uint64_t i = tap_below(&worker->random, 500); 0 < i; --i) {
        }
    }
}

static void produce_one(worker_t *worker, uint64_t sequence)
{
    epshm_ring_t *ring = &worker->stress->ring;
    unsigned char message[MESSAGE_MAX];
    header_t header = {.producer = (uint32_t) worker->index, .sequence = sequence};
    uint64_t filler, position, count = 1 + tap_below(&worker->random, EPSHM_RING_CLAIM_MAX);
    /* Often one cell, as in real life; then the smallest and largest size of each cell count. */
    const uint64_t low = 1 == count ? sizeof(header) : (count - 1) * EPSHM_CELL_PAYLOAD + 1;

    header.size
        = (uint32_t) (0 == tap_below(&worker->random, 2)
                          ? sizeof(header) + 8
                          : low + tap_below(&worker->random, count * EPSHM_CELL_PAYLOAD - low + 1));
    count = epshm_ring_cells_for(header.size);
    filler = tap_random(&worker->random);
    for (size_t i = sizeof(header); i < header.size; ++i) {
        message[i] = (unsigned char) (filler >> i % 57);
    }
    header.sum = checksum(&header, message + sizeof(header));
    memcpy(message, &header, sizeof(header));
    while (!epshm_ring_claim(ring, count, &position)) {
        if (stopped(worker->stress)) {
            return;
        }
        ++worker->full;
        sched_yield();
    }
    delay(worker);
    if (1 == count) {
        memcpy(epshm_ring_cell(ring, position)->data, message, header.size);
    } else {
        epshm_ring_write(ring, position, 0, message, sizeof(header));
        delay(worker);
        write_in_pieces(ring, position, message, header.size, &worker->random);
    }
    delay(worker);
    epshm_ring_publish(ring, position);
}

static void *producer_main(void *argument)
{
    worker_t *worker = argument;

    for (uint64_t i = 0; i < worker->stress->messages && !stopped(worker->stress); ++i) {
        produce_one(worker, i);
    }
    return NULL;
}

/** @return false if the message is not as it was sent, or not in turn */
static bool check_message(stress_t *stress, const header_t *header, const unsigned char *payload)
{
    const uint64_t due = stress->expected[header->producer];
    const bool in_turn = due == header->sequence;
    const bool whole = header->sum == checksum(header, payload);

    TAP_CHECK(in_turn, "producer %u: message %llu instead of %llu", header->producer,
              (unsigned long long) header->sequence, (unsigned long long) due);
    TAP_CHECK(whole, "producer %u, message %llu of %u bytes: wrong checksum", header->producer,
              (unsigned long long) header->sequence, header->size);
    stress->expected[header->producer] = header->sequence + 1;
    ++stress->received;
    return in_turn && whole;
}

/** @return false if there was no message */
static bool consume_one(worker_t *worker)
{
    stress_t *stress = worker->stress;
    epshm_ring_t *ring = &stress->ring;
    const uint64_t head = head_of(ring);
    unsigned char message[MESSAGE_MAX];
    const epshm_cell_t *cell = epshm_ring_peek(ring);
    const unsigned char *data = message;
    header_t header;

    /* Whatever the producers do: while the head stands, they stay within the ring. */
    TAP_CHECK(tail_of(ring) - head <= stress->cells, "more claimed than there is");
    TAP_CHECK(0 <= (int64_t) (head + stress->cells - limit_of(ring)), "limit too high");
    if (NULL == cell) {
        return false;
    }
    TAP_CHECK(epshm_ring_pending(ring), "a message, but not pending");
    memcpy(&header, cell->data, sizeof(header));
    if (sizeof(header) > header.size || MESSAGE_MAX < header.size
        || (uint32_t) stress->producers <= header.producer) {
        TAP_CHECK(false, "not a message: producer %u, size %u", header.producer, header.size);
        atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
        return false;
    }
    if (EPSHM_CELL_PAYLOAD >= header.size) {
        data = cell->data; /* in place */
    } else {
        epshm_ring_read(ring, message, header.size);
    }
    if (!check_message(stress, &header, data + sizeof(header))) {
        atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
    }
    delay(worker);
    epshm_ring_pop(ring, epshm_ring_cells_for(header.size));
    return true;
}

/** The only consumer: no lock. */
static void consume_alone(worker_t *worker)
{
    stress_t *stress = worker->stress;
    const uint64_t total = stress->messages * (uint64_t) stress->producers;

    while (stress->received < total && !stopped(stress)) {
        if (!consume_one(worker)) {
            sched_yield();
        }
    }
}

/** One of several that take turns. */
static void consume_in_turn(worker_t *worker)
{
    stress_t *stress = worker->stress;
    const uint64_t total = stress->messages * (uint64_t) stress->producers;
    bool done = false;

    while (!done && !stopped(stress)) {
        uint64_t batch = 1 + tap_below(&worker->random, 32);

        pthread_mutex_lock(&stress->role);
        if (worker->index != stress->last) {
            stress->last = worker->index;
            ++stress->turns;
        }
        while (stress->received < total && 0 < batch-- && consume_one(worker)) {
        }
        done = stress->received == total;
        pthread_mutex_unlock(&stress->role);
        (void) epshm_ring_pending(&stress->ring); /* a hint for anyone, at any time */
        sched_yield();
    }
}

static void *consumer_main(void *argument)
{
    worker_t *worker = argument;

    if (1 == worker->stress->consumers) {
        consume_alone(worker);
    } else {
        consume_in_turn(worker);
    }
    return NULL;
}

static void start(worker_t *worker, stress_t *stress, int index, void *(*entry)(void *) )
{
    *worker = (worker_t){.stress = stress, .index = index};
    worker->random = tap_stream(1000 + (uint64_t) (consumer_main == entry ? 100 : 0)
                                + (uint64_t) index);
    if (0 != pthread_create(&worker->thread, NULL, entry, worker)) {
        printf("Bail out! no thread\n");
        exit(99);
    }
}

static void case_stress(int producers, int consumers, size_t cells, uint64_t base,
                        unsigned int laziness)
{
    const uint64_t total = TAP_SANITIZED ? 40000 : 120000;
    static stress_t stress;
    worker_t producing[PRODUCERS_MAX], consuming[CONSUMERS_MAX];
    uint64_t full = 0;

    memset((void *) &stress, 0, sizeof(stress));
    stress.cells = cells;
    stress.producers = producers;
    stress.consumers = consumers;
    stress.messages = total / (uint64_t) producers;
    stress.laziness = laziness;
    pthread_mutex_init(&stress.role, NULL);
    ring_at(&stress.ring, cells, base);
    tap_case("stress: %d producers, %d consumers in turn, %zu cells", producers, consumers, cells);
    for (int i = 0; i < consumers; ++i) {
        start(&consuming[i], &stress, i, consumer_main);
    }
    for (int i = 0; i < producers; ++i) {
        start(&producing[i], &stress, i, producer_main);
    }
    for (int i = 0; i < producers; ++i) {
        pthread_join(producing[i].thread, NULL);
        full += producing[i].full;
    }
    for (int i = 0; i < consumers; ++i) {
        pthread_join(consuming[i].thread, NULL);
    }
    TAP_EQ(stress.messages * (uint64_t) producers, stress.received);
    for (int i = 0; i < producers; ++i) {
        TAP_EQ(stress.messages, stress.expected[i]);
    }
    TAP_CHECK(NULL == epshm_ring_peek(&stress.ring), "one message too many");
    TAP_EQ(tail_of(&stress.ring), head_of(&stress.ring));
    printf("# %llu messages, %llu times full, role handed on %llu times\n",
           (unsigned long long) stress.received, (unsigned long long) full,
           (unsigned long long) stress.turns);
    epshm_ring_fini(&stress.ring);
    pthread_mutex_destroy(&stress.role);
    tap_case_done();
}

int main(int argc, char **argv)
{
    static const int producers[] = {1, 2, 4, 8};

    tap_begin(argc, argv, "test_epshm_ring_stress", TAP_SANITIZED ? 240 : 120);
    for (size_t p = 0; p < sizeof(producers) / sizeof(producers[0]); ++p) {
        case_stress(producers[p], 1, 16, bases[p], 4);
        case_stress(producers[p], 1, 1024, UINT64_C(0xffffff00), 64);
    }
    case_stress(4, 3, 16, 0, 4);
    case_stress(8, 4, 512, UINT64_C(0x7fffffffffffff00), 64);
    return tap_end();
}
