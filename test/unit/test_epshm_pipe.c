/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The pipe between processes (btl_epshm_pipe.h): sizes, wrap-around, full and empty, two threads,
 * two processes, one that is killed while it writes, and memory that makes no sense.
 *
 * Guards: btl_epshm_pipe.h
 */

#include "opal/mca/btl/epshm/segment/btl_epshm_pipe.h"

#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { ROOM = EPSHM_PIPE_CELLS_MAX * EPSHM_PIPE_CELL_PAYLOAD, AREA = 1 << 16 };

/** Memory as a producer's segment is: a word that says how much of it may be looked at, the pipe at
 * PIPE_AT, an area at AREA_AT. */
typedef struct segment_t {
    unsigned char *memory;
    uint64_t size;
} segment_t;

enum { PIPE_AT = 64, AREA_AT = 1 << 17, SEGMENT = AREA_AT + AREA + 4096 };

static _Atomic uint64_t *used_of(const segment_t *segment)
{
    return (_Atomic uint64_t *) (void *) segment->memory;
}

static segment_t segment_new(void)
{
    segment_t segment = {.size = SEGMENT};

    segment.memory = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == (void *) segment.memory) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    atomic_init(used_of(&segment), SEGMENT);
    return segment;
}

static void segment_free(segment_t *segment)
{
    (void) munmap(segment->memory, segment->size);
}

/** A pipe with both ends. */
static void make(segment_t *segment, uint64_t cells, uint64_t area, epshm_pipe_out_t *out,
                 epshm_pipe_in_t *in)
{
    epshm_pipe_create(out, segment->memory + PIPE_AT, cells, 7);
    if (0 < area) {
        epshm_pipe_add_area(out, segment->memory + AREA_AT, AREA_AT, area);
    }
    TAP_CHECK(epshm_pipe_open(in, segment->memory, segment->size, used_of(segment), PIPE_AT),
              "the pipe was not found");
}

static unsigned char pattern(uint64_t number, size_t i)
{
    return (unsigned char) (number * 37 + i * 11 + (i >> 8));
}

static void fill(unsigned char *data, size_t size, uint64_t number)
{
    for (size_t i = 0; i < size; ++i) {
        data[i] = pattern(number, i);
    }
}

/** Every other message that can be is sent with its first bytes as a header's rest. */
static bool splits;

/** Send one message with the first EPSHM_PIPE_REST bytes of data in front, as
 * btl_epshm_node_send.c does with usual headers.  @return as epshm_pipe_room */
static int send_split(epshm_pipe_out_t *out, const unsigned char *data, size_t size)
{
    const size_t behind = size - EPSHM_PIPE_REST;
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_BARE,
                                            .tag = 3,
                                            .size = (uint32_t) behind};
    uint64_t position;
    int rc = epshm_pipe_room(out, 1);

    if (EPSHM_PIPE_MESSAGE == rc && EPSHM_PIPE_BARE_MAX >= behind) {
        unsigned char *cell = epshm_pipe_out_cell(out, 0)->data;

        memcpy(cell, &envelope, sizeof(envelope));
        epshm_pipe_write_rest(cell + sizeof(envelope), data);
        memcpy(cell + sizeof(envelope) + EPSHM_PIPE_REST, data + EPSHM_PIPE_REST, behind);
        epshm_pipe_publish(out, 1);
        return rc;
    }
    if (EPSHM_PIPE_MESSAGE == rc) {
        rc = epshm_pipe_reserve(out, behind, &position);
    }
    if (EPSHM_PIPE_MESSAGE == rc) {
        memcpy(epshm_pipe_area_at(out, position), data + EPSHM_PIPE_REST, behind);
        epshm_pipe_send_apart(out, position, data, (uint32_t) behind, 3);
    }
    return rc;
}

