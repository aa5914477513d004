/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that makes no sense where a pipe between processes should be (btl_epshm_pipe.h): what the
 * other process says, and what it writes while it is read.
 *
 * Guards: btl_epshm_pipe.h, btl_epshm_pipe_in.h, btl_epshm_pipe_out.h
 */

#include "test_epshm_pipe.h"

#include <pthread.h>

/* ---- a producer that writes while it is read ------------------------------------------------- */

#if !defined(__SANITIZE_THREAD__) /* it is a race, and is meant to be */

typedef struct scribbler_t {
    segment_t segment;
    uint64_t random;
    _Atomic bool stop;
} scribbler_t;

/** Words that matter, with values that may be right and others that are not. */
static void *scribble(void *context)
{
    scribbler_t *scribbler = context;
    unsigned char *memory = scribbler->segment.memory + PIPE_AT;
    volatile uint64_t *words = (volatile uint64_t *) (void *) memory;
    const size_t cell = sizeof(epshm_pipe_t) / sizeof(*words);
    const size_t places[] = {offsetof(epshm_pipe_t, area) / sizeof(*words),
                             offsetof(epshm_pipe_t, area_size) / sizeof(*words), cell + 1, cell + 1,
                             cell + 2};

    words[cell] = 1; /* there is a message */
    while (!atomic_load_explicit(&scribbler->stop, memory_order_relaxed)) {
        static const uint64_t likely[] = {0, 64, 1024, AREA, AREA_AT, (uint64_t) -64};
        const size_t at = places[tap_below(&scribbler->random, 5)];
        const uint64_t choice = tap_below(&scribbler->random, 6);

        words[1] = UINT64_C(16) << tap_below(&scribbler->random, 14); /* cells */
        words[at] = cell + 1 != at
                        ? likely[choice]
                        : (1 + choice % 2)
                              | tap_below(&scribbler->random, 2 > choice ? 64 : AREA >> choice)
                                    << 32;
    }
    return NULL;
}

/** Does a message lie where it may: whole in the caller's room, in one cell, or in an area of the
 * segment? */
static bool is_within(const segment_t *segment, const epshm_pipe_in_t *in,
                      const unsigned char *room, const epshm_pipe_message_t *message)
{
    const unsigned char *data = message->data;
    const unsigned char *cell = in->cells[in->head & in->mask].data;

    if (data == cell + sizeof(epshm_pipe_envelope_t)) {
        return EPSHM_PIPE_ONE_CELL_MAX >= message->size;
    }
    return (data >= room && data + message->size <= room + ROOM)
           || (NULL != in->area && data >= in->area
               && data + message->size <= in->area + in->area_size
               && in->area + in->area_size <= segment->memory + segment->size);
}

/** What is taken for a message lies where it may, whatever the memory says by then. */
static void case_scribbled(void)
{
    scribbler_t scribbler = {.segment = segment_new(), .random = tap_stream(5)};
    const segment_t *segment = &scribbler.segment;
    unsigned char room[ROOM];
    epshm_pipe_message_t message;
    unsigned long found = 0;
    epshm_pipe_in_t in;
    epshm_pipe_out_t out;
    pthread_t thread;

    tap_case("a producer that changes what it has written");
    make(&scribbler.segment, 16, AREA, &out, &in);
    pthread_create(&thread, NULL, scribble, &scribbler);
    for (int i = 0; i < 30000000 && 3000 > found; ++i) {
        if (0 == i % 1000) {
            (void) sched_yield(); /* the other thread may not have begun */
        }
        if (!epshm_pipe_open(&in, segment->memory, segment->size, used_of(segment), PIPE_AT)) {
            continue;
        }
        TAP_CHECK(PIPE_AT + epshm_pipe_bytes(in.mask + 1) <= segment->size, "%llu cells",
                  (unsigned long long) in.mask + 1);
        if (EPSHM_PIPE_MESSAGE == epshm_pipe_peek(&in, room, &message)) {
            ++found;
            TAP_CHECK(is_within(segment, &in, room, &message), "%u bytes elsewhere", message.size);
        }
    }
    atomic_store(&scribbler.stop, true);
    pthread_join(thread, NULL);
    TAP_CHECK(0 < found, "nothing passed for a message");
    segment_free(&scribbler.segment);
    tap_case_done();
}

#endif

/* ---- nonsense -------------------------------------------------------------------------------- */

/** What the producer says; all of it right here. */
typedef struct given_t {
    uint64_t magic, cells, used, area, area_size, kind, size, position;
    uint64_t inline_size; /**< not 0: of a message in the cells, instead */
    uint64_t used_later;  /**< once the pipe has been opened */
} given_t;

