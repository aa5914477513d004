/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the fair lock of two groups, ompi/mca/osc/epwin/base/osc_epwin_lock.h: which holders
 * exclude each other, the order of waiters, tickets that wrap, and, with 16 threads, that a stream of
 * holders of one group does not starve the other.  Bounds are numbers of holders, not times.
 *
 * Guards: osc_epwin_lock.h
 */

#include <pthread.h>

#include "ompi/mca/osc/epwin/base/osc_epwin_lock.h"

#include "tap.h"

#define THREADS 16

/** Holders since a waiter has been the head: the lock starves it. */
#define STARVED 10000

static const char *const group_names[] = {"first", "second", "alone"};

static bool pair_excludes(epwin_group_t a, epwin_group_t b)
{
    return a != b || EPWIN_GROUP_ALONE == a;
}

/** Groups a and b on one lock, b second; a lock knows either SECOND or ALONE. */
static void check_pair(epwin_group_t a, epwin_group_t b)
{
    mca_osc_epwin_lock_t lock = {0};
    epwin_lock_wait_t wait = {0};
    const bool excludes = pair_excludes(a, b);
    /* One that is excluded by none waits in the queue if it has not been let in by the fast path. */
    const bool is_fast = !excludes && EPWIN_GROUP_ALONE != b;

    TAP_CHECK(epwin_lock_try(&lock, a), "%s: not taken", group_names[a]);
    TAP_CHECK(is_fast == epwin_lock_try(&lock, b), "%s held, %s: expected %d", group_names[a],
              group_names[b], is_fast);
    if (is_fast) {
        epwin_lock_release(&lock, b);
        TAP_CHECK(epwin_lock_poll(&lock, b, &wait), "%s held, %s: no poll", group_names[a],
                  group_names[b]);
    } else {
        for (int i = 0; i < 3; ++i) {
            TAP_CHECK(!epwin_lock_poll(&lock, b, &wait), "%s held, %s: polled", group_names[a],
                      group_names[b]);
        }
    }
    epwin_lock_release(&lock, a);
    if (!is_fast) {
        TAP_CHECK(epwin_lock_poll(&lock, b, &wait), "%s released, %s: no poll", group_names[a],
                  group_names[b]);
    }
    TAP_CHECK(!wait.has_ticket, "a holder has a ticket");
    epwin_lock_release(&lock, b);
    TAP_EQ(0, atomic_load(&lock.word));
    TAP_EQ(atomic_load(&lock.next), atomic_load(&lock.serving));
}

static void case_groups(void)
{
    static const epwin_group_t second[] = {EPWIN_GROUP_SECOND, EPWIN_GROUP_ALONE};

    tap_case("holders that exclude each other, and such that do not");
    for (int i = 0; i < 2; ++i) {
        check_pair(EPWIN_GROUP_FIRST, EPWIN_GROUP_FIRST);
        check_pair(EPWIN_GROUP_FIRST, second[i]);
        check_pair(second[i], EPWIN_GROUP_FIRST);
        check_pair(second[i], second[i]);
    }
    tap_case_done();
}

/** The head has polled: nobody passes it, and the others follow in their order. */
static void check_order(epwin_group_t second, uint32_t ticket)
{
    mca_osc_epwin_lock_t lock = {0};
    epwin_lock_wait_t wait[4] = {{0}};
    const epwin_group_t group[] = {second, EPWIN_GROUP_FIRST, EPWIN_GROUP_FIRST, second};

    atomic_store(&lock.next, ticket);
    atomic_store(&lock.serving, ticket);
    TAP_CHECK(epwin_lock_try(&lock, EPWIN_GROUP_FIRST), "not taken");
    for (int i = 0; i < 4; ++i) {
        TAP_CHECK(!epwin_lock_poll(&lock, group[i], &wait[i]), "waiter %d passed", i);
        TAP_EQ((uint32_t) (ticket + (uint32_t) i), wait[i].ticket);
    }
    TAP_CHECK(!epwin_lock_try(&lock, EPWIN_GROUP_FIRST), "a newcomer passed the head");
    TAP_CHECK(!epwin_lock_try(&lock, second), "a newcomer passed the head");
    epwin_lock_release(&lock, EPWIN_GROUP_FIRST);
    TAP_CHECK(!epwin_lock_try(&lock, second), "a newcomer passed the head of a free lock");
    for (int i = 3; 0 < i; --i) {
        TAP_CHECK(!epwin_lock_poll(&lock, group[i], &wait[i]), "waiter %d passed the head", i);
    }
    TAP_CHECK(epwin_lock_poll(&lock, second, &wait[0]), "the head is not served");
    TAP_CHECK(!epwin_lock_try(&lock, second), "a newcomer joined the head, past the others");
    TAP_CHECK(!epwin_lock_poll(&lock, EPWIN_GROUP_FIRST, &wait[1]), "both groups hold it");
    epwin_lock_release(&lock, second);
    TAP_CHECK(!epwin_lock_try(&lock, EPWIN_GROUP_FIRST), "a newcomer passed the second waiter");
    TAP_CHECK(epwin_lock_poll(&lock, EPWIN_GROUP_FIRST, &wait[1]), "the second is not served");
    TAP_CHECK(epwin_lock_poll(&lock, EPWIN_GROUP_FIRST, &wait[2]), "nor the third, beside it");
    TAP_CHECK(!epwin_lock_poll(&lock, second, &wait[3]), "the last waits for both");
    epwin_lock_release(&lock, EPWIN_GROUP_FIRST);
    TAP_CHECK(!epwin_lock_poll(&lock, second, &wait[3]), "the last waits for one of them");
    epwin_lock_release(&lock, EPWIN_GROUP_FIRST);
    TAP_CHECK(epwin_lock_poll(&lock, second, &wait[3]), "the last is not served");
    epwin_lock_release(&lock, second);
    TAP_EQ(0, atomic_load(&lock.word));
    TAP_CHECK(epwin_lock_try(&lock, second), "the queue is empty: no fast path");
}

