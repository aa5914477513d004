/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Rings beside a block (coll_epcoll_ring.h): random operations of all threads with delays, in
 * rings and in slots; how far one may be ahead; members that call different things.  And from which
 * call on members use something (coll_epcoll_cutover.h): the same at all, whichever is late, and
 * never where one has not got it.
 *
 * Guards: coll_epcoll_ring.h, coll_epcoll_cutover.h
 */

#include "ompi/mca/coll/epcoll/segment/coll_epcoll_cutover.h"
#include "ompi/mca/coll/epcoll/segment/coll_epcoll_ring.h"
#include "ompi/mca/coll/epcoll/segment/coll_epcoll_bcast.h"

#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { MEMBERS_MOST = 8, CALLS = 600, GETS = 8, GIVES_UP = 500 };

static struct {
    void *segment;
    epcoll_slot_t *ring;
    epcoll_aux_t aux;
    uint32_t count;
    int rounds, kind;
    bool notified[MEMBERS_MOST];
    epcoll_cutover_t word;
    bool uses[MEMBERS_MOST][CALLS + 1];
} run;

/** Turns of one that gives up in the first; NULL: go on. */
static _Thread_local int *turns_of_one;

/** Ends all if something has gone wrong. */
int mca_coll_epcoll_progress(epcoll_member_t *member)
{
    (void) member;
    if (NULL != turns_of_one) {
        ++*turns_of_one;
        return -7;
    }
    sched_yield();
    return tap_case_failed() ? -99 : 0;
}

static uint64_t value(uint64_t seq, uint32_t member)
{
    return seq * 1000003u + member * 7919u;
}

static void member_begin(epcoll_member_t *member, uint32_t me)
{
    epcoll_member_init(member, run.segment, run.count, me, EPCOLL_FANOUT);
    member->aux = &run.aux;
}

static void say(epcoll_member_t *member, uint64_t signature)
{
    const uint64_t mine = value(member->seq, member->index);

    epcoll_publish(epcoll_ring_slot(member, member->index), member->seq, signature, &mine,
                   sizeof(mine));
}

/** Read what a member says, in the operation that we are in. */
static void hear(epcoll_member_t *member, uint32_t from, uint64_t signature)
{
    uint64_t got;

    TAP_EQ(0, epcoll_ring_wait(member, from, signature));
    memcpy(&got, epcoll_ring_slot(member, from)->data, sizeof(got));
    TAP_CHECK(value(member->seq, from) == got || tap_case_failed(),
              "operation %llu at %u: of %u it has read %llu", (unsigned long long) member->seq,
              member->index, from, (unsigned long long) got);
}

/** One says something to all, or each to those behind it, or all to one. */
static void do_ahead(epcoll_member_t *member, uint64_t kind, uint32_t root)
{
    const uint64_t signature = 100 + kind;

    TAP_EQ(0, epcoll_ring_begin(member));
    if (0 != kind || root == member->index) {
        say(member, signature);
    }
    for (uint32_t i = 0; i < run.count; ++i) {
        if (0 == kind   ? i == root && i != member->index
            : 1 == kind ? i <= member->index
                        : root == member->index) {
            hear(member, i, signature);
        }
    }
    epcoll_end(member);
}

static void *work_randomly(void *argument)
{
    const uint32_t me = (uint32_t) (uintptr_t) argument;
    uint64_t common = tap_stream(run.count), own = tap_stream(1000 + me);
    epcoll_member_t member;

    member_begin(&member, me);
    for (int i = 0; i < run.rounds && !tap_case_failed(); ++i) {
        const uint64_t kind = tap_below(&common, 48);
        const uint32_t root = (uint32_t) tap_below(&common, 1 + tap_below(&common, run.count));

        tap_pause(&own, 60, 20000);
        if (0 == kind) {
            TAP_EQ(0, epcoll_barrier(&member));
        } else if (1 == kind) { /* one in slots that not all wait for */
            uint64_t data = root == me ? value(member.seq + 1, root) : 0;

            TAP_EQ(0, epcoll_bcast(&member, root, 99, &data, sizeof(data)));
            TAP_CHECK(value(member.seq, root) == data, "another value");
        } else {
            do_ahead(&member, kind % 3, root);
        }
    }
    return NULL;
}

