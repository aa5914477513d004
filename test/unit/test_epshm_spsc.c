/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of an SPSC ring's ring, btl_epshm_spsc.h: tables of single-threaded cases, and
 * a random program against a model.  With threads: test_epshm_spsc_stress.c.
 *
 * Guards: btl_epshm_spsc.h
 */

#include "test_epshm_spsc.h"

/** Positions to start from: in the first laps, and a little before the ends of 31, 32 and 63
 * bits. */
static const uint64_t bases[] = {0,
                                 1,
                                 7,
                                 1000,
                                 UINT64_C(0x7ffffff8),
                                 UINT64_C(0xffffffc8),
                                 UINT64_C(0x7fffffffffffffe8),
                                 UINT64_C(0xffffffff00000000)};

#define NUM_BASES (sizeof(bases) / sizeof(bases[0]))

static uint32_t word_at(const epshm_spsc_ring_t *ring, uint64_t position)
{
    return (uint32_t) atomic_load_explicit(&ring->cell[position & ring->mask].word,
                                           memory_order_relaxed);
}

/* ---- cases of one thread -------------------------------------------------------------------- */

static void case_cells_for(void)
{
    static const struct {
        size_t size;
        uint64_t cells;
    } table[] = {{0, 1},    {1, 1},    {8, 1},    {23, 1},   {24, 1},   {25, 2},
                 {47, 2},   {48, 2},   {49, 3},   {72, 3},   {73, 4},   {431, 18},
                 {432, 18}, {433, 19}, {440, 19}, {455, 19}, {456, 19}, {457, 20}};

    tap_case("cells for a size");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
        TAP_EQ(table[i].cells, epshm_spsc_cells_for(table[i].size));
    }
    tap_case_done();
}

static void case_create(void)
{
    tap_case("a new ring is empty, whatever its memory held");
    for (int round = 0; round < 4; ++round) {
        epshm_spsc_ring_t *ring = epshm_spsc_create(CELLS_MIN);
        epshm_spsc_writer_t writer;
        epshm_spsc_mark_t mark;

        TAP_EQ(0, (uintptr_t) ring % 64);
        TAP_EQ(0, (uintptr_t) &ring->cell[0] % 64);
        TAP_EQ(0, head_of(ring));
        TAP_EQ(0, ring->tail);
        TAP_EQ(CELLS_MIN - 1, ring->mask);
        for (uint64_t i = 0; i < CELLS_MIN; ++i) {
            TAP_EQ(0, word_at(ring, i));
        }
        TAP_CHECK(NULL == epshm_spsc_peek(ring, &mark), "round %d: peek finds a message", round);
        TAP_CHECK(!epshm_spsc_pending(ring), "round %d: pending", round);
        epshm_spsc_attach(&writer, ring);
        TAP_CHECK(epshm_spsc_is_drained(&writer), "round %d: not drained", round);
        TAP_CHECK(epshm_spsc_has_room(&writer, CELLS_MIN), "round %d: no room", round);
        TAP_CHECK(!epshm_spsc_has_room(&writer, CELLS_MIN + 1), "round %d: too much room", round);
        memset((void *) ring->cell, 0x5a, CELLS_MIN * sizeof(epshm_spsc_cell_t));
        epshm_spsc_destroy(ring);
    }
    tap_case_done();
}