static void case_order(void)
{
    tap_case("waiters of both groups are served in their order, newcomers wait");
    check_order(EPWIN_GROUP_SECOND, 0);
    check_order(EPWIN_GROUP_ALONE, 0);
    tap_case_done();
}

/** One of another domain joins holders past waiters, and is let in before the next of the second. */
static void case_join(void)
{
    mca_osc_epwin_lock_t lock = {0};
    epwin_lock_wait_t second = {0}, other = {0}, join = {0};

    tap_case("one that holds the first group's lock elsewhere joins");
    TAP_CHECK(epwin_lock_try(&lock, EPWIN_GROUP_FIRST), "not taken");
    TAP_CHECK(!epwin_lock_poll(&lock, EPWIN_GROUP_SECOND, &second), "both groups");
    TAP_CHECK(epwin_lock_poll(&lock, EPWIN_GROUP_AGAIN, &join), "does not pass a waiter");
    epwin_lock_release(&lock, EPWIN_GROUP_FIRST);
    TAP_CHECK(!epwin_lock_poll(&lock, EPWIN_GROUP_SECOND, &second), "both groups");
    epwin_lock_release(&lock, EPWIN_GROUP_FIRST);
    TAP_CHECK(epwin_lock_poll(&lock, EPWIN_GROUP_SECOND, &second), "not served");
    for (int i = 0; i < 3; ++i) {
        TAP_CHECK(!epwin_lock_poll(&lock, EPWIN_GROUP_JOIN, &join), "both groups");
    }
    TAP_EQ(1, atomic_load(&lock.joining));
    TAP_CHECK(!epwin_lock_try(&lock, EPWIN_GROUP_SECOND), "a newcomer passes one that joins");
    TAP_CHECK(!epwin_lock_poll(&lock, EPWIN_GROUP_SECOND, &other), "so does the head");
    epwin_lock_release(&lock, EPWIN_GROUP_SECOND);
    TAP_CHECK(!epwin_lock_poll(&lock, EPWIN_GROUP_SECOND, &other), "so does the head");
    TAP_CHECK(epwin_lock_poll(&lock, EPWIN_GROUP_JOIN, &join), "not let in");
    TAP_EQ(0, atomic_load(&lock.joining));
    epwin_lock_release(&lock, EPWIN_GROUP_FIRST);
    TAP_CHECK(epwin_lock_poll(&lock, EPWIN_GROUP_SECOND, &other), "not served afterwards");
    epwin_lock_release(&lock, EPWIN_GROUP_SECOND);
    TAP_EQ(0, atomic_load(&lock.word));
    tap_case_done();
}

/** Those that join come again and again, and overlap: a new one polls before the last one leaves. */
static void case_join_stream(void)
{
    enum { JOINERS = 8, HOLD = 1000 };
    mca_osc_epwin_lock_t lock = {0};
    epwin_lock_wait_t second = {0}, join[JOINERS] = {{0}};
    unsigned int held[JOINERS] = {0}, turn = 0;
    bool is_served;

    tap_case("a stream of those that join does not starve a waiter");
    TAP_CHECK(epwin_lock_poll(&lock, EPWIN_GROUP_JOIN, &join[0]), "not taken");
    held[0] = HOLD;
    do {
        is_served = epwin_lock_poll(&lock, EPWIN_GROUP_SECOND, &second);
        for (unsigned int i = 0; i < JOINERS && !is_served; ++i) {
            if (0 == held[i]) {
                held[i] = epwin_lock_poll(&lock, EPWIN_GROUP_JOIN, &join[i]) ? HOLD + i : 0;
            } else if (0 == --held[i]) {
                epwin_lock_release(&lock, EPWIN_GROUP_FIRST);
            }
        }
    } while (!is_served && ++turn < 1000 * HOLD);
    TAP_CHECK(is_served, "not served in %u turns", turn);
    TAP_EQ(0, atomic_load(&lock.passed));
    tap_case_done();
}

