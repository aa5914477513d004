/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The state of the machine of machine.h: machine.c has the threads and their turns, memory.c the
 * lines.
 */

#ifndef BENCH_LINES_STATE_H
#define BENCH_LINES_STATE_H

#include "machine.h"

#include <ucontext.h>

#define WATCH_MOST 32
#define FILLS_MOST 32
#define NO_LINE SIZE_MAX

enum { RUNS, SLEEPS, MEETS, ENDED };

/** A thread's copy of a line. */
typedef struct copy_t {
    bool has;
    long arrives; /**< when it is there */
    long free;    /**< when it can be handed out again */
} copy_t;

typedef struct thread_t {
    ucontext_t context;
    void *stack;
    int state;
    long clock;
    size_t watch[WATCH_MOST]; /**< lines that it has looked at since its last miss, or store */
    uint32_t watched, hits;
    long batch, misses;    /**< when misses one after the other began; how many */
    long fill[FILLS_MOST]; /**< when prefetches arrive */
    uint32_t fills;
    size_t pending; /**< the line for which data wait in the store buffer */
    long transfers; /**< since the last meeting */
} thread_t;

typedef struct machine_t {
    lines_costs_t costs;
    uint32_t threads, current, groups;
    long until; /**< up to then the current thread is first */
    const char *memory;
    size_t lines;
    copy_t *copy;  /**< by line and thread */
    long *written; /**< by line: when it was written last */
    thread_t thread[LINES_THREADS_MOST];
    ucontext_t outside;
    void (*body)(uint32_t thread);
    lines_counts_t *counts; /**< of the last meetings, in turns */
    long last, meetings, met, near, far;
} machine_t;

extern machine_t machine;

static inline thread_t *this_thread(void)
{
    return &machine.thread[machine.current];
}

/** Go on with the thread that is first by its clock; perhaps the one that we are. */
void lines_hand_over(void);

/** What it does next is no more of what it has looked at in vain, nor of misses in a row. */
static inline void look_at_nothing(thread_t *me)
{
    me->watched = me->hits = 0;
    me->misses = 0;
}

/** Says where the threads are, and ends. */
_Noreturn void lines_fail(const char *why);

#endif /* BENCH_LINES_STATE_H */
