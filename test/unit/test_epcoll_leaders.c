/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Processes that meet in a block (coll_epcoll_leaders_reduce.h): groups of threads, each with a
 * block of its own, of which another one leads in each operation.  Random operations, with delays,
 * of all to all and of all to one; the result is that of a binomial tree, whichever comes first. 
 * And processes that call different things.
 *
 * Guards: coll_epcoll_leaders_reduce.h
 */

#include "ompi/mca/coll/epcoll/segment/coll_epcoll_leaders_reduce.h"

#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { PROCESSES_MOST = 8, THREADS_MOST = 3, HIGHEST = 60 };

static struct {
    uint32_t processes, fanout;
    uint32_t threads[PROCESSES_MOST]; /* of each */
    void *node, *segment[PROCESSES_MOST];
    int rounds;
    uint32_t odd; /* a process that calls something else in the end; or none */
    bool notified[PROCESSES_MOST][THREADS_MOST];
} run;

/* Ends all if something has gone wrong. */
int mca_coll_epcoll_progress(epcoll_member_t *member)
{
    (void) member;
    sched_yield();
    return tap_case_failed() ? -99 : 0;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static uint64_t value(uint64_t signature, uint32_t process)
{
    return signature * 1000003u + process * 7919u + 1;
}

/* Where a node has more processes than a group: in any order. */
static uint64_t mixed(uint64_t before, uint64_t behind)
{
    return run.processes > run.fanout ? before + behind
                                      : before * 31 + behind * 17 + (before ^ behind);
}

static void mix(void *into, const void *from, void *context)
{
    uint64_t a, b;

    (void) context;
    memcpy(&a, from, sizeof(a));
    memcpy(&b, into, sizeof(b));
    b = mixed(a, b);
    memcpy(into, &b, sizeof(b));
}

/* Of a tree: the first so many of the processes from one on. */
static uint64_t tree(uint64_t signature, uint32_t top, uint32_t from, uint32_t span)
{
    uint64_t before;

    if (1 == span) {
        return value(signature, (top + from) % run.processes);
    }
    before = tree(signature, top, from, span / 2);
    return from + span / 2 < run.processes
               ? mixed(before, tree(signature, top, from + span / 2, span / 2))
               : before;
}

/* ---- a thread -------------------------------------------------------------------------------- */

typedef struct self_t {
    uint32_t process, thread;
    epcoll_member_t member, place; /* in the process, and the process's */
} self_t;

static void self_begin(self_t *self, uintptr_t number)
{
    self->process = (uint32_t) (number / THREADS_MOST);
    self->thread = (uint32_t) (number % THREADS_MOST);
    epcoll_member_init(&self->member, run.segment[self->process], run.threads[self->process],
                       self->thread, EPCOLL_FANOUT);
    epcoll_member_init(&self->place, run.node, run.processes, self->process, (uint8_t) run.fanout);
}

/* All of the process have come: known to the leader. */
static int come(self_t *self, uint32_t leader, uint64_t signature)
{
    epcoll_member_t *member = &self->member;
    int rc = epcoll_begin(member);

    if (0 == rc) {
        epcoll_publish(epcoll_slot(member, member->index), member->seq, signature, "", 0);
    }
    for (uint32_t i = member->count; i-- > 0 && 0 == rc && leader == self->thread;) {
        rc = epcoll_wait_member(member, 0, i, signature);
    }
    if (0 == rc && leader == self->thread) {
        epcoll_all_arrived(member);
    }
    if (0 == rc) {
        epcoll_end(member);
    }
    return rc;
}

/* The leader's part.  @param data  becomes the result, where it is known */
static int lead(self_t *self, uint32_t top, bool down, uint64_t signature, uint64_t *data)
{
    const epcoll_contribution_t all = {
        .signature = signature, .data = data, .size = sizeof(*data), .combine = mix};
    int rc = epcoll_leaders_reduce(&self->place, &all, top, data);

    if (0 == rc && down) {
        rc = epcoll_leaders_bcast(&self->place, top, signature, data, sizeof(*data));
    }
    return rc;
}

static int operate(self_t *self, uint32_t leader, uint32_t top, bool down, uint64_t signature,
                   uint64_t *data)
{
    int rc = come(self, leader, signature);

    *data = value(signature, self->process);
    if (0 == rc && leader == self->thread) {
        rc = lead(self, top, down, signature, data);
    }
    if (0 == rc && down) {
        rc = epcoll_bcast(&self->member, leader, signature, data, sizeof(*data));
        if (0 == rc) {
            epcoll_all_arrived_before(&self->member);
        }
    }
    if (0 == rc && leader != self->thread) {
        epcoll_leaders_skip(&self->place, down);
    }
    return rc;
}

/* ---- random operations ----------------------------------------------------------------------- */

static void *work_randomly(void *argument)
{
    uint64_t common = tap_stream(run.processes + 100 * run.fanout);
    uint64_t own = tap_stream(1000 + (unsigned int) (uintptr_t) argument);
    uint32_t span = 1;
    self_t self;

    self_begin(&self, (uintptr_t) argument);
    while (span < run.processes) {
        span *= 2;
    }
    for (int i = 1; i <= run.rounds && !tap_case_failed(); ++i) {
        const bool down = 0 != tap_below(&common, 3);
        const uint32_t top = down ? 0 : (uint32_t) tap_below(&common, run.processes);
        const uint32_t any = (uint32_t) tap_below(&common, HIGHEST);
        const uint32_t leader = any % run.threads[self.process];
        uint64_t data;

        tap_pause(&own, 60, 20000);
        TAP_EQ(0, operate(&self, leader, top, down, (uint64_t) i, &data));
        if (down || (leader == self.thread && top == self.process)) {
            TAP_CHECK(tree((uint64_t) i, top, 0, span) == data || tap_case_failed(),
                      "operation %d, thread %u of process %u: %llu", i, self.thread, self.process,
                      (unsigned long long) data);
        }
    }
    return NULL;
}

static void *new_block(uint32_t count, uint32_t fanout)
{
    const size_t size = epcoll_segment_size(count, fanout);

    return memset(aligned_alloc(64, size), 0, size);
}

/* @param uneven  processes have one, two or three threads; else two */
static void run_threads(uint32_t processes, uint32_t fanout, bool uneven, void *(*body)(void *) )
{
    pthread_t thread[PROCESSES_MOST * THREADS_MOST];
    uint32_t begun = 0;

    run.processes = processes;
    run.fanout = fanout;
    run.node = new_block(processes, fanout);
    for (uint32_t i = 0; i < processes; ++i) {
        run.threads[i] = uneven ? 1 + (i + 1) % THREADS_MOST : 2;
        run.segment[i] = new_block(run.threads[i], EPCOLL_FANOUT);
    }
    for (uint32_t i = 0; i < processes; ++i) {
        for (uint32_t j = 0; j < run.threads[i]; ++j) {
            pthread_create(&thread[begun++], NULL, body,
                           (void *) (uintptr_t) (i * THREADS_MOST + j));
        }
    }
    while (0 < begun) {
        pthread_join(thread[--begun], NULL);
    }
    for (uint32_t i = 0; i < processes; ++i) {
        free(run.segment[i]);
    }
    free(run.node);
}

static void case_random(void)
{
    static const struct {
        uint32_t processes, fanout;
    } shapes[] = {{2, 8}, {3, 8}, {4, 8}, {7, 8}, {3, 2}, {5, 2}};

    for (size_t i = 0; i < 2 * sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const uint32_t processes = shapes[i / 2].processes, fanout = shapes[i / 2].fanout;

        run.rounds = (TAP_SANITIZED ? 6000 : 40000) / (int) processes;
        tap_case("%u processes of %s threads in groups of %u, %d random operations", processes,
                 0 == i % 2 ? "two" : "one to three", fanout, run.rounds);
        run_threads(processes, fanout, 0 != i % 2, work_randomly);
        tap_case_done();
    }
}

/* ---- different calls ------------------------------------------------------------------------- */

static void *differ(void *argument)
{
    uint64_t data;
    self_t self;
    int rc = 0;

    self_begin(&self, (uintptr_t) argument);
    self.member.broken = self.place.broken; /* as a client's blocks break together */
    for (uint64_t i = 1; i < 10 && 0 == rc; ++i) {
        rc = operate(&self, i % 2, 0, true, 7 == i && run.odd == self.process ? 77 : i, &data);
    }
    if (0 != rc) {
        (void) epcoll_break(&self.place, rc);
        run.notified[self.process][self.thread] = true;
    }
    return NULL;
}

static void case_different(void)
{
    for (uint32_t processes = 2; processes <= PROCESSES_MOST; processes *= 2) {
        for (run.odd = 0; run.odd < processes; ++run.odd) {
            tap_case("%u processes, of which %u calls something else", processes, run.odd);
            memset(run.notified, 0, sizeof(run.notified));
            run_threads(processes, EPCOLL_FANOUT, false, differ);
            for (uint32_t i = 0; i < processes; ++i) {
                TAP_CHECK(run.notified[i][0] && run.notified[i][1],
                          "process %u does not learn of it", i);
            }
            tap_case_done();
        }
    }
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epcoll_leaders", TAP_SANITIZED ? 240 : 120);
    case_random();
    case_different();
    return tap_end();
}
