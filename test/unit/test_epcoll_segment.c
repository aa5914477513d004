/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The block that the members of a communicator share in a process (coll_epcoll_segment.h): random
 * operations of all threads with delays, groups of all sizes; leaders that have lost their core;
 * members that call different things; the end when one breaks it; and that nobody works any more on
 * partitions that have been closed.
 *
 * Guards: coll_epcoll_leaderless.h, coll_epcoll_segment.h, coll_epcoll_reuse.h, coll_epcoll_tree.h,
 * coll_epcoll_bcast.h, coll_epcoll_stealing.h
 */

#include "ompi/mca/coll/epcoll/segment/coll_epcoll_bcast.h"
#include "ompi/mca/coll/epcoll/segment/coll_epcoll_stealing.h"

#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MEMBERS_MOST = 40, WORDS = 6, PARTITION_MAX = 7 };

/** Ends all if something has gone wrong. */
int mca_coll_epcoll_progress(epcoll_member_t *member)
{
    (void) member;
    sched_yield();
    return tap_case_failed() ? -99 : 0;
}

static void *new_block(uint32_t count, uint32_t fanout)
{
    const size_t size = epcoll_segment_size(count, fanout);
    void *segment = aligned_alloc(64, size);

    memset(segment, 0, size);
    return segment;
}

static int64_t value(uint64_t seq, uint32_t member, int word)
{
    return (int64_t) ((seq * 1000003u + member * 7919u + (unsigned int) word * 17u) % 1000);
}

/** Neither commutative nor associative: order and association show. */
static void mix(void *into, const void *from, void *context)
{
    int64_t *a = into;
    const int64_t *b = from;

    for (int i = 0; i < *(const int *) context; ++i) {
        a[i] = b[i] * 3 - a[i] * 7 + 1;
    }
}

/** What a tree of that shape must give, put together level by level. */
static void serial(uint64_t seq, uint32_t count, uint32_t fanout, int words, int64_t *result)
{
    int64_t level[MEMBERS_MOST][WORDS];
    uint32_t width = count;

    for (uint32_t i = 0; i < count; ++i) {
        for (int w = 0; w < words; ++w) {
            level[i][w] = value(seq, i, w);
        }
    }
    while (1 < width) {
        uint32_t groups = 0;

        for (uint32_t from = 0; from < width; from += fanout) {
            const uint32_t to = from + fanout < width ? from + fanout : width;
            int64_t one[WORDS];

            memcpy(one, level[to - 1], sizeof(one));
            for (uint32_t i = to - 1; i-- > from;) {
                mix(one, level[i], &words);
            }
            memcpy(level[groups++], one, sizeof(one));
        }
        width = groups;
    }
    memcpy(result, level[0], sizeof(level[0]));
}

static struct {
    void *segment;
    uint32_t count, fanout;
    int rounds;
    _Atomic int64_t scratch[MEMBERS_MOST * PARTITION_MAX]; /**< how often a share was worked on */
    int64_t plain[MEMBERS_MOST * PARTITION_MAX]; /**< its readers must be ordered: no atomics */
    _Atomic uint64_t entered[MEMBERS_MOST];
    _Atomic bool wake;
    unsigned char *failed;
} run;

static void do_barrier(epcoll_member_t *member)
{
    const uint64_t seq = member->seq + 1;

    atomic_store_explicit(&run.entered[member->index], seq, memory_order_relaxed);
    TAP_EQ(0, epcoll_barrier(member));
    for (uint32_t i = 0; i < run.count; ++i) {
        TAP_CHECK(seq <= atomic_load_explicit(&run.entered[i], memory_order_relaxed),
                  "barrier %llu left before %u of %u came", (unsigned long long) seq, i, run.count);
    }
}

static void do_all(epcoll_member_t *member, int words)
{
    const uint64_t seq = member->seq + 1;
    int64_t mine[WORDS], got[WORDS], expected[WORDS];
    const epcoll_contribution_t all = {.signature = seq * 8 + (unsigned int) words,
                                       .data = mine,
                                       .size = (size_t) words * sizeof(int64_t),
                                       .combine = mix,
                                       .context = &words};

    for (int w = 0; w < words; ++w) {
        mine[w] = value(seq, member->index, w);
    }
    TAP_EQ(0, epcoll_allreduce(member, &all, got));
    serial(seq, run.count, run.fanout, words, expected);
    for (int w = 0; w < words; ++w) {
        TAP_CHECK(expected[w] == got[w],
                  "all %llu at %u of %u by %u, word %d: expected %lld, got %lld",
                  (unsigned long long) seq, member->index, run.count, run.fanout, w,
                  (long long) expected[w], (long long) got[w]);
    }
}

