/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A machine of threads, each on a core of its own, and of the lines that they share; time is
 * counted, not measured.  Threads are coroutines.  The thread with the earliest clock runs next, so
 * all runs are equal.
 *
 * A thread has a copy of a line, or none.  A read without a copy transfers the line from the
 * thread with the earliest copy: near in the same group of cores (an L3 cache), far elsewhere.  A
 * store invalidates the copies of all others.  A thread that reads the same value again and again
 * sleeps until another takes the line; so the code of a protocol after many vain reads never runs.
 *
 * What is assumed: near and far are what a waiting reader sees from the store to the value, so they
 * hold the end of its old copy as well (costs.invalidate adds to it).  A thread goes on when what
 * it reads is there, but for prefetches, which do not hold it up (costs.fills of them), and for
 * what costs.overlap allows.  The holder of a line serves one copy each costs.serve.
 */

#ifndef BENCH_LINES_MACHINE_H
#define BENCH_LINES_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_BYTES 64
#define LINES_THREADS_MOST 256

/** Times in ns. */
typedef struct lines_costs_t {
    long hit;   /**< an access to a copy of one's own, a prefetch, a store */
    long near;  /**< a transfer within a group */
    long far;   /**< between groups */
    long serve; /**< from one copy that a thread hands out to the next, of one line */
    long
        invalidate; /**< what a store to a line with other copies waits, in percent of a transfer */
    long overlap; /**< misses one after the other that a core has under way at a time, if what they
                      * find had been written before the first of them began: branches foretold */
    long fills;   /**< prefetches under way at a time */
    long group;   /**< threads of an L3 */
    long spread;  /**< not 0: adjacent ranks are in different groups */
} lines_costs_t;

/** What has been counted from one meeting to the next. */
typedef struct lines_counts_t {
    long path;       /**< until the last thread came */
    long near, far;  /**< transfers */
    long most;       /**< the most that one thread had */
    long operations; /**< so often has it been added to */
} lines_counts_t;

/** @return the number of groups of that many threads */
uint32_t lines_groups(const lines_costs_t *costs, uint32_t threads);

/**
 * All threads run a body, to its end.
 *
 * @param memory  what they share, all zero, in whole lines; all else is each thread's own, and
 *                costs nothing
 * @param counts  of the last meetings
 * @param last    how many of these
 */
void lines_run(const lines_costs_t *costs, uint32_t threads, void *memory, size_t size,
               void (*body)(uint32_t thread), lines_counts_t *counts, long last);

/** Wait for all others; at no cost, and all have the same time afterwards. */
void lines_meet(void);

/** A thread's accesses, before they are done. */
void lines_read(const volatile void *place);
void lines_write(const volatile void *place);
void lines_swap(const volatile void *place); /**< an atomic read-modify-write */
void lines_prefetch(const volatile void *place);

/** memcpy.  What it writes waits in the store buffer for the store to the same line that
 * follows. */
void lines_copy(void *to, const void *from, size_t size);

#endif /* BENCH_LINES_MACHINE_H */