static void run_threads(uint32_t count, void *(*body)(void *) )
{
    const size_t size = epcoll_segment_size(count, EPCOLL_FANOUT), ring = epcoll_ring_size(count);
    pthread_t thread[MEMBERS_MOST];

    run.count = count;
    run.segment = memset(aligned_alloc(64, size), 0, size);
    run.ring = memset(aligned_alloc(64, ring), 0, ring);
    run.aux.ring = run.ring;
    for (uint32_t i = 0; i < count; ++i) {
        pthread_create(&thread[i], NULL, body, (void *) (uintptr_t) i);
    }
    for (uint32_t i = 0; i < count; ++i) {
        pthread_join(thread[i], NULL);
    }
    free(run.segment);
    free(run.ring);
}

static void case_random(void)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 8};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
        run.rounds = (TAP_SANITIZED ? 20000 : 120000) / (int) counts[i];
        tap_case("%u members, %d random operations", counts[i], run.rounds);
        run_threads(counts[i], work_randomly);
        tap_case_done();
    }
}

/* ---- how far --------------------------------------------------------------------------------- */

/** One alone, which waits for none: so far and no further; most of a ring is free before it goes
 * on. */
static void *go_ahead(void *argument)
{
    epcoll_member_t member, other;
    int turns = 0;

    (void) argument;
    member_begin(&member, 0);
    member_begin(&other, 1);
    turns_of_one = &turns;
    for (int i = 0; i < EPCOLL_RING; ++i) {
        TAP_EQ(0, epcoll_ring_begin(&member));
        say(&member, 100);
        epcoll_end(&member);
    }
    TAP_EQ(0, turns);
    epcoll_end_at(&other, EPCOLL_RING - EPCOLL_RING_LEFT - 1);
    TAP_CHECK(-7 == epcoll_ring_begin(&member), "it has gone on before most of a ring is free");
    TAP_CHECK(0 < turns, "it has not looked for losses");
    --member.seq;
    epcoll_end_at(&other, EPCOLL_RING - EPCOLL_RING_LEFT);
    for (int i = 0; i < EPCOLL_RING - EPCOLL_RING_LEFT; ++i) {
        TAP_EQ(0, epcoll_ring_begin(&member));
        epcoll_end(&member);
    }
    TAP_EQ(-7, epcoll_ring_begin(&member));
    turns_of_one = NULL;
    return NULL;
}

/** Threads: the first does it for both. */
static void *go_ahead_first(void *argument)
{
    return 0 == (uintptr_t) argument ? go_ahead(argument) : NULL;
}

static void case_far(void)
{
    tap_case("%d operations ahead, and no further", EPCOLL_RING);
    run_threads(2, go_ahead_first);
    tap_case_done();
}

/* ---- different calls ------------------------------------------------------------------------- */

static int ahead(epcoll_member_t *member, uint64_t signature, uint32_t root, bool all)
{
    int rc = epcoll_ring_begin(member);

    if (0 != rc) {
        return rc;
    }
    if (all || root == member->index) {
        say(member, signature);
    }
    for (uint32_t i = 0; i < run.count && 0 == rc; ++i) {
        if (all ? i <= member->index : root == i && i != member->index) {
            rc = epcoll_ring_wait(member, i, signature);
        }
    }
    if (0 == rc) {
        epcoll_end(member);
    } else {
        epcoll_ring_publish_signature(member, signature);
    }
    return rc;
}

