/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How many lines does a small operation of all move, and what is its critical path?  Tables for 2
 * to 256 threads: the protocols of coll/epcoll's segment, others beside them, and the least that
 * there can be.  README.md of bench says how to read them.
 */

#include "machine.h"
#include "ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Operations that are looked at: as many as the segment has slots. */
#define LAST 4

static const lines_way_t *const ways[] = {&lines_segment, &lines_dissemination, &lines_tree,
                                          &lines_counter};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const char *const kinds[] = {"barrier", "allreduce 8 B", "bcast 8 B, moving root"};

static lines_costs_t costs = {
    .hit = 1, .near = 30, .far = 120, .serve = 5, .overlap = 1, .fills = 10, .group = 8};
static long row = 1; /**< operations in a row, from one meeting to the next */
static long most = LINES_THREADS_MOST;

static const struct {
    const char *name;
    long *value, least, greatest;
    const char *text;
} options[] = {
    {"--near", &costs.near, 1, 100000, "ns of a transfer within a group of cores"},
    {"--far", &costs.far, 1, 100000, "ns of a transfer between groups"},
    {"--hit", &costs.hit, 1, 1000, "ns of an access to a line that is here"},
    {"--serve", &costs.serve, 0, 100000,
     "ns from one copy of a line that a core hands out to the next"},
    {"--invalidate", &costs.invalidate, 0, 1000,
     "percent of a transfer that a store waits until others' copies are gone"},
    {"--overlap", &costs.overlap, 1, 32, "misses under way at a time, branches foretold; 1: none"},
    {"--fills", &costs.fills, 1, 32, "prefetches under way at a time"},
    {"--group", &costs.group, 1, LINES_THREADS_MOST, "threads of a group of cores (L3)"},
    {"--spread", &costs.spread, 0, 1, "1: adjacent ranks in different groups"},
    {"--row", &row, 1, 1000, "operations in a row; 1: all enter each at the same time"},
    {"--threads", &most, 2, LINES_THREADS_MOST, "the most threads"},
};
#define OPTIONS (sizeof(options) / sizeof(options[0]))

/* ---- one way, one kind, one number of threads ------------------------------------------------ */

static struct {
    const lines_way_t *way;
    lines_kind_t kind;
    void *memory;
    uint32_t threads;
    uint64_t operations;
} run;

static uint64_t expected(uint64_t number)
{
    uint64_t sum = 0;

    if (LINES_BARRIER == run.kind) {
        return number;
    }
    if (LINES_BCAST == run.kind) {
        return lines_value(lines_root(run.threads, number), number);
    }
    for (uint32_t i = 0; i < run.threads; ++i) {
        sum += lines_value(i, number);
    }
    return sum;
}

static void operations(uint32_t thread)
{
    lines_meet();
    for (uint64_t number = 1; number <= run.operations; ++number) {
        const uint64_t got = run.way->run(run.kind, run.memory, run.threads, thread, number);

        if (expected(number) != got) {
            fprintf(stderr, "lines: %s, %s, %u threads: operation %llu gives %llu at %u\n",
                    run.way->name, kinds[run.kind], run.threads, (unsigned long long) number,
                    (unsigned long long) got, thread);
            exit(2);
        }
        if (0 == number % (uint64_t) row) {
            lines_meet();
        }
    }
}

/** @return the sum of the last operations */
static lines_counts_t count(const lines_way_t *way, lines_kind_t kind, uint32_t threads)
{
    const size_t size = (way->size(threads) + LINES_BYTES - 1) / LINES_BYTES * LINES_BYTES;
    lines_counts_t last[LAST], sum = {0};

    run.way = way;
    run.kind = kind;
    run.threads = threads;
    /* Each thread has been bcast's root before, and all slots have been used. */
    run.operations = (uint64_t) row * (2 * LAST + (LINES_BCAST == kind ? 2 * threads : 8));
    run.memory = aligned_alloc(LINES_BYTES, size);
    if (NULL == run.memory) {
        exit(2);
    }
    memset(run.memory, 0, size);
    lines_run(&costs, threads, run.memory, size, operations, last, LAST);
    free(run.memory);
    for (int i = 0; i < LAST; ++i) {
        sum.path += last[i].path;
        sum.near += last[i].near;
        sum.far += last[i].far;
        sum.most = sum.most < last[i].most ? last[i].most : sum.most;
        sum.operations += row;
    }
    return sum;
}