static const given_t right = {.magic = EPSHM_PIPE_MAGIC,
                              .cells = 16,
                              .used = SEGMENT,
                              .area = AREA_AT,
                              .area_size = 4096,
                              .kind = EPSHM_PIPE_BULK,
                              .size = 600,
                              .position = 0,
                              .used_later = SEGMENT};

/** One thing of it that is wrong. */
static const struct {
    const char *what;
    bool opens; /**< the pipe itself still looks like one */
    size_t field;
    uint64_t value;
} wrongs[] = {
    {"magic", false, offsetof(given_t, magic), 1},
    {"no cells", false, offsetof(given_t, cells), 0},
    {"too few cells", false, offsetof(given_t, cells), 8},
    {"cells no power of two", false, offsetof(given_t, cells), 17},
    {"more cells than memory", false, offsetof(given_t, cells), 4096},
    {"far too many cells", false, offsetof(given_t, cells), UINT64_C(1) << 58},
    {"used beyond the mapping", false, offsetof(given_t, used), SEGMENT + 1},
    {"pipe beyond what is used", false, offsetof(given_t, used), 128},
    {"kind", true, offsetof(given_t, kind), 9},
    {"bare, too long", true, offsetof(given_t, kind), EPSHM_PIPE_BARE},
    {"inline, too long", true, offsetof(given_t, inline_size), 441},
    {"inline, far too long", true, offsetof(given_t, inline_size), UINT32_MAX},
    {"no area", true, offsetof(given_t, area), 0},
    {"area not aligned", true, offsetof(given_t, area), AREA_AT + 8},
    {"area beyond the mapping", true, offsetof(given_t, area), SEGMENT},
    {"area far beyond", true, offsetof(given_t, area), UINT64_MAX - 63},
    {"area too large", true, offsetof(given_t, area_size), SEGMENT},
    {"area of no size", true, offsetof(given_t, area_size), 0},
    {"area of an odd size", true, offsetof(given_t, area_size), 4095},
    {"longer than the area", true, offsetof(given_t, size), 4097},
    {"over the area's end", true, offsetof(given_t, position), 4096 - 64},
    {"position not aligned", true, offsetof(given_t, position), 8},
    {"position too far ahead", true, offsetof(given_t, position), 8192},
    {"position far ahead", true, offsetof(given_t, position), UINT64_MAX - 63},
    {"used beyond the mapping, later", true, offsetof(given_t, used_later), SEGMENT + 1},
    {"area beyond what is used, later", true, offsetof(given_t, used_later), AREA_AT + 4095},
};

/** Make a pipe with one message as given. */
static void tell(segment_t *segment, const given_t *given)
{
    const epshm_pipe_envelope_t envelope = {
        .kind = 0 != given->inline_size ? EPSHM_PIPE_INLINE : (uint8_t) given->kind,
        .tag = 3,
        .size = (uint32_t) (0 != given->inline_size ? given->inline_size : given->size)};
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    atomic_store(used_of(segment), SEGMENT);
    make(segment, 16, 0, &out, &in);
    memcpy(out.cells[0].data, &envelope, sizeof(envelope));
    memcpy(out.cells[0].data + sizeof(envelope), &given->position, sizeof(given->position));
    epshm_pipe_publish(&out, 1);
    out.pipe->magic = given->magic;
    out.pipe->cells = given->cells;
    atomic_store(&out.pipe->area, given->area);
    atomic_store(&out.pipe->area_size, given->area_size);
    atomic_store(used_of(segment), given->used);
}

static void case_nonsense(void)
{
    segment_t segment = segment_new();
    unsigned char room[ROOM];
    epshm_pipe_message_t message;
    epshm_pipe_in_t in;

    tap_case("a producer's nonsense is refused, not followed");
    tell(&segment, &right);
    TAP_CHECK(epshm_pipe_open(&in, segment.memory, SEGMENT, used_of(&segment), PIPE_AT),
              "what is right is not opened");
    TAP_EQ(EPSHM_PIPE_MESSAGE, epshm_pipe_peek(&in, room, &message));
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); ++i) {
        given_t given = right;
        bool opens;

        memcpy((char *) &given + wrongs[i].field, &wrongs[i].value, sizeof(wrongs[i].value));
        tell(&segment, &given);
        opens = epshm_pipe_open(&in, segment.memory, SEGMENT, used_of(&segment), PIPE_AT);
        TAP_CHECK(wrongs[i].opens == opens, "%s: %s", wrongs[i].what,
                  opens ? "opened" : "not opened");
        if (opens) {
            int rc;

            atomic_store(used_of(&segment), given.used_later);
            rc = epshm_pipe_peek(&in, room, &message);
            TAP_CHECK(EPSHM_PIPE_BROKEN == rc, "%s: got %d", wrongs[i].what, rc);
        }
    }
    segment_free(&segment);
    tap_case_done();
}