/** Two hold a lock each and join the other one, past waiters that wait for them. */
static void case_join_circle(void)
{
    mca_osc_epwin_lock_t lock[2] = {{0}};
    epwin_lock_wait_t second[2] = {{0}}, join[2] = {{0}};
    bool has_joined[2] = {false};

    tap_case("two that join each other's lock pass its waiter");
    for (int i = 0; i < 2; ++i) {
        TAP_CHECK(epwin_lock_try(&lock[i], EPWIN_GROUP_FIRST), "not taken");
        TAP_CHECK(!epwin_lock_poll(&lock[i], EPWIN_GROUP_SECOND, &second[i]), "both groups");
    }
    for (int turn = 0; turn <= 2 * EPWIN_LOCK_JOIN_POLLS; ++turn) {
        const int i = turn % 2;

        has_joined[i] = has_joined[i] || epwin_lock_poll(&lock[!i], EPWIN_GROUP_JOIN, &join[i]);
    }
    TAP_CHECK(has_joined[0], "the first waits");
    TAP_CHECK(epwin_lock_poll(&lock[0], EPWIN_GROUP_JOIN, &join[1]), "the second waits");
    for (int i = 0; i < 2; ++i) {
        epwin_lock_release(&lock[i], EPWIN_GROUP_FIRST);
        epwin_lock_release(&lock[i], EPWIN_GROUP_FIRST);
        TAP_CHECK(epwin_lock_poll(&lock[i], EPWIN_GROUP_SECOND, &second[i]), "not served");
    }
    tap_case_done();
}

static void case_wrap(void)
{
    tap_case("tickets wrap");
    for (uint32_t i = 0; i < 6; ++i) {
        check_order(EPWIN_GROUP_SECOND, UINT32_MAX - i);
        check_order(EPWIN_GROUP_ALONE, UINT32_MAX - i);
    }
    tap_case_done();
}

/* ---- threads ---------------------------------------------------------------------------------- */

/** What the threads of a case share. */
static struct {
    mca_osc_epwin_lock_t lock;
    epwin_group_t second;
    bool is_lone_first;         /**< the lone thread is of the first group */
    uint64_t rounds;            /**< of each thread */
    uint64_t words[2];          /**< written by holders of ALONE, equal otherwise */
    _Atomic unsigned int in[2]; /**< holders of the first and the other group */
    _Atomic uint64_t holders;   /**< that have been */
    _Atomic bool is_over;
} shared;

/** Take it as the component does.  @return of a waiter: holders since it was the head, else 0 */
static uint64_t lock_take(epwin_group_t group, bool *is_head_p)
{
    epwin_lock_wait_t wait = {0};
    uint64_t before = 0;

    *is_head_p = false;
    if (epwin_lock_try(&shared.lock, group)) {
        return 0;
    }
    while (!epwin_lock_poll(&shared.lock, group, &wait)) {
        /* It may have become the head behind the poll, which then has not set the bit. */
        if (!*is_head_p && 0 != (atomic_load(&shared.lock.word) & EPWIN_LOCK_WAITING)
            && wait.ticket == atomic_load(&shared.lock.serving)) {
            *is_head_p = true;
            before = atomic_load(&shared.holders);
        }
        if (*is_head_p && STARVED < atomic_load(&shared.holders) - before) {
            atomic_store(&shared.is_over, true); /* the check follows when the stream is over */
        }
        (void) sched_yield();
    }
    return *is_head_p ? atomic_load(&shared.holders) - before : 0;
}

static void lock_drop(epwin_group_t group)
{
    atomic_fetch_add_explicit(&shared.holders, 1, memory_order_relaxed);
    epwin_lock_release(&shared.lock, group);
}

/** What a holder sees, and does. */
static void hold(epwin_group_t group, uint64_t *random)
{
    const int mine = EPWIN_GROUP_FIRST != group;

    atomic_fetch_add_explicit(&shared.in[mine], 1, memory_order_relaxed);
    TAP_EQ(0, atomic_load_explicit(&shared.in[!mine], memory_order_relaxed));
    if (EPWIN_GROUP_ALONE == group) {
        TAP_EQ(1, atomic_load_explicit(&shared.in[1], memory_order_relaxed));
        ++shared.words[0];
        tap_pause(random, 64, 1000);
        ++shared.words[1];
    } else {
        TAP_EQ(shared.words[0], shared.words[1]);
        tap_pause(random, 64, 1000);
    }
    atomic_fetch_sub_explicit(&shared.in[mine], 1, memory_order_relaxed);
}