/** Send one message, as btl_epshm_node_send.c does.  @return as epshm_pipe_room */
static int send(epshm_pipe_out_t *out, const unsigned char *data, size_t size)
{
    const epshm_pipe_envelope_t envelope = {.kind = EPSHM_PIPE_INLINE,
                                            .tag = 3,
                                            .size = (uint32_t) size};
    uint64_t position;
    int rc;

    if (splits && EPSHM_PIPE_REST <= size && 0 != out->tail % 2) {
        return send_split(out, data, size);
    }
    if (size <= EPSHM_PIPE_INLINE_MAX) {
        rc = epshm_pipe_room(out, epshm_pipe_cells_for(size));
        if (EPSHM_PIPE_MESSAGE == rc) {
            epshm_pipe_write(out, 0, &envelope, sizeof(envelope));
            epshm_pipe_write(out, sizeof(envelope), data, size);
            epshm_pipe_publish(out, epshm_pipe_cells_for(size));
        }
        return rc;
    }
    rc = epshm_pipe_room(out, 1);
    if (EPSHM_PIPE_MESSAGE == rc) {
        rc = epshm_pipe_reserve(out, size, &position);
    }
    if (EPSHM_PIPE_MESSAGE == rc) {
        memcpy(epshm_pipe_area_at(out, position), data, size);
        epshm_pipe_send_bulk(out, position, (uint32_t) size, 3);
    }
    return rc;
}

static void check(const epshm_pipe_message_t *message, size_t size, uint64_t number)
{
    const size_t front = NULL != message->rest ? EPSHM_PIPE_REST : 0;
    const unsigned char *data = message->data, *rest = message->rest;

    TAP_EQ(size, front + message->size);
    TAP_EQ(3, message->tag);
    for (size_t i = 0; size == front + message->size && i < size; ++i) {
        const unsigned char got = i < front ? rest[i] : data[i - front];

        if (pattern(number, i) != got) {
            TAP_CHECK(false, "message %llu, byte %zu of %zu: expected %u, got %u",
                      (unsigned long long) number, i, size, pattern(number, i), got);
            return;
        }
    }
}

/** The next message must be there, and this one; it is done with. */
static void take(epshm_pipe_in_t *in, size_t size, uint64_t number)
{
    unsigned char room[ROOM];
    epshm_pipe_message_t message;

    TAP_EQ(EPSHM_PIPE_MESSAGE, epshm_pipe_peek(in, room, &message));
    check(&message, size, number);
    epshm_pipe_done(in, &message);
}

/* ---- one thread ------------------------------------------------------------------------------ */

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

    tap_case("a message that has been sent and is not there any more is missed, on either side");
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
                             offsetof(epshm_pipe_t, area_size) / sizeof(*words), cell + 1,
                             cell + 1, cell + 2};

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
typedef struct told_t {
    uint64_t magic, cells, used, area, area_size, kind, size, position;
    uint64_t inline_size; /**< not 0: of a message in the cells, instead */
    uint64_t used_later;  /**< once the pipe has been opened */
} told_t;

static const told_t right = {.magic = EPSHM_PIPE_MAGIC,
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
    {"magic", false, offsetof(told_t, magic), 1},
    {"no cells", false, offsetof(told_t, cells), 0},
    {"too few cells", false, offsetof(told_t, cells), 8},
    {"cells no power of two", false, offsetof(told_t, cells), 17},
    {"more cells than memory", false, offsetof(told_t, cells), 4096},
    {"far too many cells", false, offsetof(told_t, cells), UINT64_C(1) << 58},
    {"used beyond the mapping", false, offsetof(told_t, used), SEGMENT + 1},
    {"pipe beyond what is used", false, offsetof(told_t, used), 128},
    {"kind", true, offsetof(told_t, kind), 9},
    {"bare, too long", true, offsetof(told_t, kind), EPSHM_PIPE_BARE},
    {"inline, too long", true, offsetof(told_t, inline_size), 441},
    {"inline, far too long", true, offsetof(told_t, inline_size), UINT32_MAX},
    {"no area", true, offsetof(told_t, area), 0},
    {"area not aligned", true, offsetof(told_t, area), AREA_AT + 8},
    {"area beyond the mapping", true, offsetof(told_t, area), SEGMENT},
    {"area far beyond", true, offsetof(told_t, area), UINT64_MAX - 63},
    {"area too large", true, offsetof(told_t, area_size), SEGMENT},
    {"area of no size", true, offsetof(told_t, area_size), 0},
    {"area of an odd size", true, offsetof(told_t, area_size), 4095},
    {"longer than the area", true, offsetof(told_t, size), 4097},
    {"over the area's end", true, offsetof(told_t, position), 4096 - 64},
    {"position not aligned", true, offsetof(told_t, position), 8},
    {"position too far ahead", true, offsetof(told_t, position), 8192},
    {"position far ahead", true, offsetof(told_t, position), UINT64_MAX - 63},
    {"used beyond the mapping, later", true, offsetof(told_t, used_later), SEGMENT + 1},
    {"area beyond what is used, later", true, offsetof(told_t, used_later), AREA_AT + 4095},
};