static void case_offsets(void)
{
    static const uint64_t offsets[] = {PIPE_AT + 8,  SEGMENT - 64,    SEGMENT,
                                       SEGMENT + 64, UINT64_MAX - 63, 0};
    segment_t segment = segment_new();
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    tap_case("pipes where none are");
    make(&segment, 16, 0, &out, &in);
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); ++i) {
        TAP_CHECK(!epshm_pipe_open(&in, segment.memory, SEGMENT, used_of(&segment), offsets[i]),
                  "one at %llu", (unsigned long long) offsets[i]);
    }
    memmove(segment.memory + PIPE_AT + 8, segment.memory + PIPE_AT, epshm_pipe_bytes(16));
    TAP_CHECK(!epshm_pipe_open(&in, segment.memory, SEGMENT, used_of(&segment), PIPE_AT + 8),
              "one between two lines");
    segment_free(&segment);
    tap_case_done();
}

/** What a producer may have left where its next message begins. */
static void case_sound(void)
{
    static const struct {
        uint64_t seq;
        bool sound;
    } words[] = {{0, true},       {3 * 16 + 1, true},  {2 * 16 + 1, true},  {1, true},
                 {3 * 16, false}, {3 * 16 + 2, false}, {4 * 16 + 1, false}, {UINT64_MAX, false}};
    segment_t segment = segment_new();
    unsigned char data[8];
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    tap_case("a message that does not come, and one that cannot");
    make(&segment, 16, 0, &out, &in);
    for (uint64_t number = 0; number < 3 * 16; ++number) {
        fill(data, sizeof(data), number);
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, sizeof(data)));
        take(&in, sizeof(data), number);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        atomic_store(&out.cells[0].seq, words[i].seq);
        TAP_CHECK(words[i].sound == epshm_pipe_is_sound(&in), "%llu",
                  (unsigned long long) words[i].seq);
    }
    segment_free(&segment);
    tap_case_done();
}

static void case_backwards(void)
{
    segment_t segment = segment_new();
    unsigned char data[2048] = {0}, room[ROOM];
    epshm_pipe_message_t message;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    tap_case("a consumer's nonsense is seen by the producer, and a position that goes back");
    make(&segment, 16, 4096, &out, &in);
    for (int i = 0; i < 16; ++i) {
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 8));
    }
    atomic_store(&out.pipe->head, 17); /* more than was sent */
    TAP_EQ(EPSHM_PIPE_BROKEN, send(&out, data, 8));
    atomic_store(&out.pipe->head, 4);
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 8));
    for (int i = 0; i < 3; ++i) {
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 8));
    }
    atomic_store(&out.pipe->head, 3); /* less than before */
    TAP_EQ(EPSHM_PIPE_BROKEN, send(&out, data, 8));

    make(&segment, 16, 4096, &out, &in);
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 2048));
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 2048));
    atomic_store(&out.pipe->area_head, 8192);
    TAP_EQ(EPSHM_PIPE_BROKEN, send(&out, data, 2048));
    atomic_store(&out.pipe->area_head, 2048);
    TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 2048));
    atomic_store(&out.pipe->area_head, 0);
    TAP_EQ(EPSHM_PIPE_BROKEN, send(&out, data, 2048));

    make(&segment, 16, 4096, &out, &in);
    for (uint64_t position = 0; position < 2; ++position) {
        TAP_EQ(EPSHM_PIPE_MESSAGE, send(&out, data, 600));
        if (1 == position) {
            const uint64_t back = 0;

            memcpy(out.cells[1].data + sizeof(epshm_pipe_envelope_t), &back, sizeof(back));
        }
        TAP_EQ(0 == position ? EPSHM_PIPE_MESSAGE : EPSHM_PIPE_BROKEN,
               epshm_pipe_peek(&in, room, &message));
        if (0 == position) {
            epshm_pipe_done(&in, &message);
        }
    }
    segment_free(&segment);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_pipe_nonsense", 120);
    case_nonsense();
    case_offsets();
    case_sound();
    case_backwards();
    splits = true; /* from here on */
#if !defined(__SANITIZE_THREAD__)
    case_scribbled();
#endif
    return tap_end();
}
