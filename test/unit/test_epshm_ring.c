/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the receive queue ring, btl_epshm_ring.h: tables of single-threaded cases, and a random program
 * against a model.  With threads: test_epshm_ring_stress.c.
 *
 * Guards: btl_epshm_ring.h
 */

#include "test_epshm_ring.h"

/* ---- cases of one thread -------------------------------------------------------------------- */

static void case_cells_for(void)
{
    static const struct {
        size_t size;
        uint64_t cells;
    } table[] = {{0, 1},   {1, 1},   {8, 1},   {55, 1},  {56, 1},  {57, 2},  {111, 2}, {112, 2},
                 {113, 3}, {391, 7}, {392, 7}, {393, 8}, {447, 8}, {448, 8}, {449, 9}};

    tap_case("cells for a size");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
        TAP_EQ(table[i].cells, epshm_ring_cells_for(table[i].size));
    }
    tap_case_done();
}

static void case_init(void)
{
    epshm_ring_t ring;

    tap_case("a new ring is empty, whatever its memory held");
    for (int round = 0; round < 4; ++round) {
        TAP_EQ(0, epshm_ring_init(&ring, 16));
        TAP_EQ(0, head_of(&ring));
        TAP_EQ(0, tail_of(&ring));
        TAP_EQ(16, limit_of(&ring));
        TAP_EQ(0, (uintptr_t) ring.cells % EPSHM_CACHE_LINE);
        TAP_CHECK(NULL == epshm_ring_peek(&ring), "round %d: peek finds a message", round);
        TAP_CHECK(!epshm_ring_pending(&ring), "round %d: pending", round);
        for (uint64_t i = 0; i < 16; ++i) {
            TAP_EQ(0, atomic_load_explicit(&ring.cells[i].seq, memory_order_relaxed));
            atomic_store_explicit(&ring.cells[i].seq, i + 1, memory_order_relaxed);
        }
        epshm_ring_fini(&ring);
        TAP_CHECK(NULL == ring.cells, "round %d: cells not forgotten", round);
    }
    tap_case_done();
}

/** Fill with messages of count cells, empty again; the ring must be exactly as large as it says. */
static void fill_and_empty(epshm_ring_t *ring, size_t cells, uint64_t base, uint64_t count)
{
    const uint64_t messages = cells / count;
    uint64_t position = 0;

    for (uint64_t i = 0; i < messages; ++i) {
        TAP_CHECK(epshm_ring_claim(ring, count, &position), "claim %llu of %llu of %llu cells",
                  (unsigned long long) i, (unsigned long long) messages,
                  (unsigned long long) count);
        TAP_EQ(base + i * count, position);
        TAP_CHECK(NULL == epshm_ring_peek(ring), "a message before any was published");
    }
    position = 42;
    TAP_CHECK(!epshm_ring_claim(ring, count, &position), "claim on a full ring");
    TAP_EQ(42, position);
    TAP_EQ(base + messages * count, tail_of(ring));
    for (uint64_t i = 0; i < messages; ++i) {
        epshm_ring_publish(ring, base + i * count);
    }
    for (uint64_t i = 0; i < messages; ++i) {
        TAP_EQ((uintptr_t) epshm_ring_cell(ring, base + i * count),
               (uintptr_t) epshm_ring_peek(ring));
        TAP_CHECK(epshm_ring_pending(ring), "published, but not pending");
        epshm_ring_pop(ring, count);
        TAP_EQ(base + (i + 1) * count, head_of(ring));
    }
    TAP_CHECK(NULL == epshm_ring_peek(ring), "a message in an empty ring");
    TAP_CHECK(!epshm_ring_pending(ring), "pending in an empty ring");
}