static void do_tell(epcoll_member_t *member, uint32_t root, int words)
{
    const uint64_t seq = member->seq + 1;
    int64_t data[WORDS];

    for (int w = 0; w < words; ++w) {
        data[w] = member->index == root ? value(seq, root, w) : -1;
    }
    TAP_EQ(0, epcoll_bcast(member, root, seq, data, (size_t) words * sizeof(int64_t)));
    for (int w = 0; w < words; ++w) {
        TAP_CHECK(value(seq, root, w) == data[w],
                  "operation %llu of %u at %u of %u, word %d: expected %lld, got %lld",
                  (unsigned long long) seq, root, member->index, run.count, w,
                  (long long) value(seq, root, w), (long long) data[w]);
    }
}

/** Wait until all chunks of all partitions are done.  @return 0 or an error */
static int wait_for_work(epcoll_member_t *member, uint32_t chunks)
{
    uint32_t polls = 0, over = 0;
    int rc = 0;

    while (0 == rc && 0 < chunks && over < run.count) {
        over += epcoll_work_over(member, over, run.count - over, chunks);
        rc = over < run.count ? epcoll_backoff(member, &polls) : 0;
    }
    return rc;
}

/** All have come to the operation that we are in, and have called that. */
static void check_came(const epcoll_member_t *member, uint64_t signature)
{
    bool is_mismatch;

    TAP_EQ(run.count, epcoll_count_arrived(member, 0, run.count, signature, &is_mismatch));
    TAP_CHECK(!is_mismatch, "they have called something else");
    TAP_EQ(0, epcoll_count_arrived(member, 0, run.count, signature + 1, &is_mismatch));
    TAP_CHECK(is_mismatch, "they have not called something else");
}

static void do_work(epcoll_member_t *member, uint32_t chunks, uint64_t *state)
{
    const uint64_t seq = member->seq + 1;
    const epcoll_contribution_t come = {.signature = chunks, .data = "", .size = 0};
    unsigned char nothing[1];
    uint32_t chunk;

    TAP_EQ(0, epcoll_allreduce(member, &come, nothing));
    check_came(member, chunks);
    for (uint32_t i = 0; i < run.count; ++i) {
        const uint32_t owner = (member->index + i) % run.count;

        while (epcoll_work_claim(member, owner, chunks, &chunk)) {
            tap_pause(state, 40, 20000);
            run.plain[owner * PARTITION_MAX + chunk] = (int64_t) seq;
            atomic_fetch_add_explicit(&run.scratch[owner * PARTITION_MAX + chunk], 1,
                                      memory_order_relaxed);
            epcoll_chunk_done(member, owner);
        }
    }
    TAP_EQ(0, wait_for_work(member, chunks));
    for (uint32_t i = 0; i < run.count; ++i) {
        for (uint32_t s = 0; s < chunks; ++s) {
            TAP_CHECK((int64_t) seq == run.plain[i * PARTITION_MAX + s],
                      "work %llu: share %u of %u is of %lld", (unsigned long long) seq, s, i,
                      (long long) run.plain[i * PARTITION_MAX + s]);
        }
    }
    do_barrier(member);
}

/** Random operations, the same at all. */
static void *work_randomly(void *argument)
{
    const uint32_t me = (uint32_t) (uintptr_t) argument;
    uint64_t common = tap_stream(run.count * 64 + run.fanout), own = tap_stream(1000 + me);
    epcoll_member_t member;

    epcoll_member_init(&member, run.segment, run.count, me, run.fanout);
    for (int i = 0; i < run.rounds && !tap_case_failed(); ++i) {
        const uint64_t kind = tap_below(&common, 16);
        const uint32_t root = (uint32_t) tap_below(&common, run.count);
        const int words = 1 + (int) tap_below(&common, WORDS);
        const uint32_t chunks = (uint32_t) tap_below(&common, PARTITION_MAX + 1);

        tap_pause(&own, 40, 20000);
        if (kind < 4) {
            do_barrier(&member);
        } else if (kind < 7) {
            do_all(&member, words);
        } else if (kind < 14) {
            do_tell(&member, root, words);
        } else {
            do_work(&member, chunks, &own);
        }
    }
    return NULL;
}

