/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The pipe between processes (btl_epshm_pipe.h), by one thread: sizes, wrap-around, full and empty,
 * its end, headers apart from data.  Nonsense: test_epshm_pipe_nonsense.c; threads and processes:
 * test_epshm_pipe_two.c.
 *
 * Guards: btl_epshm_pipe.h, btl_epshm_pipe_in.h, btl_epshm_pipe_out.h
 */

#include "test_epshm_pipe.h"

static void case_sizes(void)
{
    static const struct {
        size_t size;
        uint64_t cells;
    } table[] = {{0, 1}, {48, 1}, {49, 2}, {104, 2}, {105, 3}, {440, 8}, {441, 9}};
    segment_t segment = segment_new();
    unsigned char *data = malloc(AREA);

    tap_case("sizes, through a ring of 16 cells, again and again");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); ++i) {
        TAP_EQ(table[i].cells, epshm_pipe_cells_for(table[i].size));
    }
    TAP_EQ(440, EPSHM_PIPE_INLINE_MAX);
    TAP_EQ(48, EPSHM_PIPE_ONE_CELL_MAX);
    for (size_t size = 0; size < 1500; size += size < 460 ? 1 : 97) {
        unsigned char room[ROOM];
        epshm_pipe_message_t message;
        epshm_pipe_out_t out;
        epshm_pipe_in_t in;

        make(&segment, 16, 4096, &out, &in);
        for (uint64_t number = 0; number < 40; ++number) {
            TAP_CHECK(!epshm_pipe_pending(&in), "a message that nobody sent");
            TAP_EQ(EPSHM_PIPE_NOTHING, epshm_pipe_peek(&in, room, &message));
            fill(data, size, number);
            TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, size));
            TAP_CHECK(epshm_pipe_pending(&in), "a message is not seen");
            take(&in, size, number);
        }
    }
    free(data);
    segment_free(&segment);
    tap_case_done();
}

static void case_full(void)
{
    segment_t segment = segment_new();
    unsigned char data[4096], room[ROOM];
    epshm_pipe_message_t message;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    tap_case("full and empty, cells and area");
    make(&segment, 16, 4096, &out, &in);
    for (int lap = 0; lap < 5; ++lap) {
        for (uint64_t i = 0; i < 16; ++i) {
            fill(data, 8, i);
            TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 8));
        }
        TAP_EQ(EPSHM_PIPE_NOTHING, send(&out, data, 8));
        TAP_EQ(EPSHM_PIPE_NOTHING, send(&out, data, 2000));
        for (uint64_t i = 0; i < 16; ++i) {
            take(&in, 8, i);
        }
        TAP_EQ(EPSHM_PIPE_NOTHING, epshm_pipe_peek(&in, room, &message));
    }
    for (int lap = 0; lap < 50; ++lap) {
        /* So that the area's end is passed at ever other places. */
        fill(data, 1984, 1);
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 1984));
        TAP_EQ(EPSHM_PIPE_NOTHING, send(&out, data, 4096));
        take(&in, 1984, 1);
        /* An empty area takes what fits in it, wherever the last piece ended. */
        fill(data, 4096, 2);
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 4096));
        TAP_EQ(EPSHM_PIPE_NOTHING, send(&out, data, 441));
        take(&in, 4096, 2);
    }
    segment_free(&segment);
    tap_case_done();
}

/** A piece for which the area's end would be skipped, while the area is empty, is given up; others
 * go before that end instead, and then the beginning is free only as far as it has been read. */
static void case_forgotten(void)
{
    segment_t segment = segment_new();
    unsigned char data[4096], room[ROOM];
    epshm_pipe_message_t message;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;
    uint64_t position = 0;

    tap_case("a piece that is reserved and forgotten");
    make(&segment, 16, 4096, &out, &in);
    fill(data, 3072, 1);
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 3072));
    TAP_EQ(EPSHM_PIPE_MESSAGE, epshm_pipe_peek(&in, room, &message));
    epshm_pipe_done(&in, &message);

    TAP_EQ(EPSHM_PIPE_MESSAGE, epshm_pipe_reserve(&out, 4096, &position));
    TAP_EQ(4096, position);
    fill(data, 512, 2);
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 512)); /* behind the first, not yet read */
    fill(data, 4096, 3);
    TAP_EQ(EPSHM_PIPE_NOTHING, send(&out, data, 4096));
    take(&in, 512, 2);
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 4096));
    take(&in, 4096, 3);
    segment_free(&segment);
    tap_case_done();
}

/** Short pieces stay in the first part of a large area, unless a long one is before them, or the
 * consumer is away. */
static void case_short(void)
{
    enum { SHORT = 3000, LONG = 14000 };
    segment_t segment = segment_new();
    unsigned char *data = malloc(LONG);
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;
    uint64_t count = 0;

    tap_case("short pieces, and a long one");
    make(&segment, 64, 65536, &out, &in);
    for (uint64_t number = 0; number < 100; ++number) {
        fill(data, SHORT, number);
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, SHORT));
        TAP_CHECK(EPSHM_PIPE_SHORT_LAP >= out.area_place, "a piece ends at %llu",
                  (unsigned long long) out.area_place);
        take(&in, SHORT, number);
    }
    fill(data, SHORT, 0);
    while (count < 64 && EPSHM_PIPE_MESSAGE == send(&out, data, SHORT)) {
        ++count;
    }
    TAP_EQ(EPSHM_PIPE_SHORT_LAP / SHORT, count);
    for (int tries = 2; tries < EPSHM_PIPE_SHORT_WAITS; ++tries) {
        TAP_EQ(EPSHM_PIPE_NOTHING, send(&out, data, SHORT));
    }
    while (count < 64 && EPSHM_PIPE_MESSAGE == send(&out, data, SHORT)) {
        ++count;
    }
    TAP_EQ(65536 / epshm_pipe_area_for(SHORT), count);
    while (0 < count--) {
        take(&in, SHORT, 0);
    }
    make(&segment, 64, 65536, &out, &in);
    fill(data, LONG, 1);
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, LONG));
    for (uint64_t number = 2; number < 5; ++number) {
        fill(data, SHORT, number);
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, SHORT));
    }
    take(&in, LONG, 1);
    for (uint64_t number = 2; number < 5; ++number) {
        take(&in, SHORT, number);
    }
    free(data);
    segment_free(&segment);
    tap_case_done();
}