/** Fill with messages of count cells, empty again; the ring must be exactly as large as it says. */
static void fill_and_empty(epshm_spsc_writer_t *writer, uint64_t count)
{
    epshm_spsc_ring_t *ring = writer->ring;
    const uint64_t base = writer->tail, messages = (ring->mask + 1) / count;
    epshm_spsc_mark_t mark = {0};

    for (uint64_t i = 0; i < messages; ++i) {
        TAP_CHECK(epshm_spsc_has_room(writer, count), "no room for message %llu of %llu cells",
                  (unsigned long long) i, (unsigned long long) count);
        TAP_EQ((uintptr_t) &ring->cell[(base + i * count) & ring->mask],
               (uintptr_t) epshm_spsc_cell(writer, 0));
        publish(writer, count, (epshm_spsc_mark_t){.kind = 3, .tag = (uint8_t) i, .size = 7});
        TAP_EQ(base + (i + 1) * count, writer->tail);
        TAP_CHECK(!epshm_spsc_is_drained(writer), "drained with %llu messages in it",
                  (unsigned long long) i + 1);
    }
    TAP_CHECK(!epshm_spsc_has_room(writer, count), "room in a full ring: %llu cells",
              (unsigned long long) count);
    for (uint64_t i = 0; i < messages; ++i) {
        TAP_CHECK(epshm_spsc_pending(ring), "published, but not pending");
        TAP_EQ((uintptr_t) &ring->cell[(base + i * count) & ring->mask],
               (uintptr_t) epshm_spsc_peek(ring, &mark));
        TAP_EQ((uint8_t) i, mark.tag);
        TAP_CHECK(!epshm_spsc_is_drained(writer), "drained before message %llu is taken",
                  (unsigned long long) i);
        epshm_spsc_pop(ring, count);
        TAP_EQ(base + (i + 1) * count, head_of(ring));
    }
    TAP_CHECK(NULL == epshm_spsc_peek(ring, &mark), "a message in an empty ring");
    TAP_CHECK(!epshm_spsc_pending(ring), "pending in an empty ring");
    TAP_CHECK(epshm_spsc_is_drained(writer), "empty, but not drained");
}

static void case_full_empty(void)
{
    static const size_t sizes[] = {CELLS_MIN, 256, 1024};

    tap_case("full and empty: every claim size, over several laps, from every base");
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); ++s) {
        for (size_t b = 0; b < NUM_BASES; ++b) {
            epshm_spsc_ring_t *ring = ring_at(sizes[s], bases[b]);
            epshm_spsc_writer_t writer;

            epshm_spsc_attach(&writer, ring);
            for (int lap = 0; lap < 3; ++lap) {
                for (uint64_t count = 1; count <= EPSHM_SPSC_CLAIM_MAX; ++count) {
                    fill_and_empty(&writer, count);
                }
            }
            epshm_spsc_destroy(ring);
        }
    }
    tap_case_done();
}

/** Full where the position, its half or the limit passes an end of a number's range. */
static void case_edges(void)
{
    static const uint64_t edges[] = {UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(3) << 32,
                                     UINT64_C(1) << 63};

    tap_case("full and empty: every claim size, around 2^31, 2^32 and 2^63");
    for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); ++e) {
        for (uint64_t before = 0; before <= 2 * CELLS_MIN + 2; ++before) {
            for (uint64_t count = 1; count <= EPSHM_SPSC_CLAIM_MAX; ++count) {
                epshm_spsc_ring_t *ring = ring_at(CELLS_MIN, edges[e] - before);
                epshm_spsc_writer_t writer;

                epshm_spsc_attach(&writer, ring);
                fill_and_empty(&writer, count);
                epshm_spsc_destroy(ring);
            }
        }
    }
    tap_case_done();
}

/** In a full ring each pop of count cells makes room for exactly count cells. */
static void case_room(void)
{
    tap_case("room in a full ring comes back cell by cell, and is learnt when it is needed");
    for (uint64_t count = 1; count <= EPSHM_SPSC_CLAIM_MAX; ++count) {
        epshm_spsc_ring_t *ring = ring_at(CELLS_MIN, 5);
        epshm_spsc_writer_t writer;

        epshm_spsc_attach(&writer, ring);
        for (int i = 0; i < CELLS_MIN; ++i) {
            TAP_CHECK(epshm_spsc_has_room(&writer, 1), "cell %d", i);
            publish(&writer, 1, (epshm_spsc_mark_t){.kind = 1});
        }
        for (uint64_t freed = 0; freed < count; ++freed) {
            TAP_CHECK(!epshm_spsc_has_room(&writer, count), "%llu cells while %llu are free",
                      (unsigned long long) count, (unsigned long long) freed);
            TAP_EQ(5 + CELLS_MIN + freed, writer.limit);
            epshm_spsc_pop(ring, 1);
            TAP_EQ(5 + CELLS_MIN + freed, writer.limit); /* nobody has asked yet */
        }
        TAP_CHECK(epshm_spsc_has_room(&writer, count), "%llu cells, as many are free",
                  (unsigned long long) count);
        publish(&writer, count, (epshm_spsc_mark_t){.kind = 1});
        TAP_CHECK(!epshm_spsc_has_room(&writer, 1), "one cell too many");
        epshm_spsc_destroy(ring);
    }
    tap_case_done();
}