static void run_threads(uint32_t count, uint32_t fanout, void *(*body)(void *) )
{
    pthread_t thread[MEMBERS_MOST];

    run.segment = new_block(count, fanout);
    run.count = count;
    run.fanout = fanout;
    for (uint32_t i = 0; i < MEMBERS_MOST; ++i) {
        atomic_init(&run.entered[i], 0);
    }
    for (uint32_t i = 0; i < count; ++i) {
        pthread_create(&thread[i], NULL, body, (void *) (uintptr_t) i);
    }
    for (uint32_t i = 0; i < count; ++i) {
        pthread_join(thread[i], NULL);
    }
    free(run.segment);
}

static void case_random(void)
{
    static const struct {
        uint32_t count, fanout;
    } shapes[] = {{1, 8}, {2, 8}, {2, 8},  {3, 8},  {8, 8},  {9, 8}, {17, 8},
                  {3, 2}, {7, 2}, {16, 2}, {10, 3}, {28, 3}, {40, 6}};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        const uint32_t count = shapes[i].count;

        run.rounds = (TAP_SANITIZED ? 20000 : 120000) / (int) (count * (4 < count ? 4 : 1));
        tap_case("%u members in groups of %u, %d random operations", count, shapes[i].fanout,
                 run.rounds);
        run_threads(count, shapes[i].fanout, work_randomly);
        tap_case_done();
    }
}

/** One after the other says its part and does nothing more, until another one has the result. */
static void *lose_core(void *argument)
{
    const uint32_t me = (uint32_t) (uintptr_t) argument;
    epcoll_member_t member;

    epcoll_member_init(&member, run.segment, run.count, me, run.fanout);
    for (int i = 0; i < run.rounds && !tap_case_failed(); ++i) {
        const uint32_t sleeper = (uint32_t) i % run.count;

        if (me == sleeper) {
            const uint64_t seq = member.seq + 1;
            int64_t mine = value(seq, me, 0);

            /* What epcoll_allreduce does, up to where its thread loses its core. */
            TAP_EQ(0, epcoll_begin(&member));
            epcoll_publish(epcoll_slot(&member, me), seq, seq * 8 + 1, &mine, sizeof(mine));
            epcoll_next_up(&member);
            while (!atomic_exchange(&run.wake, false)) {
                sched_yield();
            }
            epcoll_end(&member);
        } else {
            do_all(&member, 1);
            if (me == (sleeper + 1) % run.count) {
                atomic_store(&run.wake, true);
            }
        }
        do_barrier(&member);
    }
    return NULL;
}

static void case_lost_core(void)
{
    static const uint32_t counts[] = {3, 5, 9, 14};

    run.rounds = TAP_SANITIZED ? 100 : 500;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
        tap_case("%u members in groups of 2: leaders that have come are not waited for", counts[i]);
        run_threads(counts[i], 2, lose_core);
        tap_case_done();
    }
}

static int combined;

static void mix_and_count(void *into, const void *from, void *context)
{
    ++combined;
    mix(into, from, context);
}

/** All have come and no leader goes on: the first one that looks puts together what they say, for
 * all others.  One that has begun with that, and lost its core, is not waited for. */