static void case_full_empty(void)
{
    static const size_t sizes[] = {16, 64, 1024};

    tap_case("full and empty: every claim size, over several laps, from every base");
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
        for (size_t b = 0; b < NUM_BASES; ++b) {
            epshm_ring_t ring;
            uint64_t base = bases[b];

            ring_at(&ring, sizes[s], base);
            for (int lap = 0; lap < 3; ++lap) {
                for (uint64_t count = 1; count <= EPSHM_RING_CLAIM_MAX; ++count) {
                    fill_and_empty(&ring, sizes[s], base, count);
                    base += sizes[s] / count * count;
                }
            }
            epshm_ring_fini(&ring);
        }
    }
    tap_case_done();
}

/** Full where the tail, the limit or the sum of them passes an end of a number's range. */
static void case_edges(void)
{
    static const uint64_t edges[] = {UINT64_C(1) << 32, UINT64_C(1) << 63};

    tap_case("full and empty: every claim size, around 2^32 and 2^63");
    for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); ++e) {
        for (uint64_t before = 0; before <= 40; ++before) {
            for (uint64_t count = 1; count <= EPSHM_RING_CLAIM_MAX; ++count) {
                epshm_ring_t ring;

                ring_at(&ring, 16, edges[e] - before);
                fill_and_empty(&ring, 16, edges[e] - before, count);
                epshm_ring_fini(&ring);
            }
        }
    }
    tap_case_done();
}

/** In a full ring each pop of count cells makes room for exactly count cells. */
static void case_room(void)
{
    tap_case("room in a full ring comes back cell by cell");
    for (uint64_t count = 1; count <= EPSHM_RING_CLAIM_MAX; ++count) {
        epshm_ring_t ring;
        uint64_t position = 0;

        ring_at(&ring, 16, 5);
        for (int i = 0; i < 16; ++i) {
            TAP_CHECK(epshm_ring_claim(&ring, 1, &position), "cell %d", i);
            epshm_ring_publish(&ring, position);
        }
        for (uint64_t freed = 0; freed < count; ++freed) {
            TAP_CHECK(!epshm_ring_claim(&ring, count, &position), "%llu cells while %llu are free",
                      (unsigned long long) count, (unsigned long long) freed);
            TAP_EQ(21, tail_of(&ring));
            epshm_ring_pop(&ring, 1);
        }
        TAP_CHECK(epshm_ring_claim(&ring, count, &position), "%llu cells, as many are free",
                  (unsigned long long) count);
        TAP_EQ(21, position);
        TAP_CHECK(!epshm_ring_claim(&ring, 1, &position), "one cell too many");
        epshm_ring_fini(&ring);
    }
    tap_case_done();
}

/** Messages published in another order than claimed come out as claimed. */
static void case_order(void)
{
    static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};

    tap_case("the order is that of the claims, not that of publishing");
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); ++o) {
        epshm_ring_t ring;
        uint64_t positions[4];
        bool published[4] = {false};
        int next = 0;

        ring_at(&ring, 16, 9); /* the third message wraps */
        for (int i = 0; i < 4; ++i) {
            TAP_CHECK(epshm_ring_claim(&ring, 3, &positions[i]), "claim %d", i);
        }
        for (int i = 0; i < 4; ++i) {
            epshm_ring_publish(&ring, positions[orders[o][i]]);
            published[orders[o][i]] = true;
            while (next < 4 && published[next]) {
                TAP_EQ((uintptr_t) epshm_ring_cell(&ring, positions[next]),
                       (uintptr_t) epshm_ring_peek(&ring));
                epshm_ring_pop(&ring, 3);
                ++next;
            }
            TAP_CHECK(NULL == epshm_ring_peek(&ring), "message %d before its turn", next);
        }
        TAP_EQ(4, next);
        epshm_ring_fini(&ring);
    }
    tap_case_done();
}