/** Messages with bytes beside their cells: in one piece, on a line, nobody else's until they are
 * taken; those of many sizes follow each other and plain ones over some laps. */
static void case_beside(void)
{
    enum { AHEAD = 4 };

    tap_case("bytes beside the cells: one piece each, none over another");
    for (size_t b = 0; b < NUM_BASES; ++b) {
        epshm_spsc_ring_t *ring = ring_at(4 * CELLS_MIN, bases[b]);
        unsigned char tags[AHEAD] = {0};
        uint64_t random = tap_stream(b), first;
        size_t sizes[AHEAD] = {0};
        epshm_spsc_writer_t writer;

        epshm_spsc_attach(&writer, ring);
        TAP_CHECK(epshm_spsc_make_area(&writer), "no area");
        for (int i = 0; i < 400; ++i) {
            const size_t size = 0 == tap_below(&random, 4)
                                    ? 0
                                    : 1 + tap_below(&random, EPSHM_SPSC_OUT_OF_LINE_MAX);
            const uint64_t count = 0 == size ? 1
                                             : epshm_spsc_cells_out_of_line(ring->mask, writer.tail,
                                                                            size, &first);

            if (AHEAD <= i) { /* the oldest is taken */
                const size_t due = sizes[i % AHEAD];
                epshm_spsc_mark_t mark = {0};
                uint64_t cells = 1;

                TAP_CHECK(NULL != epshm_spsc_peek(ring, &mark), "message %d is not there", i);
                TAP_EQ(due, mark.size);
                if (0 < due) {
                    const unsigned char *data = epshm_spsc_find_out_of_line(ring, due, &cells);

                    TAP_EQ(0, (uintptr_t) data % EPSHM_SPSC_OUT_OF_LINE);
                    for (size_t k = 0; k < due; ++k) {
                        TAP_EQ(tags[i % AHEAD], data[k]);
                    }
                }
                epshm_spsc_pop(ring, cells);
            }
            TAP_CHECK(epshm_spsc_has_room(&writer, count), "no room for %zu bytes", size);
            sizes[i % AHEAD] = size;
            tags[i % AHEAD] = (unsigned char) i;
            if (0 < size) {
                TAP_CHECK((first & ring->mask) * EPSHM_SPSC_OUT_OF_LINE + size
                              <= (ring->mask + 1) * EPSHM_SPSC_OUT_OF_LINE,
                          "over the area's end");
                memset(epshm_spsc_out_of_line(&writer, first), i, size);
            }
            publish(&writer, count, (epshm_spsc_mark_t){.kind = 1, .size = (uint16_t) size});
        }
        epshm_spsc_destroy(ring);
    }
    tap_case_done();
}

/** kind, tag and size pass through the word, at any position, and change nothing of its lower
 * half. */
static void case_marks(void)
{
    static const uint16_t sizes[] = {0, 1, 24, 255, 256, 456, 0x7fff, 0x8000, 0xffff};

    tap_case("marks: every kind and tag, sizes of all bits");
    for (size_t b = 0; b < NUM_BASES; ++b) {
        epshm_spsc_ring_t *ring = ring_at(CELLS_MIN, bases[b]);
        epshm_spsc_writer_t writer;

        epshm_spsc_attach(&writer, ring);
        for (unsigned int i = 0; i < 256 * 9; ++i) {
            const epshm_spsc_mark_t sent = {.kind = (uint8_t) (i * 7),
                                            .tag = (uint8_t) i,
                                            .size = sizes[i % 9]};
            epshm_spsc_mark_t got = {0};

            TAP_EQ((uint32_t) (writer.tail + 1), (uint32_t) epshm_spsc_word(writer.tail, sent));
            TAP_CHECK(epshm_spsc_has_room(&writer, 1), "message %u", i);
            publish(&writer, 1, sent);
            TAP_CHECK(NULL != epshm_spsc_peek(ring, &got), "message %u", i);
            TAP_EQ(sent.kind, got.kind);
            TAP_EQ(sent.tag, got.tag);
            TAP_EQ(sent.size, got.size);
            epshm_spsc_pop(ring, 1);
        }
        epshm_spsc_destroy(ring);
    }
    tap_case_done();
}

