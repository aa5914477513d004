/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The lines that threads share, which core has a copy of them, and what accesses take: machine.h.
 */

#include "state.h"

#include <string.h>

static copy_t *copy_of(size_t line, uint32_t thread)
{
    return &machine.copy[line * machine.threads + thread];
}

static size_t line_of(const volatile void *place)
{
    const size_t offset = (size_t) ((const volatile char *) place - machine.memory);

    return (const volatile char *) place < machine.memory || machine.lines <= offset / LINES_BYTES
               ? NO_LINE
               : offset / LINES_BYTES;
}

static uint32_t group_of(uint32_t thread)
{
    return 0 != machine.costs.spread ? thread % machine.groups
                                     : thread / (uint32_t) machine.costs.group;
}

/** Copy a line for this thread, from the thread that delivers it first.  @return time of arrival */
static long transfer(size_t line, long at)
{
    copy_t *const mine = copy_of(line, machine.current), *from = NULL;
    long arrives = at, begins = at;
    bool is_near = false;

    for (uint32_t i = 0; i < machine.threads; ++i) {
        copy_t *const other = copy_of(line, i);
        const bool near = group_of(i) == group_of(machine.current);
        long then = at < other->arrives ? other->arrives : at;

        then = then < other->free ? other->free : then;
        if (other->has
            && (NULL == from || then + (near ? machine.costs.near : machine.costs.far) < arrives)) {
            from = other;
            begins = then;
            arrives = then + (near ? machine.costs.near : machine.costs.far);
            is_near = near;
        }
    }
    if (NULL != from) { /* else the first touch of all, which is none of a protocol's */
        from->free = begins + machine.costs.serve;
        ++this_thread()->transfers;
        ++*(is_near ? &machine.near : &machine.far);
    }
    *mine = (copy_t){.has = true, .arrives = arrives};
    return arrives;
}

/** Has this thread looked often enough at what does not change?  Twice at each word. */
static bool is_in_vain(thread_t *me, size_t line)
{
    uint32_t i = 0;

    while (i < me->watched && line != me->watch[i]) {
        ++i;
    }
    if (WATCH_MOST == i) {
        look_at_nothing(me);
        return false;
    }
    if (me->watched == i) {
        me->watch[me->watched++] = line;
    }
    return LINES_BYTES / 8 * (me->watched + 1) < ++me->hits;
}

/** A read of a line that is not here. */
static void miss(thread_t *me, size_t line)
{
    const long slot = me->batch + me->misses * machine.costs.hit;
    long arrives;

    if (0 < me->misses && me->misses < machine.costs.overlap
        && machine.written[line] <= me->batch) {
        arrives = transfer(line, slot);
        me->clock = me->clock < arrives ? arrives : me->clock;
        ++me->misses;
    } else {
        me->batch = me->clock;
        me->misses = 1;
        me->clock = transfer(line, me->clock);
    }
    me->watched = me->hits = 0;
}

void lines_read(const volatile void *place)
{
    const size_t line = line_of(place);
    thread_t *const me = this_thread();

    if (NO_LINE == line) {
        return;
    }
    lines_hand_over();
    while (copy_of(line, machine.current)->has && is_in_vain(me, line)) {
        me->state = SLEEPS;
        lines_hand_over();
    }
    if (!copy_of(line, machine.current)->has) {
        miss(me, line);
        return;
    }
    if (me->clock < copy_of(line, machine.current)->arrives) {
        me->clock = copy_of(line, machine.current)->arrives;
        me->watched = me->hits = 0;
    }
    me->clock += machine.costs.hit;
}

void lines_prefetch(const volatile void *place)
{
    const size_t line = line_of(place);
    thread_t *const me = this_thread();
    uint32_t left = 0, first = 0;

    if (NO_LINE == line) {
        return;
    }
    lines_hand_over();
    me->clock += machine.costs.hit;
    if (copy_of(line, machine.current)->has) {
        return;
    }
    for (uint32_t i = 0; i < me->fills; ++i) {
        if (me->clock < me->fill[i]) {
            me->fill[left++] = me->fill[i];
        }
    }
    if ((uint32_t) machine.costs.fills <= left) { /* it waits for the first that is there */
        for (uint32_t i = 1; i < left; ++i) {
            first = me->fill[i] < me->fill[first] ? i : first;
        }
        me->clock = me->fill[first];
        me->fill[first] = me->fill[--left];
    }
    me->fill[left] = transfer(line, me->clock);
    me->fills = left + 1;
    me->watched = me->hits = 0;
}

/** The line is exclusive to the caller; threads that sleep on it wake. */
static void take_alone(thread_t *me, size_t line)
{
    for (uint32_t i = 0; i < machine.threads; ++i) {
        thread_t *const other = &machine.thread[i];
        copy_t *const copy = copy_of(line, i);

        if (other == me || !copy->has) {
            continue;
        }
        copy->has = false;
        for (uint32_t w = 0; SLEEPS == other->state && w < other->watched; ++w) {
            if (line == other->watch[w]) {
                other->state = RUNS;
                other->clock = me->clock;
                machine.until = machine.until < me->clock ? machine.until : me->clock;
                look_at_nothing(other);
            }
        }
    }
    machine.written[line] = me->clock;
}

void lines_write(const volatile void *place)
{
    const size_t line = line_of(place);
    thread_t *const me = this_thread();
    long wait = 0;

    if (NO_LINE == line) {
        return;
    }
    if (NO_LINE != me->pending && line != me->pending) {
        lines_fail("data were written without a store to their line behind them");
    }
    me->pending = NO_LINE;
    lines_hand_over();
    look_at_nothing(me);
    if (!copy_of(line, machine.current)->has) {
        me->clock = transfer(line, me->clock);
    } else {
        for (uint32_t i = 0; i < machine.threads; ++i) {
            const long cost = group_of(i) == group_of(machine.current) ? machine.costs.near
                                                                       : machine.costs.far;

            if (i != machine.current && copy_of(line, i)->has && wait < cost) {
                wait = cost;
            }
        }
        me->clock += wait * machine.costs.invalidate / 100;
    }
    /* What is written is seen from now on. */
    lines_hand_over();
    take_alone(me, line);
    me->clock += machine.costs.hit;
}

void lines_swap(const volatile void *place)
{
    const size_t line = line_of(place);
    thread_t *const me = this_thread();

    if (NO_LINE == line) {
        return;
    }
    /* Its place among others' is that of its request: the line goes from one to the next. */
    lines_hand_over();
    look_at_nothing(me);
    if (!copy_of(line, machine.current)->has) {
        me->clock = transfer(line, me->clock);
    }
    take_alone(me, line);
    me->clock += machine.costs.hit;
    copy_of(line, machine.current)->arrives = me->clock;
}

void lines_copy(void *to, const void *from, size_t size)
{
    if (0 < size) {
        lines_read(from);
        if (NO_LINE != line_of(to)) {
            this_thread()->pending = line_of(to);
            this_thread()->clock += machine.costs.hit;
        }
        memcpy(to, from, size);
    }
}