static void *differ(void *argument)
{
    const uint32_t me = (uint32_t) (uintptr_t) argument;
    const bool odd = 0 == me;
    epcoll_member_t member;
    int rc;

    member_begin(&member, me);
    TAP_EQ(0, epcoll_barrier(&member));
    switch (run.kind) {
    case 0: /* a member that waits in a ring for one that waits in slots */
        rc = odd ? epcoll_barrier(&member) : ahead(&member, 5, 0, true);
        break;
    case 1: /* a member that has said its part, and is gone */
        rc = odd ? ahead(&member, 5, 0, false) : epcoll_barrier(&member);
        break;
    case 2:
        rc = odd ? ahead(&member, 5, 0, true) : ahead(&member, 6, 0, true);
        break;
    default: /* the receivers of each sender */
        rc = ahead(&member, odd ? 5 : 6, odd ? 1 : 0, false);
        break;
    }
    for (int i = 0; i < 3 && 0 == rc; ++i) {
        rc = epcoll_barrier(&member);
    }
    if (0 != rc) {
        (void) epcoll_break(&member, rc);
        run.notified[me] = true;
    }
    return NULL;
}

static void case_different(void)
{
    static const char *names[] = {"a barrier among those in rings",
                                  "a word in a ring among barriers", "different ones in rings",
                                  "different roots"};
    static const uint32_t counts[] = {2, 3, 8};

    for (run.kind = 0; run.kind < 4; ++run.kind) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
            tap_case("%s, %u members", names[run.kind], counts[i]);
            memset(run.notified, 0, sizeof(run.notified));
            run_threads(counts[i], differ);
            for (uint32_t m = 0; m < counts[i]; ++m) {
                TAP_CHECK(run.notified[m], "%u of %u does not learn of it", m, counts[i]);
            }
            tap_case_done();
        }
    }
}

/* ---- from which call on ---------------------------------------------------------------------- */

/** Calls without waiting for anybody, in one of which each gets it; one may not. */
static void *agree(void *argument)
{
    const uint32_t me = (uint32_t) (uintptr_t) argument;
    uint64_t own = tap_stream(5000 + 64u * (unsigned int) run.rounds + me);

    for (uint32_t call = 1; call <= CALLS; ++call) {
        tap_pause(&own, 60, 20000);
        if (GETS == call && (0 == run.kind || 0 != me)) {
            epcoll_cutover_join(&run.word);
        } else if (GETS < call && (0 == run.kind || 0 != me)) {
            run.uses[me][call] = epcoll_cutover_uses(&run.word, run.count,
                                                     GIVES_UP == call ? EPCOLL_NEVER : call);
        }
    }
    return NULL;
}

static void case_agree(void)
{
    static const char *names[] = {"agree", "agree never, as one has not got it"};
    int used = 0;

    for (run.kind = 0; run.kind < 2; ++run.kind) {
        for (uint32_t count = 2; count <= MEMBERS_MOST; count += 3) {
            tap_case("%u members %s", count, names[run.kind]);
            for (run.rounds = 0; run.rounds < 60 && !tap_case_failed(); ++run.rounds) {
                atomic_init(&run.word, 0);
                memset(run.uses, 0, sizeof(run.uses));
                run_threads(count, agree);
                for (uint32_t call = 1; call <= CALLS; ++call) {
                    for (uint32_t m = 0; m < count; ++m) {
                        TAP_CHECK(run.uses[0][call] == run.uses[m][call],
                                  "call %u: %u and member %u's %u", call, run.uses[0][call], m,
                                  run.uses[m][call]);
                    }
                }
                used += run.uses[0][CALLS];
                TAP_CHECK(0 == run.kind || !run.uses[1][CALLS], "it is used where one has it not");
            }
            tap_case_done();
        }
    }
    TAP_CHECK(30 < used, "only %d of 180 have come to use it", used);
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epcoll_ring", TAP_SANITIZED ? 240 : 120);
    case_random();
    case_far();
    case_different();
    case_agree();
    return tap_end();
}