/** Every size at every position: the message arrives, all other bytes of the ring stay. */
static void case_copy(void)
{
    uint64_t random = tap_stream(1);
    unsigned char data[MESSAGE_MAX], got[MESSAGE_MAX + 1];
    epshm_spsc_ring_t *ring = ring_at(CELLS_MIN, 0);
    epshm_spsc_writer_t writer;

    tap_case("every size at every position, whole or in pieces");
    epshm_spsc_attach(&writer, ring);
    for (uint64_t base = 0; base < CELLS_MIN; base += 0 == base % 8 || 40 < base ? 1 : 7) {
        for (size_t size = 0; size <= MESSAGE_MAX; ++size) {
            memset((void *) ring->cell, 0x5a, CELLS_MIN * sizeof(epshm_spsc_cell_t));
            atomic_store_explicit(&ring->head, base, memory_order_relaxed);
            writer.tail = base;
            for (size_t i = 0; i < size; ++i) {
                data[i] = (unsigned char) tap_random(&random);
            }
            write_in_pieces(&writer, data, size, &random);
            memset(got, 0xa5, sizeof(got));
            epshm_spsc_read(ring, got, epshm_spsc_cells_for(size));
            TAP_CHECK(0 == memcmp(data, got, size), "size %zu at %llu", size,
                      (unsigned long long) base);
            TAP_EQ(0xa5, got[epshm_spsc_cells_for(size) * EPSHM_SPSC_PAYLOAD]);
            for (uint64_t cell = 0; cell < CELLS_MIN; ++cell) {
                const epshm_spsc_cell_t *at = epshm_spsc_cell(&writer, cell);
                size_t used = size <= cell * EPSHM_SPSC_PAYLOAD ? 0
                                                                : size - cell * EPSHM_SPSC_PAYLOAD;

                TAP_EQ(UINT64_C(0x5a5a5a5a5a5a5a5a),
                       atomic_load_explicit(&at->word, memory_order_relaxed));
                for (size_t i = used; i < EPSHM_SPSC_PAYLOAD; ++i) {
                    TAP_EQ(0x5a, at->data[i]);
                }
            }
        }
    }
    epshm_spsc_destroy(ring);
    tap_case_done();
}

/** In the whole ring only the messages that are in it look like one.
 * @param[in] starts  bit i: a message starts at head + i */
static void check_words(const epshm_spsc_ring_t *ring, uint64_t tail, uint64_t starts)
{
    const uint64_t head = head_of(ring);

    for (uint64_t i = 0; i <= ring->mask; ++i) {
        const bool found = (uint32_t) (head + i + 1) == word_at(ring, head + i);

        TAP_CHECK(found == (0 != (starts >> i & 1)), "position %llu (head %llu, tail %llu): %s",
                  (unsigned long long) (head + i), (unsigned long long) head,
                  (unsigned long long) tail,
                  found ? "passes for a message start" : "no message start");
    }
    /* Nor does anything that the cells hold, when the ring gets there. */
    for (uint64_t i = 0; i <= ring->mask; ++i) {
        const uint64_t next = tail + i;

        if (next >= head + ring->mask + 1) {
            TAP_CHECK((uint32_t) (next + 1) != word_at(ring, next),
                      "position %llu will pass for a message start", (unsigned long long) next);
        }
    }
}

/** Mixed sizes over many laps, each word looked at after each step. */
static void case_words(void)
{
    tap_case("words of continuing cells are no message start, over laps of mixed sizes");
    for (size_t b = 0; b < NUM_BASES; ++b) {
        epshm_spsc_ring_t *ring = ring_at(CELLS_MIN, bases[b]);
        epshm_spsc_writer_t writer;
        uint64_t random = tap_stream(3 + b), starts = 0;

        epshm_spsc_attach(&writer, ring);
        for (int step = 0; step < 6000 && !tap_case_failed(); ++step) {
            const uint64_t count = 1 + tap_below(&random, EPSHM_SPSC_CLAIM_MAX);
            epshm_spsc_mark_t mark = {0};

            if (0 == tap_below(&random, 2) && epshm_spsc_has_room(&writer, count)) {
                starts |= UINT64_C(1) << (writer.tail - head_of(ring));
                publish(&writer, count, (epshm_spsc_mark_t){.kind = 1, .size = (uint16_t) count});
            } else if (NULL != epshm_spsc_peek(ring, &mark)) {
                TAP_CHECK(0 != (starts & 1), "a message that nobody has sent");
                epshm_spsc_pop(ring, mark.size);
                starts >>= mark.size;
            }
            check_words(ring, writer.tail, starts);
        }
        epshm_spsc_destroy(ring);
    }
    tap_case_done();
}

