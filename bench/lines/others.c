/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the segment is compared with, at its best: each word in a line that one member writes, data
 * beside it, numbers that only grow, and a bcast that does not wait for slow members.
 */

#include "machine.h"
#include "ways.h"

/** Operations before a line is written again. */
#define TURNS 8
/** log2(LINES_THREADS_MOST). */
#define ROUNDS 8

typedef struct line_t {
    _Alignas(LINES_BYTES) uint64_t number;
    uint64_t data;
} line_t;

static void say(line_t *line, uint64_t number, uint64_t data)
{
    lines_write(line);
    line->data = data;
    line->number = number;
}

static uint64_t hear(const line_t *line, uint64_t number)
{
    do {
        lines_read(line);
    } while (line->number < number);
    return line->data;
}

/* ---- dissemination: each round twice as many are known --------------------------------------- */

static size_t dissemination_size(uint32_t threads)
{
    return threads * sizeof(line_t[TURNS][ROUNDS]);
}

/** In allreduce, recursive doubling: for powers of two the same transfers between others. */
static uint64_t dissemination(lines_kind_t kind, void *memory, uint32_t threads, uint32_t thread,
                              uint64_t number)
{
    line_t(*const line)[TURNS][ROUNDS] = memory;
    uint64_t sum = LINES_ALLREDUCE == kind ? lines_value(thread, number) : 0;
    int round = 0;

    for (uint32_t step = 1; step < threads; step *= 2, ++round) {
        const uint32_t partner = LINES_ALLREDUCE == kind ? thread ^ step
                                                         : (thread + threads - step) % threads;

        say(&line[thread][number % TURNS][round], number, sum);
        sum += hear(&line[partner][number % TURNS][round], number);
    }
    return LINES_ALLREDUCE == kind ? sum : number;
}

const lines_way_t lines_dissemination = {.name = "dissemination",
                                         .can = {true, true, false},
                                         .size = dissemination_size,
                                         .run = dissemination};

/* ---- a binomial tree of flags ---------------------------------------------------------------- */

static size_t tree_size(uint32_t threads)
{
    return threads * sizeof(line_t[TURNS][2]);
}

/** Each has a line up to its parent and one down to all of its children.  Root 0, but for bcast. */
static uint64_t tree(lines_kind_t kind, void *memory, uint32_t threads, uint32_t thread,
                     uint64_t number)
{
    line_t(*const line)[TURNS][2] = memory;
    const uint32_t root = LINES_BCAST == kind ? lines_root(threads, number) : 0;
    const uint32_t place = (thread + threads - root) % threads, turn = number % TURNS;
    const uint32_t parent = ((place & (place - 1)) + root) % threads;
    uint64_t sum = LINES_BARRIER == kind ? 0 : lines_value(thread, number);

    for (uint32_t step = 1; LINES_BCAST != kind && 0 == (place & step) && step < threads;
         step *= 2) {
        if (place + step < threads) {
            sum += hear(&line[place + step][turn][0], number);
        }
    }
    if (0 != place) {
        if (LINES_BCAST != kind) {
            say(&line[thread][turn][0], number, sum);
        }
        sum = hear(&line[parent][turn][1], number);
    }
    if (0 == place % 2 && place + 1 < threads) {
        say(&line[thread][turn][1], number, sum);
    }
    return LINES_BARRIER == kind ? number : sum;
}

const lines_way_t lines_tree = {
    .name = "binomial tree", .can = {true, true, true}, .size = tree_size, .run = tree};

/* ---- one line that all write, one that all read ---------------------------------------------- */

typedef struct counter_t {
    line_t come[TURNS], release[TURNS];
} counter_t;

static size_t counter_size(uint32_t threads)
{
    (void) threads;
    return sizeof(counter_t);
}

/** bcast: the root's word, which all read.  Members are counted, and their values summed, by one
 * read-modify-write: never more than it takes. */
static uint64_t counter(lines_kind_t kind, void *memory, uint32_t threads, uint32_t thread,
                        uint64_t number)
{
    counter_t *const shared = memory;
    line_t *const come = &shared->come[number % TURNS], *const release
                                                        = &shared->release[number % TURNS];
    uint64_t sum = lines_value(thread, number);

    if (LINES_BCAST == kind) {
        if (lines_root(threads, number) == thread) {
            say(release, number, sum);
            return sum;
        }
        return hear(release, number);
    }
    lines_swap(come);
    sum = come->data += sum;
    if (0 == ++come->number % threads) {
        come->data = 0;
        say(release, number, sum);
    } else {
        sum = hear(release, number);
    }
    return LINES_BARRIER == kind ? number : sum;
}

const lines_way_t lines_counter = {
    .name = "central counter", .can = {true, true, true}, .size = counter_size, .run = counter};