/** Make a pipe with one message as told. */
static void tell(segment_t *segment, const told_t *told)
{
    const epshm_pipe_envelope_t envelope
        = {.kind = 0 != told->inline_size ? EPSHM_PIPE_INLINE : (uint8_t) told->kind,
           .tag = 3,
           .size = (uint32_t) (0 != told->inline_size ? told->inline_size : told->size)};
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;

    atomic_store(used_of(segment), SEGMENT);
    make(segment, 16, 0, &out, &in);
    memcpy(out.cells[0].data, &envelope, sizeof(envelope));
    memcpy(out.cells[0].data + sizeof(envelope), &told->position, sizeof(told->position));
    epshm_pipe_publish(&out, 1);
    out.pipe->magic = told->magic;
    out.pipe->cells = told->cells;
    atomic_store(&out.pipe->area, told->area);
    atomic_store(&out.pipe->area_size, told->area_size);
    atomic_store(used_of(segment), told->used);
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
        told_t told = right;
        bool opens;

        memcpy((char *) &told + wrongs[i].field, &wrongs[i].value, sizeof(wrongs[i].value));
        tell(&segment, &told);
        opens = epshm_pipe_open(&in, segment.memory, SEGMENT, used_of(&segment), PIPE_AT);
        TAP_CHECK(wrongs[i].opens == opens, "%s: %s", wrongs[i].what,
                  opens ? "opened" : "not opened");
        if (opens) {
            int rc;

            atomic_store(used_of(&segment), told.used_later);
            rc = epshm_pipe_peek(&in, room, &message);
            TAP_CHECK(EPSHM_PIPE_BROKEN == rc, "%s: got %d", wrongs[i].what, rc);
        }
    }
    segment_free(&segment);
    tap_case_done();
}