/** What is in a cell is never older than a lap: half a word later nothing passes for new. */
static void case_half_word_later(void)
{
    tap_case("2^32 positions later no word of old passes for a message");
    for (uint64_t count = 1; count <= EPSHM_SPSC_CLAIM_MAX; ++count) {
        for (size_t b = 0; b < NUM_BASES - 1; ++b) {
            epshm_spsc_ring_t *ring = ring_at(CELLS_MIN, bases[b]);
            epshm_spsc_writer_t writer;

            epshm_spsc_attach(&writer, ring);
            fill_and_empty(&writer, 1); /* a lap in which every cell is a start */
            while (writer.tail < bases[b] + 2 * CELLS_MIN) {
                TAP_CHECK(epshm_spsc_has_room(&writer, count), "no room in an empty ring");
                publish(&writer, count, (epshm_spsc_mark_t){.kind = 1});
                epshm_spsc_pop(ring, count);
            }
            for (uint64_t i = 0; i < CELLS_MIN; ++i) {
                epshm_spsc_mark_t mark;

                atomic_store_explicit(&ring->head, bases[b] + (UINT64_C(1) << 32) + i,
                                      memory_order_relaxed);
                TAP_CHECK(NULL == epshm_spsc_peek(ring, &mark), "%llu cells: cell %llu",
                          (unsigned long long) count, (unsigned long long) i);
                TAP_CHECK(!epshm_spsc_pending(ring), "%llu cells: cell %llu is pending",
                          (unsigned long long) count, (unsigned long long) i);
            }
            epshm_spsc_destroy(ring);
        }
    }
    tap_case_done();
}

static void case_hand_over(void)
{
    tap_case("attach and detach: the next producer goes on where the last one was");
    for (size_t b = 0; b < NUM_BASES; ++b) {
        epshm_spsc_ring_t *ring = ring_at(CELLS_MIN, bases[b]);
        uint64_t random = tap_stream(5 + b), sent = 0, taken = 0;

        for (int turn = 0; turn < 500; ++turn) {
            epshm_spsc_writer_t writer = {.limit = UINT64_MAX, .tail = 12345, .mask = 1};
            epshm_spsc_mark_t mark = {0};

            epshm_spsc_attach(&writer, ring);
            TAP_EQ(bases[b] + sent, writer.tail);
            TAP_EQ(CELLS_MIN - 1, writer.mask);
            TAP_CHECK(writer.limit <= head_of(ring) + CELLS_MIN, "limit from nowhere");
            TAP_CHECK((sent == taken) == epshm_spsc_is_drained(&writer), "drained: wrong");
            for (uint64_t i = tap_below(&random, 40); 0 < i; --i) {
                const bool fits = sent - taken < CELLS_MIN;

                TAP_CHECK(fits == epshm_spsc_has_room(&writer, 1), "room: not %d", (int) fits);
                if (fits) {
                    publish(&writer, 1, (epshm_spsc_mark_t){.kind = 1, .tag = (uint8_t) sent});
                    ++sent;
                }
            }
            epshm_spsc_detach(&writer);
            TAP_CHECK(NULL == writer.ring, "still the producer");
            TAP_EQ(bases[b] + sent, ring->tail);
            for (uint64_t i = tap_below(&random, 40); 0 < i && taken < sent; --i) {
                TAP_CHECK(NULL != epshm_spsc_peek(ring, &mark), "lost");
                TAP_EQ((uint8_t) taken, mark.tag);
                epshm_spsc_pop(ring, 1);
                ++taken;
            }
        }
        epshm_spsc_destroy(ring);
    }
    tap_case_done();
}