static void case_found(void)
{
    enum { MEMBERS = 30, FANOUT = 2 };
    int words = 2;
    void *segment = new_block(MEMBERS, FANOUT);
    epcoll_member_t members[MEMBERS];

    tap_case("%d members of whom one finds what all say", MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        epcoll_member_init(&members[i], segment, MEMBERS, i, FANOUT);
    }
    for (uint64_t seq = 1; seq <= 3 * EPCOLL_WINDOW; ++seq) {
        const bool is_lost = 0 == seq % 3;
        const epcoll_contribution_t all = {.signature = 5,
                                           .size = sizeof(int64_t) * 2,
                                           .combine = mix_and_count,
                                           .context = &words};
        int64_t expected[WORDS];

        serial(seq, MEMBERS, FANOUT, words, expected);
        combined = 0;
        for (uint32_t i = 0; i < MEMBERS; ++i) {
            const int64_t mine[] = {value(seq, i, 0), value(seq, i, 1)};

            TAP_EQ(0, epcoll_begin(&members[i]));
            epcoll_publish(epcoll_slot(&members[i], i), seq, all.signature, mine, sizeof(mine));
        }
        if (is_lost) {
            atomic_store(epcoll_result_word(&members[0], 0), 2 * seq - 1);
        }
        for (uint32_t i = 0; i < MEMBERS; ++i) {
            int64_t got[2] = {0, 0};

            TAP_EQ(0, epcoll_allreduce_leaderless(&members[i], &all, got));
            TAP_EQ(expected[0], got[0]);
            TAP_EQ(expected[1], got[1]);
            TAP_EQ((MEMBERS - 1) * (is_lost ? (int) i + 1 : 1), combined);
        }
        for (uint32_t i = 0; i < MEMBERS; ++i) {
            epcoll_all_arrived(&members[i]);
            epcoll_end(&members[i]);
        }
    }
    tap_case_done();
    free(segment);
}

/** Operations beside each other: one member finds the members that the slots wait for, and the
 * others see it. */
static void case_may_begin(void)
{
    enum { MEMBERS = 3 };
    void *segment = new_block(MEMBERS, EPCOLL_FANOUT);
    epcoll_member_t members[MEMBERS];

    tap_case("slots that may be written, as another one has found");
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        epcoll_member_init(&members[i], segment, MEMBERS, i, EPCOLL_FANOUT);
    }
    TAP_CHECK(epcoll_may_begin(&members[0], EPCOLL_WINDOW), "not the first ones");
    TAP_CHECK(!epcoll_may_begin(&members[0], EPCOLL_WINDOW + 1), "none is through with any");
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        epcoll_end_at(&members[i], 2 + i);
    }
    TAP_CHECK(!epcoll_may_begin(&members[0], EPCOLL_WINDOW + 3), "one is in the third");
    TAP_CHECK(epcoll_may_begin(&members[0], EPCOLL_WINDOW + 2), "all are through with the second");
    TAP_EQ(2, members[0].safe);
    epcoll_end_at(&members[0], 0); /* it does not look again */
    TAP_CHECK(epcoll_may_begin(&members[1], EPCOLL_WINDOW + 2), "not as the other one has found");
    TAP_EQ(2, members[1].safe);
    tap_case_done();
    free(segment);
}

/** One member calls something else: any that sees it says so, and breaks the block. */
static void *differ(void *argument)
{
    const uint32_t me = (uint32_t) (uintptr_t) argument;
    const bool odd = run.count - 1 == me;
    epcoll_member_t member;
    int64_t data[2] = {1, 2}, got[2];
    int words = 1, rc;
    const epcoll_contribution_t all = {
        .signature = 5, .data = data, .size = 8, .combine = mix, .context = &words};

    epcoll_member_init(&member, run.segment, run.count, me, run.fanout);
    if (0 != epcoll_barrier(&member)) {
        run.failed[me] = 1; /* others have been so quick */
        return NULL;
    }
    switch (run.rounds) {
    case 0:
        rc = odd ? epcoll_barrier(&member) : epcoll_allreduce(&member, &all, got);
        break;
    case 1:
        rc = odd ? epcoll_allreduce(&member, &all, got) : epcoll_barrier(&member);
        break;
    case 2:
        rc = odd ? epcoll_bcast(&member, 0, 6, data, 16) : epcoll_allreduce(&member, &all, got);
        break;
    case 3: /* the receiver has left without a word */
        rc = odd ? epcoll_allreduce(&member, &all, got) : epcoll_bcast(&member, 0, 6, data, 16);
        break;
    default: /* so has the member that is taken for the root; where there are two, both wait */
        rc = odd ? epcoll_bcast(&member, run.count - 2, 7, data, 16)
                 : epcoll_bcast(&member, 2 == run.count ? 1 : 0, 6, data, 16);
        break;
    }
    for (int i = 0; i < 3 * EPCOLL_WINDOW && 0 == rc; ++i) {
        rc = epcoll_barrier(&member);
    }
    if (0 != rc) {
        (void) epcoll_break(&member, rc);
        run.failed[me] = 1;
    }
    return NULL;
}

