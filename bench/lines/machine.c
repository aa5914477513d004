/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that take turns by their clocks: machine.h.
 */

#include "state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES ((size_t) 64 * 1024)

machine_t machine;

void lines_fail(const char *why)
{
    fprintf(stderr, "lines: %s\n", why);
    for (uint32_t i = 0; i < machine.threads && i < 16; ++i) {
        const thread_t *thread = &machine.thread[i];

        fprintf(stderr, "  thread %u: %s at %ld, last line %ld\n", i,
                (const char *[]){"runs", "sleeps", "meets", "has ended"}[thread->state],
                thread->clock, 0 < thread->watched ? (long) thread->watch[0] : -1);
    }
    exit(2);
}

/* ---- whose turn it is ------------------------------------------------------------------------ */

void lines_hand_over(void)
{
    const uint32_t from = machine.current;
    uint32_t next = machine.threads, ended = 0;
    long second = LONG_MAX;

    if (RUNS == this_thread()->state && this_thread()->clock < machine.until) {
        return;
    }
    for (uint32_t i = 0; i < machine.threads; ++i) {
        const thread_t *thread = &machine.thread[i];

        if (RUNS == thread->state) {
            if (machine.threads == next || thread->clock < machine.thread[next].clock) {
                second = machine.threads == next ? LONG_MAX : machine.thread[next].clock;
                next = i;
            } else if (thread->clock < second) {
                second = thread->clock;
            }
        }
        ended += ENDED == thread->state;
    }
    machine.until = second;
    if (from == next) {
        return;
    }
    if (machine.threads == next) {
        if (machine.threads != ended) {
            lines_fail("nobody can go on");
        }
        (void) swapcontext(&machine.thread[from].context, &machine.outside);
        return;
    }
    machine.current = next;
    (void) swapcontext(&machine.thread[from].context, &machine.thread[next].context);
}

static void start(void)
{
    machine.body(machine.current);
    this_thread()->state = ENDED;
    lines_hand_over();
}

static void count_meeting(long now)
{
    lines_counts_t *counts = &machine.counts[machine.meetings++ % machine.last];
    long most = 0;

    for (uint32_t i = 0; i < machine.threads; ++i) {
        most = most < machine.thread[i].transfers ? machine.thread[i].transfers : most;
        machine.thread[i].transfers = 0;
    }
    *counts = (lines_counts_t){now - machine.met, machine.near, machine.far, most, 1};
    machine.met = now;
    machine.near = machine.far = 0;
}

void lines_meet(void)
{
    uint32_t here = 0;
    long now = 0;

    this_thread()->state = MEETS;
    look_at_nothing(this_thread());
    for (uint32_t i = 0; i < machine.threads; ++i) {
        here += MEETS == machine.thread[i].state;
        now = now < machine.thread[i].clock ? machine.thread[i].clock : now;
    }
    if (here == machine.threads) {
        count_meeting(now);
        machine.until = now;
        for (uint32_t i = 0; i < machine.threads; ++i) {
            machine.thread[i].state = RUNS;
            machine.thread[i].clock = now;
        }
    }
    lines_hand_over();
}

/* ---- a run ----------------------------------------------------------------------------------- */

uint32_t lines_groups(const lines_costs_t *costs, uint32_t threads)
{
    return (threads + (uint32_t) costs->group - 1) / (uint32_t) costs->group;
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (NULL == memory) {
        lines_fail("no memory");
    }
    return memory;
}

void lines_run(const lines_costs_t *costs, uint32_t threads, void *memory, size_t size,
               void (*body)(uint32_t thread), lines_counts_t *counts, long last)
{
    memset(&machine, 0, sizeof(machine));
    machine.costs = *costs;
    machine.threads = threads;
    machine.groups = lines_groups(costs, threads);
    machine.memory = memory;
    machine.lines = size / LINES_BYTES;
    machine.body = body;
    machine.counts = counts;
    machine.last = last;
    machine.copy = room(machine.lines * threads, sizeof(*machine.copy));
    machine.written = room(machine.lines, sizeof(*machine.written));
    for (uint32_t i = 0; i < threads; ++i) {
        thread_t *thread = &machine.thread[i];

        thread->pending = NO_LINE;
        thread->stack = room(1, STACK_BYTES);
        (void) getcontext(&thread->context);
        thread->context.uc_stack.ss_sp = thread->stack;
        thread->context.uc_stack.ss_size = STACK_BYTES;
        makecontext(&thread->context, start, 0);
    }
    (void) swapcontext(&machine.outside, &machine.thread[0].context);
    for (uint32_t i = 0; i < threads; ++i) {
        free(machine.thread[i].stack);
    }
    free(machine.written);
    free(machine.copy);
}