static void *mixed_main(void *argument)
{
    uint64_t random = tap_stream((uintptr_t) argument);
    bool is_head;

    for (uint64_t i = 0; i < shared.rounds; ++i) {
        const epwin_group_t group = 0 == tap_below(&random, 3) ? shared.second : EPWIN_GROUP_FIRST;

        (void) lock_take(group, &is_head);
        hold(group, &random);
        lock_drop(group);
    }
    return NULL;
}

static void run(unsigned int threads, void *(*first)(void *), void *(*others)(void *) )
{
    pthread_t thread[THREADS];

    for (unsigned int i = 0; i < threads; ++i) {
        if (0
            != pthread_create(&thread[i], NULL, 0 == i ? first : others, (void *) (uintptr_t) i)) {
            printf("Bail out! no thread\n");
            exit(99);
        }
    }
    for (unsigned int i = 0; i < threads; ++i) {
        pthread_join(thread[i], NULL);
    }
    TAP_EQ(0, atomic_load(&shared.lock.word));
    TAP_EQ(atomic_load(&shared.lock.next), atomic_load(&shared.lock.serving));
}

static void case_mixed(epwin_group_t second, unsigned int threads)
{
    tap_case("%u threads, first and %s: they exclude each other", threads, group_names[second]);
    memset(&shared, 0, sizeof(shared));
    atomic_store(&shared.lock.next, UINT32_MAX - 100);
    atomic_store(&shared.lock.serving, UINT32_MAX - 100);
    shared.second = second;
    shared.rounds = (TAP_SANITIZED ? 20000 : 40000) / threads;
    run(threads, mixed_main, mixed_main);
    TAP_EQ(shared.rounds * threads, shared.holders);
    TAP_EQ(shared.words[0], shared.words[1]);
    printf("# %u waited\n", atomic_load(&shared.lock.next) - (UINT32_MAX - 100));
    tap_case_done();
}

/** Holds it again and again.  Two of them overlap, so that it is seldom free. */
static void *stream_main(void *argument)
{
    const epwin_group_t group = shared.is_lone_first ? shared.second : EPWIN_GROUP_FIRST;
    uint64_t random = tap_stream((uintptr_t) argument);
    bool is_head;

    while (!atomic_load_explicit(&shared.is_over, memory_order_relaxed)) {
        (void) lock_take(group, &is_head);
        if (0 == tap_below(&random, 2)) {
            (void) sched_yield();
        }
        lock_drop(group);
    }
    return NULL;
}

/** One against a stream: it waits many times, and is passed each time only by those that held the
 * lock, or had counted themselves, when it became the head.  Each thread is one of these at most. */
static void *lone_main(void *argument)
{
    const epwin_group_t group = shared.is_lone_first ? EPWIN_GROUP_FIRST : shared.second;
    const uint64_t waits = TAP_SANITIZED ? 100 : 200;
    uint64_t most = 0;
    bool is_head;

    (void) argument;
    for (uint64_t i = 0; i < waits && !atomic_load(&shared.is_over);) {
        const uint64_t passed = lock_take(group, &is_head);

        i += is_head;
        most = passed > most ? passed : most;
        lock_drop(group);
    }
    atomic_store_explicit(&shared.is_over, true, memory_order_relaxed);
    printf("# passed by %llu at most\n", (unsigned long long) most);
    TAP_CHECK(THREADS - 1 >= most, "passed by %llu, expected at most %d", (unsigned long long) most,
              THREADS - 1);
    return NULL;
}

static void case_stream(epwin_group_t second, bool is_lone_first)
{
    tap_case("%d threads of the %s group in a stream against one of the %s", THREADS - 1,
             group_names[is_lone_first ? second : EPWIN_GROUP_FIRST],
             group_names[is_lone_first ? EPWIN_GROUP_FIRST : second]);
    memset(&shared, 0, sizeof(shared));
    shared.second = second;
    shared.is_lone_first = is_lone_first;
    run(THREADS, lone_main, stream_main);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epwin_lock", TAP_SANITIZED ? 240 : 120);
    case_groups();
    case_order();
    case_join();
    case_join_stream();
    case_join_circle();
    case_wrap();
    for (int i = 0; i < 2; ++i) {
        const epwin_group_t second = 0 == i ? EPWIN_GROUP_SECOND : EPWIN_GROUP_ALONE;

        case_mixed(second, 4);
        case_mixed(second, THREADS);
        case_stream(second, false);
        case_stream(second, true);
    }
    return tap_end();
}