static void case_different(void)
{
    static const char *names[] = {"a barrier among words of all", "words of all among a barrier",
                                  "a word of one among words of all",
                                  "words of all among a word of one", "words of different ones"};
    static const uint32_t counts[] = {2, 3, 8, 11};
    unsigned char failed[MEMBERS_MOST];

    run.failed = failed;
    for (run.rounds = 0; run.rounds < 5; ++run.rounds) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
            uint32_t learned = 0;

            memset(failed, 0, sizeof(failed));
            tap_case("%s, %u members", names[run.rounds], counts[i]);
            run_threads(counts[i], 8, differ);
            for (uint32_t m = 0; m < counts[i]; ++m) {
                learned += failed[m];
            }
            TAP_CHECK(counts[i] == learned, "%u of %u learn of it", learned, counts[i]);
            tap_case_done();
        }
    }
    run.failed = NULL;
}

/**
 * Work of which something fails at a random place.  A member that finds that breaks the block and
 * closes all partitions, then so does each that learns of it, while others still claim chunks; a
 * member that has closed them may rely on it that its partition is not touched any more.
 */
static void *close_early(void *argument)
{
    const uint32_t me = (uint32_t) (uintptr_t) argument;
    const uint32_t chunks = PARTITION_MAX;
    uint64_t own = tap_stream(3000 + me + 64u * (unsigned int) run.rounds);
    const bool fails = 0 == tap_below(&own, 3) || 0 == me; /* one at least */
    epcoll_member_t member;
    uint32_t chunk;
    bool broken = false;

    epcoll_member_init(&member, run.segment, run.count, me, run.fanout);
    if (0 != epcoll_barrier(&member) || 0 != epcoll_begin(&member)) {
        run.failed[me] = true; /* another one has been so quick */
        return NULL;
    }
    for (uint32_t i = 0; i < run.count && !broken; ++i) {
        const uint32_t owner = (me + i) % run.count;

        while (!broken && epcoll_work_claim(&member, owner, chunks, &chunk)) {
            tap_pause(&own, 40, 20000);
            /* Plain: ordered by nothing but the claim, and by what closing waits for. */
            run.plain[owner * PARTITION_MAX + chunk] += 1;
            if (fails && 0 == tap_below(&own, 4)) {
                epcoll_break(&member, 7);
                broken = true;
            }
            epcoll_chunk_done(&member, owner);
        }
    }
    /* Over, but perhaps because it was closed: the member that breaks the block does so before. */
    broken = broken || 0 != wait_for_work(&member, chunks)
             || 0 != atomic_load_explicit(&member.segment->broken, memory_order_relaxed);
    for (uint32_t s = 0; s < chunks && !broken; ++s) {
        TAP_CHECK(1 == run.plain[me * PARTITION_MAX + s], "share %u of %u was done %lld times", s,
                  me, (long long) run.plain[me * PARTITION_MAX + s]);
    }
    if (broken) {
        for (uint32_t i = 0; i < run.count; ++i) {
            epcoll_work_close(&member, i);
        }
        /* Our own partition is ours again. */
        for (uint32_t s = 0; s < chunks; ++s) {
            TAP_CHECK(0 <= run.plain[me * PARTITION_MAX + s]
                          && 1 >= run.plain[me * PARTITION_MAX + s],
                      "share %u of %u was done %lld times", s, me,
                      (long long) run.plain[me * PARTITION_MAX + s]);
            run.plain[me * PARTITION_MAX + s] = -1;
        }
        TAP_CHECK(!epcoll_work_claim(&member, me, chunks, &chunk), "a closed piece has a share %u",
                  chunk);
        TAP_EQ(7, epcoll_begin(&member));
    }
    run.failed[me] = broken;
    return NULL;
}