static void case_limit(void)
{
    epshm_ring_t ring;
    uint64_t position = 0;

    tap_case("the limit is learnt when it is needed, and may be stale");
    ring_at(&ring, 16, 0);
    for (int i = 0; i < 16; ++i) {
        TAP_CHECK(epshm_ring_claim(&ring, 1, &position), "claim %d", i);
        epshm_ring_publish(&ring, position);
    }
    epshm_ring_pop(&ring, 1);
    epshm_ring_pop(&ring, 1);
    epshm_ring_pop(&ring, 1);
    TAP_EQ(16, limit_of(&ring)); /* nobody has asked yet */
    TAP_CHECK(epshm_ring_claim(&ring, 1, &position), "room after three pops");
    TAP_EQ(19, limit_of(&ring));
    epshm_ring_pop(&ring, 1);
    TAP_CHECK(epshm_ring_claim(&ring, 2, &position), "two more below the limit");
    TAP_EQ(19, limit_of(&ring)); /* known room is used up before the head is read again */

    /* What a slow producer leaves that stores an old limit over a new one. */
    for (uint64_t stale = 0; stale <= 20; ++stale) {
        atomic_store_explicit(&ring.limit, stale, memory_order_relaxed);
        TAP_CHECK(!epshm_ring_claim(&ring, 2, &position), "limit %llu: two cells, one is free",
                  (unsigned long long) stale);
        TAP_EQ(20, limit_of(&ring));
    }
    atomic_store_explicit(&ring.limit, 3, memory_order_relaxed);
    TAP_CHECK(epshm_ring_claim(&ring, 1, &position), "the last cell, limit far behind");
    TAP_EQ(19, position);
    epshm_ring_fini(&ring);
    tap_case_done();
}

/** Every size at every position: the message arrives, all other bytes of the ring stay. */
static void case_copy(void)
{
    uint64_t random = tap_stream(1);
    unsigned char data[MESSAGE_MAX], got[MESSAGE_MAX + 1];
    epshm_ring_t ring;

    tap_case("every size at every position, whole or in pieces");
    ring_at(&ring, 16, 0);
    for (uint64_t base = 0; base < 16; ++base) {
        for (size_t size = 0; size <= MESSAGE_MAX; ++size) {
            memset((void *) ring.cells, 0x5a, 16 * sizeof(epshm_cell_t));
            atomic_store_explicit(&ring.head, base, memory_order_relaxed);
            for (size_t i = 0; i < size; ++i) {
                data[i] = (unsigned char) tap_random(&random);
            }
            write_in_pieces(&ring, base, data, size, &random);
            memset(got, 0xa5, sizeof(got));
            epshm_ring_read(&ring, got, size);
            TAP_CHECK(0 == memcmp(data, got, size), "size %zu at %llu", size,
                      (unsigned long long) base);
            TAP_EQ(0xa5, got[size]);
            for (uint64_t cell = 0; cell < 16; ++cell) {
                const epshm_cell_t *at = epshm_ring_cell(&ring, base + cell);
                size_t used = size <= cell * EPSHM_CELL_PAYLOAD ? 0
                                                                : size - cell * EPSHM_CELL_PAYLOAD;

                TAP_EQ(UINT64_C(0x5a5a5a5a5a5a5a5a),
                       atomic_load_explicit(&at->seq, memory_order_relaxed));
                for (size_t i = used; i < EPSHM_CELL_PAYLOAD; ++i) {
                    TAP_EQ(0x5a, at->data[i]);
                }
            }
        }
    }
    epshm_ring_fini(&ring);
    tap_case_done();
}

/* ---- a random program against a model ------------------------------------------------------- */

typedef struct model_message_t {
    uint64_t position;
    uint64_t count;
    bool published;
    size_t size;
    unsigned char data[MESSAGE_MAX];
} model_message_t;

typedef struct model_t {
    epshm_ring_t ring;
    uint64_t cells, head, tail;
    uint64_t first, next; /**< claimed and not consumed yet: messages first ... next - 1 */
    model_message_t messages[64];
    uint64_t random;
} model_t;

static model_message_t *model_message(model_t *model, uint64_t i)
{
    return &model->messages[i % 64];
}