static void case_offsets(void)
{
    static const uint64_t offsets[] = {PIPE_AT + 8, SEGMENT - 64, SEGMENT, SEGMENT + 64,
                                       UINT64_MAX - 63, 0};
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
    } words[] = {{0, true}, {3 * 16 + 1, true}, {2 * 16 + 1, true}, {1, true},
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

/* ---- two at once ----------------------------------------------------------------------------- */

typedef struct traffic_t {
    segment_t segment;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;
    uint64_t seed;
    uint64_t count;
    size_t most; /**< bytes of a message */
} traffic_t;

/** Sizes, the same for both sides: many small ones, some in between, few large ones. */
static size_t next_size(uint64_t *random, size_t most)
{
    const uint64_t kind = tap_below(random, 16);

    return (size_t) tap_below(random, kind < 10 ? 49 : kind < 14 ? 442 : most + 1);
}

static void *produce(void *argument)
{
    traffic_t *traffic = argument;
    uint64_t random = traffic->seed;
    unsigned char *data = malloc(traffic->most);
    int rc = EPSHM_PIPE_MESSAGE;

    for (uint64_t number = 0; EPSHM_PIPE_BROKEN != rc && number < traffic->count; ++number) {
        const size_t size = next_size(&random, traffic->most);

        fill(data, size, number);
        while (EPSHM_PIPE_NOTHING == (rc = send(&traffic->out, data, size))) {
            sched_yield();
        }
    }
    TAP_EQ(EPSHM_PIPE_MESSAGE, rc);
    epshm_pipe_close(&traffic->out);
    free(data);
    return NULL;
}

static void consume(traffic_t *traffic)
{
    uint64_t random = traffic->seed, number = 0;
    unsigned char room[ROOM];

    while (!epshm_pipe_is_over(&traffic->in)) {
        epshm_pipe_message_t message;
        int rc = epshm_pipe_peek(&traffic->in, room, &message);

        if (EPSHM_PIPE_NOTHING == rc) {
            sched_yield();
            continue;
        }
        if (EPSHM_PIPE_MESSAGE != rc) {
            TAP_CHECK(false, "broken at message %llu", (unsigned long long) number);
            return;
        }
        check(&message, next_size(&random, traffic->most), number++);
        epshm_pipe_done(&traffic->in, &message);
    }
    TAP_EQ(traffic->count, number);
    epshm_pipe_detach(traffic->in.pipe);
}

/** Geometries: fewest cells and the smallest area that the largest message allows, and more. */
static const struct {
    uint64_t cells, area;
    size_t most;
} geometries[] = {{16, 4096, 4096}, {16, 65536, 3000}, {256, 8192, 5000}, {256, 65536, 16384}};

static void traffic_start(traffic_t *traffic, size_t geometry, uint64_t seed)
{
    traffic->seed = tap_stream(seed);
    traffic->count = TAP_SANITIZED ? 20000 : 100000;
    traffic->most = geometries[geometry].most;
    make(&traffic->segment, geometries[geometry].cells, geometries[geometry].area, &traffic->out,
         &traffic->in);
}

static void case_threads(void)
{
    traffic_t traffic = {.segment = segment_new()};

    for (size_t i = 0; i < sizeof(geometries) / sizeof(geometries[0]); ++i) {
        pthread_t thread;

        tap_case("two threads, %llu cells, area of %llu",
                 (unsigned long long) geometries[i].cells,
                 (unsigned long long) geometries[i].area);
        traffic_start(&traffic, i, i); /* the same memory again: both are through with it */
        pthread_create(&thread, NULL, produce, &traffic);
        consume(&traffic);
        pthread_join(thread, NULL);
        TAP_CHECK(epshm_pipe_is_detached(traffic.out.pipe), "not left");
        tap_case_done();
    }
    segment_free(&traffic.segment);
}

static void case_processes(void)
{
    traffic_t traffic = {.segment = segment_new()};

    for (size_t i = 0; i < sizeof(geometries) / sizeof(geometries[0]); ++i) {
        int status = -1;
        pid_t child;

        tap_case("two processes, %llu cells, area of %llu",
                 (unsigned long long) geometries[i].cells,
                 (unsigned long long) geometries[i].area);
        traffic_start(&traffic, i, 100 + i);
        child = fork();
        if (0 == child) {
            produce(&traffic);
            _exit(tap_case_failed() ? 1 : 0);
        }
        consume(&traffic);
        TAP_EQ(child, waitpid(child, &status, 0));
        TAP_EQ(0, status);
        tap_case_done();
    }
    segment_free(&traffic.segment);
}

/** The child publishes three messages, writes half of a fourth, and is killed. */
static void case_killed(void)
{
    segment_t segment = segment_new();
    unsigned char data[600], room[ROOM];
    epshm_pipe_message_t message;
    epshm_pipe_out_t out;
    epshm_pipe_in_t in;
    int status = 0;
    pid_t child;

    tap_case("a process that is killed while it writes leaves whole messages only");
    make(&segment, 16, 4096, &out, &in);
    child = fork();
    if (0 == child) {
        uint64_t position = 0;

        for (uint64_t number = 0; number < 3; ++number) {
            fill(data, sizeof(data), number);
            (void) send(&out, data, sizeof(data));
        }
        (void) epshm_pipe_reserve(&out, sizeof(data), &position);
        memset(epshm_pipe_area_at(&out, position), 0xee, 100);
        memset(epshm_pipe_out_cell(&out, 0)->data, 0xee, 20);
        (void) kill(getpid(), SIGKILL);
    }
    TAP_EQ(child, waitpid(child, &status, 0));
    TAP_CHECK(WIFSIGNALED(status), "the child was not killed");
    for (uint64_t number = 0; number < 3; ++number) {
        take(&in, sizeof(data), number);
    }
    TAP_EQ(EPSHM_PIPE_NOTHING, epshm_pipe_peek(&in, room, &message));
    TAP_CHECK(!epshm_pipe_is_over(&in), "an end that nobody wrote");
    segment_free(&segment);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epshm_pipe", 120);
    case_sizes();
    case_full();
    case_forgotten();
    case_end();
    case_taken_back();
    case_nonsense();
    case_offsets();
    case_sound();
    case_backwards();
    case_split();
    splits = true; /* from here on */
#if !defined(__SANITIZE_THREAD__)
    case_scribbled();
#endif
    case_threads();
    case_processes();
    case_killed();
    return tap_end();
}