/* ---- a random program against a model ------------------------------------------------------- */

typedef struct model_t {
    epshm_spsc_ring_t *ring;
    epshm_spsc_writer_t writer;
    uint64_t head, tail;
    uint64_t first, next; /**< messages in the ring: first ... next - 1 */
    uint64_t random;
} model_t;

static void model_send(model_t *model)
{
    unsigned char data[MESSAGE_MAX];
    epshm_spsc_mark_t mark = {0};
    const size_t size = message_make(9, model->next, data, &mark);
    const uint64_t count = epshm_spsc_cells_for(size);
    const bool expected = model->tail + count - model->head <= model->ring->mask + 1;

    TAP_CHECK(expected == epshm_spsc_has_room(&model->writer, count),
              "room for %llu with %llu in use: not %d", (unsigned long long) count,
              (unsigned long long) (model->tail - model->head), (int) expected);
    if (expected) {
        write_in_pieces(&model->writer, data, size, &model->random);
        publish(&model->writer, count, mark);
        model->tail += count;
        ++model->next;
    }
}

static void model_take(model_t *model)
{
    const bool expected = model->first < model->next;
    unsigned char due[MESSAGE_MAX], got[MESSAGE_MAX];
    epshm_spsc_mark_t mark = {0}, wanted;
    const epshm_spsc_cell_t *cell = epshm_spsc_peek(model->ring, &mark);

    TAP_CHECK(expected == (NULL != cell), "peek at %llu: message expected: %d",
              (unsigned long long) model->head, (int) expected);
    TAP_CHECK(expected == epshm_spsc_pending(model->ring), "pending: not %d", (int) expected);
    if (expected && NULL != cell) {
        const size_t size = message_make(9, model->first, due, &wanted);

        TAP_EQ(size, mark.size);
        TAP_EQ(wanted.tag, mark.tag);
        TAP_EQ(wanted.kind, mark.kind);
        TAP_EQ((uintptr_t) &model->ring->cell[model->head & model->ring->mask], (uintptr_t) cell);
        epshm_spsc_read(model->ring, got, epshm_spsc_cells_for(size));
        TAP_CHECK(0 == memcmp(due, got, size), "message %llu differs",
                  (unsigned long long) model->first);
        epshm_spsc_pop(model->ring, epshm_spsc_cells_for(size));
        model->head += epshm_spsc_cells_for(size);
        ++model->first;
    }
}

static void case_model(size_t cells, uint64_t base, uint64_t steps)
{
    model_t model = {
        .ring = ring_at(cells, base), .head = base, .tail = base, .random = tap_stream(2 + base)};

    tap_case("random program against a model: %zu cells from %#llx", cells,
             (unsigned long long) base);
    epshm_spsc_attach(&model.writer, model.ring);
    for (uint64_t step = 0; step < steps && !tap_case_failed(); ++step) {
        /* Tides, so that the ring runs full and empty. */
        const uint64_t fill = 0 == (step >> 6) % 2 ? 3 : 1;

        if (0 == tap_below(&model.random, 50)) {
            epshm_spsc_detach(&model.writer);
            epshm_spsc_attach(&model.writer, model.ring);
        }
        if (fill > tap_below(&model.random, 4)) {
            model_send(&model);
        } else {
            model_take(&model);
        }
        TAP_EQ(model.head, head_of(model.ring));
        TAP_EQ(model.tail, model.writer.tail);
        TAP_CHECK((model.head == model.tail) == epshm_spsc_is_drained(&model.writer),
                  "drained: wrong");
        TAP_CHECK(model.writer.limit <= model.head + cells,
                  "the limit lets the producer overtake the consumer");
    }
    epshm_spsc_destroy(model.ring);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_spsc", TAP_SANITIZED ? 120 : 60);
    case_cells_for();
    case_create();
    case_full_empty();
    case_edges();
    case_room();
    case_marks();
    case_beside();
    case_copy();
    case_words();
    case_half_word_later();
    case_hand_over();
    for (size_t b = 0; b < NUM_BASES; ++b) {
        case_model(0 == b % 2 ? CELLS_MIN : 256, bases[b], 30000);
    }
    return tap_end();
}