static void model_claim(model_t *model)
{
    model_message_t *message = model_message(model, model->next);
    uint64_t position = UINT64_MAX;
    bool expected, got;

    message->size = tap_below(&model->random, MESSAGE_MAX + 1);
    message->count = epshm_ring_cells_for(message->size);
    expected = model->tail + message->count - model->head <= model->cells;
    got = epshm_ring_claim(&model->ring, message->count, &position);
    TAP_CHECK(expected == got, "claim %llu with %llu of %llu in use: %d",
              (unsigned long long) message->count, (unsigned long long) (model->tail - model->head),
              (unsigned long long) model->cells, (int) got);
    if (got) {
        TAP_EQ(model->tail, position);
        message->position = position;
        message->published = false;
        model->tail += message->count;
        ++model->next;
    }
}

static void model_publish(model_t *model)
{
    model_message_t *message;

    if (model->first == model->next) {
        return;
    }
    message = model_message(model,
                            model->first + tap_below(&model->random, model->next - model->first));
    if (!message->published) {
        for (size_t i = 0; i < message->size; ++i) {
            message->data[i] = (unsigned char) tap_random(&model->random);
        }
        write_in_pieces(&model->ring, message->position, message->data, message->size,
                        &model->random);
        epshm_ring_publish(&model->ring, message->position);
        message->published = true;
    }
}

static void model_consume(model_t *model)
{
    const model_message_t *message = model_message(model, model->first);
    const bool expected = model->first < model->next && message->published;
    unsigned char got[MESSAGE_MAX];
    const epshm_cell_t *cell = epshm_ring_peek(&model->ring);

    TAP_CHECK(expected == (NULL != cell), "peek at %llu: message expected: %d",
              (unsigned long long) model->head, (int) expected);
    TAP_CHECK(expected == epshm_ring_pending(&model->ring), "pending: not %d", (int) expected);
    if (expected && NULL != cell) {
        TAP_EQ((uintptr_t) epshm_ring_cell(&model->ring, message->position), (uintptr_t) cell);
        epshm_ring_read(&model->ring, got, message->size);
        TAP_CHECK(0 == memcmp(message->data, got, message->size), "message at %llu differs",
                  (unsigned long long) message->position);
        epshm_ring_pop(&model->ring, message->count);
        model->head += message->count;
        ++model->first;
    }
}

static void case_model(size_t cells, uint64_t base, uint64_t steps)
{
    model_t model = {.cells = cells, .head = base, .tail = base, .random = tap_stream(2 + base)};

    tap_case("random program against a model: %zu cells from %#llx", cells,
             (unsigned long long) base);
    ring_at(&model.ring, cells, base);
    for (uint64_t step = 0; step < steps && !tap_case_failed(); ++step) {
        /* Tides, so that the ring runs full and empty. */
        const uint64_t fill = 0 == (step >> 6) % 2 ? 3 : 1;

        switch (tap_below(&model.random, 3 + fill)) {
        case 0:
            model_consume(&model);
            break;
        case 1:
            model_publish(&model);
            break;
        case 2: /* a slow producer stores an old limit */
            if (0 == tap_below(&model.random, 8)) {
                atomic_store_explicit(&model.ring.limit,
                                      limit_of(&model.ring) - tap_below(&model.random, 8),
                                      memory_order_relaxed);
            }
            model_consume(&model);
            break;
        default:
            if (64 > model.next - model.first) {
                model_claim(&model);
            }
            break;
        }
        TAP_EQ(model.head, head_of(&model.ring));
        TAP_EQ(model.tail, tail_of(&model.ring));
        TAP_CHECK((int64_t) (model.head + cells - limit_of(&model.ring)) >= 0,
                  "the limit lets producers overtake the consumer");
    }
    epshm_ring_fini(&model.ring);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_ring", TAP_SANITIZED ? 240 : 120);
    case_cells_for();
    case_init();
    case_full_empty();
    case_edges();
    case_room();
    case_order();
    case_limit();
    case_copy();
    for (size_t b = 0; b < NUM_BASES; ++b) {
        case_model(0 == b % 2 ? 16 : 128, bases[b], 40000);
    }
    return tap_end();
}