static void case_close(void)
{
    static const uint32_t counts[] = {1, 2, 3, 8, 12};
    const int rounds = TAP_SANITIZED ? 60 : 600;
    unsigned char failed[MEMBERS_MOST];

    run.failed = failed;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
        int mixed = 0;

        tap_case("%u members, of which some close all pieces while others work", counts[i]);
        for (run.rounds = 0; run.rounds < rounds && !tap_case_failed(); ++run.rounds) {
            uint32_t learned = 0;

            memset(run.plain, 0, sizeof(run.plain));
            run_threads(counts[i], 8, close_early);
            for (uint32_t m = 0; m < counts[i]; ++m) {
                learned += failed[m];
            }
            mixed += 0 != learned;
        }
        TAP_CHECK(rounds / 2 < mixed, "only %d of %d rounds were closed", mixed, rounds);
        tap_case_done();
    }
    run.failed = NULL;
}

/** Bytes of a handle: EPCOLL_HANDLE_BYTES, which base/coll_epcoll.h asserts. */
enum { HANDLE = 200 };

/** 576 bytes a member, with its handle: up to one group, and where groups are full. */
static void case_size(void)
{
    tap_case("bytes of a member");
    for (uint32_t count = 2; count <= 5000; ++count) {
        const bool is_full = count <= 8 || (0 == count % 8 && count <= 64)
                             || (0 == count % 64 && count <= 512);
        const size_t most = (is_full ? 576 : 624) * (size_t) count;
        const size_t all = epcoll_segment_size(count, EPCOLL_FANOUT) + HANDLE * (size_t) count;

        TAP_CHECK(all <= most, "%u members have %zu bytes, not %zu", count, all, most);
    }
    tap_case_done();
}

/**
 * A word of work is of the same bits as the one that it had 2^EPCOLL_WORK_BITS operations before:
 * its chunks are there again.  Not if the block has broken: the closing member has left it so.
 */
static void case_again(void)
{
    static const uint64_t later[] = {1, 3};

    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); ++i) {
        void *segment = new_block(1, EPCOLL_FANOUT);
        epcoll_member_t member;
        uint32_t chunk;

        tap_case("work %llu times 2^%d operations later", (unsigned long long) later[i],
                 EPCOLL_WORK_BITS);
        epcoll_member_init(&member, segment, 1, 0, EPCOLL_FANOUT);
        member.seq = 5;
        epcoll_work_begin(&member);
        for (int s = 0; s < PARTITION_MAX; ++s) {
            TAP_CHECK(epcoll_work_claim(&member, 0, PARTITION_MAX, &chunk) && s == (int) chunk,
                      "share %d cannot be claimed", s);
            epcoll_chunk_done(&member, 0);
        }
        TAP_EQ(1, epcoll_work_over(&member, 0, 1, PARTITION_MAX));
        member.seq += EPCOLL_WINDOW; /* another operation, the same word */
        TAP_EQ(0, epcoll_work_over(&member, 0, 1, PARTITION_MAX));
        member.seq -= EPCOLL_WINDOW;
        member.seq += later[i] << EPCOLL_WORK_BITS;
        epcoll_work_begin(&member);
        TAP_EQ(0, epcoll_work_done(&member, 0));
        TAP_EQ(0, epcoll_work_over(&member, 0, 1, 1));
        TAP_CHECK(epcoll_work_claim(&member, 0, PARTITION_MAX, &chunk) && 0 == chunk,
                  "the first share cannot be claimed again");
        epcoll_chunk_done(&member, 0);
        TAP_EQ(1, epcoll_work_done(&member, 0));
        member.seq += later[i] << EPCOLL_WORK_BITS;
        (void) epcoll_break(&member, 7);
        epcoll_work_close(&member, 0); /* by a member that does not wait for us */
        epcoll_work_begin(&member);
        TAP_CHECK(!epcoll_work_claim(&member, 0, PARTITION_MAX, &chunk),
                  "a closed piece has a share %u", chunk);
        tap_case_done();
        free(segment);
    }
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epcoll_segment", TAP_SANITIZED ? 240 : 120);
    TAP_CHECK(320 == sizeof(epcoll_ctrl_t), "a place has %zu bytes", sizeof(epcoll_ctrl_t));
    case_size();
    case_again();
    case_random();
    case_lost_core();
    case_found();
    case_may_begin();
    case_different();
    case_close();
    return tap_end();
}