static void case_end(void)
{
    segment_t segment = segment_new();
    unsigned char data[64];
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    tap_case("what was sent before the end is read before the end");
    make(&segment, 16, 0, &out, &in);
    fill(data, 8, 5);
    TAP_CHECK(!epshm_pipe_is_over(&in), "over before it began");
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 8));
    epshm_pipe_close(&out);
    TAP_CHECK(!epshm_pipe_is_over(&in), "over with a message in it");
    take(&in, 8, 5);
    TAP_CHECK(epshm_pipe_is_over(&in), "not over");
    TAP_CHECK(!epshm_pipe_is_detached(out.pipe), "left too early");
    epshm_pipe_detach(in.pipe);
    TAP_CHECK(epshm_pipe_is_detached(out.pipe), "not left");
    segment_free(&segment);
    tap_case_done();
}

/** A message is sent; what becomes of it if these words are written? */
static void case_taken_back(void)
{
    segment_t segment = segment_new();
    unsigned char data[ROOM];
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    tap_case("a message that has been sent and is not there any more is missed, by either process");
    make(&segment, 16, 0, &out, &in);
    fill(data, 100, 1);
    for (uint64_t i = 0; i < 40; ++i) { /* some laps, in messages of two cells */
        TAP_CHECK(epshm_pipe_is_intact(&out), "not intact before message %d", (int) i);
        TAP_CHECK(epshm_pipe_is_sound(&in), "not sound before message %d", (int) i);
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 100));
        TAP_CHECK(epshm_pipe_is_intact(&out), "not intact with message %d", (int) i);
        take(&in, 100, 1);
    }
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 100));
    atomic_store(&out.cells[in.head & in.mask].seq, 0);
    TAP_CHECK(!epshm_pipe_is_intact(&out), "the producer does not miss it");
    atomic_store(&out.cells[in.head & in.mask].seq, in.head + 1);
    TAP_CHECK(epshm_pipe_is_intact(&out), "not intact again");
    atomic_store(&out.pipe->head, in.head + 3);
    TAP_CHECK(!epshm_pipe_is_intact(&out), "more is read than was sent");
    atomic_store(&out.pipe->head, in.head);
    epshm_pipe_close(&out);
    TAP_CHECK(epshm_pipe_is_sound(&in), "not sound after the end");
    atomic_store(&out.cells[in.head & in.mask].seq, 0);
    TAP_CHECK(!epshm_pipe_is_sound(&in), "the consumer does not miss it after the end");
    atomic_store(&out.cells[in.head & in.mask].seq, in.head + 1);
    take(&in, 100, 1);
    TAP_CHECK(epshm_pipe_is_sound(&in) && epshm_pipe_is_over(&in), "not over");
    atomic_store(&out.pipe->end, in.head - 1);
    TAP_CHECK(!epshm_pipe_is_sound(&in), "it ended before what was read");
    segment_free(&segment);
    tap_case_done();
}

/** Laps of a small area, with messages of which some are apart from their headers. */
static void case_split(void)
{
    static const size_t sizes[] = {16, 17, 48, 49, 80, 600, 4000, 64, 4096, 15, 1040, 2000, 3000};
    const size_t count = sizeof(sizes) / sizeof(sizes[0]);
    segment_t segment = segment_new();
    unsigned char data[4096], room[ROOM];
    epshm_pipe_message_t message;
    int bare = 0, apart = 0;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    tap_case("headers in the cell, data behind them or in the area");
    splits = true;
    make(&segment, 16, 4096, &out, &in);
    for (uint64_t number = 0; number < 300; ++number) {
        const size_t size = sizes[number % count];

        fill(data, size, number);
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, size));
        TAP_EQ(EPSHM_PIPE_MESSAGE, epshm_pipe_peek(&in, room, &message));
        check(&message, size, number);
        if (NULL != message.rest) {
            TAP_EQ(1, message.cells);
            bare += EPSHM_PIPE_BARE_MAX >= message.size;
            apart += EPSHM_PIPE_BARE_MAX < message.size;
            TAP_CHECK(EPSHM_PIPE_BARE_MAX >= message.size
                          || 0 == (uintptr_t) message.data % EPSHM_PIPE_LINE,
                      "%u bytes do not begin on a line", message.size);
        }
        epshm_pipe_done(&in, &message);
        TAP_EQ(in.area_head % 4096, in.area_place);
        TAP_EQ(out.area_tail % 4096, out.area_place);
    }
    TAP_CHECK(10 < bare && 10 < apart, "%d bare, %d apart", bare, apart);
    splits = false;
    segment_free(&segment);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_pipe", 120);
    case_sizes();
    case_full();
    case_forgotten();
    case_short();
    case_end();
    case_taken_back();
    case_split();
    return tap_end();
}