/**
 * The least time, from the last member's coming to the end at all.
 *
 * A signal is a line's transfer.  Within a group of cores one suffices: each member reads all.
 * Between groups, let a group learn of another by one transfer, for no scheme can do with fewer
 * unless it goes by way of a third group, which is another far one behind the first.  The line
 * that moves from group B to group A must have the signals of all of B: a near signal before, from
 * those of B that do not write the line.  The others in A must learn of it: a near one after.  So
 * near + far + near; where groups have one member, far.  (If each member reads the lines of all the
 * other groups, the last signal is not needed.  That moves as many times more lines between groups
 * as a group has members.)
 *
 * bcast: one in each other group has it after a far transfer, the rest of the group after a near
 * one.
 */
static double bound(lines_kind_t kind, uint32_t threads)
{
    const double all = 1 + (double) costs.invalidate / 100;
    const double near = all * (double) costs.near, far = all * (double) costs.far;
    const bool alone = (uint32_t) costs.group == 1 || lines_groups(&costs, threads) == threads;

    if (threads <= (uint32_t) costs.group) {
        return near;
    }
    return alone ? far : LINES_BCAST == kind ? far + near : near + far + near;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void print_assumptions(void)
{
    printf(
        "Groups of %ld threads share an L3 (%s).  A line comes in %ld ns within a group, in %ld\n"
        "between groups; a core hands a line out every %ld ns; a hit takes %ld.  A store to a\n"
        "line that others have waits %ld %% of a transfer more.  A core waits for each line that\n"
        "it reads, but for up to %ld that it has asked for before (prefetch)",
        costs.group,
        0 != costs.spread ? "adjacent ranks in different ones" : "adjacent ranks together",
        costs.near, costs.far, costs.serve, costs.hit, costs.invalidate, costs.fills);
    if (1 < costs.overlap) {
        printf(";\nreads in a row overlap, %ld at a time, where they find what they wait for",
               costs.overlap);
    }
    printf(".\nNobody loses its core.  %s\n", 1 < row
                                                  ? "Operations follow each other."
                                                  : "All enter each operation at the same time.");
    printf("bound: near + far + near, or what of it applies.  x: times as long.  lines: transfers "
           "per\nthread, mean.  most: of one thread in one operation.\n");
}

static void print_kind(lines_kind_t kind)
{
    printf("\n%-24s %6s |", kinds[kind], "bound");
    for (size_t w = 0; w < WAYS; ++w) {
        printf(" %-26s|", ways[w]->can[kind] ? ways[w]->name : "");
    }
    printf("\n%24s %6s |", "threads", "ns");
    for (size_t w = 0; w < WAYS; ++w) {
        printf(" %6s %6s %6s %4s |", "ns", "x", "lines", "most");
    }
    printf("\n");
    for (uint32_t threads = 2; threads <= (uint32_t) most; threads *= 2) {
        const double least = bound(kind, threads);

        printf("%24u %6.0f |", threads, least);
        for (size_t w = 0; w < WAYS; ++w) {
            if (!ways[w]->can[kind]) {
                printf("%27s|", "");
                continue;
            }
            const lines_counts_t got = count(ways[w], kind, threads);
            const double operations = (double) got.operations;

            printf(" %6.0f %6.2f %6.2f %4ld |", (double) got.path / operations,
                   (double) got.path / operations / least,
                   (double) (got.near + got.far) / operations / threads, got.most);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        size_t o = 0;

        while (o < OPTIONS && 0 != strcmp(argv[i], options[o].name)) {
            ++o;
        }
        if (OPTIONS == o || argc == i + 1
            || (*options[o].value = atol(argv[i + 1])) < options[o].least
            || options[o].greatest < *options[o].value) {
            for (o = 0; o < OPTIONS; ++o) {
                fprintf(stderr, "%-14s %s (%ld to %ld)\n", options[o].name, options[o].text,
                        options[o].least, options[o].greatest);
            }
            return 2;
        }
    }
    print_assumptions();
    for (lines_kind_t kind = 0; kind < LINES_KINDS; ++kind) {
        print_kind(kind);
    }
    return 0;
}
