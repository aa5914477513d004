/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the biased lock, ompi/mca/pml/epml/base/pml_epml_biased_lock.h: how often a bias may end.
 * Each ending is a system call that interrupts all cores of the process, so they are counted: of
 * threads that take turns in streaks of all lengths, of one lock and of many, and of visitors.  The
 * lock's clock is the test's, so a thread that loses its core does not make a bias last.
 *
 * Guards: pml_epml_biased_lock.h
 */

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "tap.h"

static _Atomic uint64_t barriers;

/** Set: the owner of a bias that a visitor is ending comes in at that moment. */
static _Atomic bool *quicker;

static long count_barrier(long rc)
{
    atomic_fetch_add_explicit(&barriers, 1, memory_order_relaxed);
    if (NULL != quicker) {
        atomic_store_explicit(quicker, true, memory_order_relaxed);
    }
    return rc;
}

/** The lock's clock: what the test says. */
static _Atomic uint64_t clock_ns = UINT64_C(1000000000000);

static uint64_t clock_now(void)
{
    return atomic_load_explicit(&clock_ns, memory_order_relaxed);
}

static void clock_forward(uint64_t ns)
{
    atomic_fetch_add_explicit(&clock_ns, ns, memory_order_relaxed);
}

#define EPML_LOCK_CLOCK clock_now
#define syscall(...) count_barrier((syscall) (__VA_ARGS__))
#include "ompi/mca/pml/epml/base/pml_epml_biased_lock.h"
#undef syscall

_Atomic uint64_t epml_lock_endings_until;

/** In which a process may end one bias more. */
#define ENDING_NS (UINT64_C(1000000000) / EPML_LOCK_ENDINGS)
_Static_assert(ENDING_NS < EPML_LOCK_BIAS_WORTH, "a bias of one turn is not worth it");

typedef struct turns_t {
    epml_lock_t *lock;
    int locks, streak;
    uint64_t turns;
    uint64_t turn_ns;      /**< what the clock makes of each */
    _Atomic uint64_t turn; /**< whose: even the first thread's, odd the second's */
} turns_t;

static void take(epml_lock_t *lock, int times)
{
    for (int i = 0; i < times; ++i) {
        epml_lock_enter(lock);
        epml_lock_leave(lock, true);
    }
}

static void take_turns(turns_t *turns, uint64_t me)
{
    for (uint64_t turn = me; turn < turns->turns; turn += 2) {
        while (turn != atomic_load_explicit(&turns->turn, memory_order_acquire)) {
            sched_yield();
        }
        for (int i = 0; i < turns->locks; ++i) {
            take(&turns->lock[i], turns->streak);
        }
        clock_forward(turns->turn_ns);
        atomic_store_explicit(&turns->turn, turn + 1, memory_order_release);
    }
}

static void *second_main(void *argument)
{
    take_turns(argument, 1);
    return NULL;
}

/** Two threads take turns on some locks, one after the other: each takes as long as it takes until
 * one more bias may end, and too short for one to be worth it.  @return number of endings */
static uint64_t run(epml_lock_t *lock, int locks, int streak, uint64_t turns)
{
    turns_t shared = {lock, locks, streak, turns, ENDING_NS, 0};
    const uint64_t before = atomic_load_explicit(&barriers, memory_order_relaxed);
    pthread_t second;

    if (0 != pthread_create(&second, NULL, second_main, &shared)) {
        printf("Bail out! no thread\n");
        exit(99);
    }
    take_turns(&shared, 0);
    pthread_join(second, NULL);
    return atomic_load_explicit(&barriers, memory_order_relaxed) - before;
}

/** How often 256 can be doubled until it is longer than a streak, and once more: then nobody
 * wins. */
static uint64_t doublings(int streak)
{
    uint64_t most = 2;

    for (int needed = EPML_LOCK_BIAS_AFTER; needed <= streak; needed *= 2) {
        ++most;
    }
    return most;
}

static void case_streaks(void)
{
    static const int streaks[] = {200, 300, 1000, 5000};
    static const uint64_t turns[] = {1000, 1000, 1000, 200};

    tap_case("two threads take turns on a lock: it stops winning them");
    for (int i = 0; i < 4; ++i) {
        epml_lock_t lock;
        uint64_t ended;

        atomic_store(&epml_lock_endings_until, 0);
        epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
        ended = run(&lock, 1, streaks[i], turns[i]);
        printf("# streaks of %d, %llu turns: %llu endings\n", streaks[i],
               (unsigned long long) turns[i], (unsigned long long) ended);
        TAP_CHECK(ended <= doublings(streaks[i]),
                  "streaks of %d: %llu endings, expected at most %llu", streaks[i],
                  (unsigned long long) ended, (unsigned long long) doublings(streaks[i]));
    }
    tap_case_done();
}

static void case_many(void)
{
    enum { LOCKS = 400, TURNS = 20 };
    epml_lock_t *lock = calloc(LOCKS, sizeof(*lock));
    uint64_t begun, ended, bound;

    tap_case("many locks: the process has so many endings a second, and no more");
    for (int i = 0; i < LOCKS; ++i) {
        epml_lock_init(&lock[i], 2); /* as mpix_thread_level funneled: won at once */
    }
    atomic_store(&epml_lock_endings_until, 0);
    begun = clock_now();
    ended = run(lock, LOCKS, 10, TURNS);
    /* Those biases that exist when the bound is reached end all the same, one for each lock. */
    bound = EPML_LOCK_ENDINGS_BURST + LOCKS + 1 + (clock_now() - begun) / ENDING_NS;
    printf("# %d locks, %d turns: %llu endings, at most %llu expected\n", LOCKS, TURNS,
           (unsigned long long) ended, (unsigned long long) bound);
    TAP_CHECK(ended <= bound, "%llu endings, expected at most %llu", (unsigned long long) ended,
              (unsigned long long) bound);
    free(lock);
    tap_case_done();
}

/** Ends the bias of this thread's, as if it had lasted so long. */
static void *end_main(void *argument)
{
    take(argument, 1);
    return NULL;
}

static void end_after(epml_lock_t *lock, uint64_t ns)
{
    pthread_t thread;

    take(lock, (int) lock->bias_after);
    TAP_CHECK(0 != atomic_load(&lock->owner), "no bias after %u", lock->bias_after);
    lock->biased_ns -= ns;
    if (0 != pthread_create(&thread, NULL, end_main, lock)) {
        printf("Bail out! no thread\n");
        exit(99);
    }
    pthread_join(thread, NULL);
}

static void case_worth(void)
{
    epml_lock_t lock;

    tap_case("a bias that lasts makes the next one easier again");
    atomic_store(&epml_lock_endings_until, 0);
    epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
    lock.bias_after = EPML_LOCK_BIAS_AFTER * 4;
    end_after(&lock, EPML_LOCK_BIAS_WORTH);
    TAP_EQ(EPML_LOCK_BIAS_AFTER * 2, lock.bias_after);
    end_after(&lock, EPML_LOCK_BIAS_WORTH);
    TAP_EQ(EPML_LOCK_BIAS_AFTER, lock.bias_after);
    end_after(&lock, EPML_LOCK_BIAS_WORTH);
    TAP_EQ(EPML_LOCK_BIAS_AFTER, lock.bias_after);
    lock.bias_after = EPML_LOCK_BIAS_MOST / 2 + 1;
    take(&lock, EPML_LOCK_BIAS_MOST);
    lock.biased_ns = clock_now(); /* has not even begun */
    lock.bias_after = EPML_LOCK_BIAS_MOST / 2 + 1;
    epml_lock_judge(&lock, clock_now());
    TAP_EQ(EPML_LOCK_BIAS_MOST, lock.bias_after);
    tap_case_done();
}

/* As in epml_lock_try_visit: the owner comes in between the visitor's look and the barrier. */
static void case_visits(void)
{
    enum { VISITS = 20000 };
    epml_lock_t lock;
    uintptr_t owner;
    uint64_t begun, ended, bound, before;
    int came_in = 0;

    tap_case("visitors that find that the owner was quicker end a bias so often, and no more");
    atomic_store(&epml_lock_endings_until, 0);
    epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
    take(&lock, EPML_LOCK_BIAS_AFTER);
    owner = atomic_load(&lock.owner);
    TAP_CHECK(0 != owner, "no bias");
    quicker = &lock.inside[owner % EPML_LOCK_SLOTS];
    before = atomic_load(&barriers);
    begun = clock_now();
    for (int i = 0; i < VISITS; ++i) {
        came_in += epml_lock_try_visit(&lock) ? 1 : 0;
        atomic_store(quicker, false);
        clock_forward(ENDING_NS / 100);
    }
    ended = atomic_load(&barriers) - before;
    bound = 2 * EPML_LOCK_ENDINGS_BURST + 1 + (clock_now() - begun) / ENDING_NS;
    printf("# %d visits: %llu endings, at most %llu expected\n", VISITS, (unsigned long long) ended,
           (unsigned long long) bound);
    TAP_EQ(0, came_in);
    TAP_CHECK(0 < ended && ended <= bound, "%llu endings, expected at most %llu",
              (unsigned long long) ended, (unsigned long long) bound);
    TAP_EQ(owner, atomic_load(&lock.owner));
    TAP_EQ(EPML_LOCK_BIAS_AFTER, lock.bias_after); /* it is the same one all the time */
    quicker = NULL;
    /* Threads that win biases leave some endings to visitors. */
    atomic_store(&epml_lock_endings_until,
                 clock_now() + (EPML_LOCK_ENDINGS_BURST + EPML_LOCK_ENDINGS_BURST / 2) * ENDING_NS);
    TAP_CHECK(epml_lock_try_visit(&lock), "a visitor was kept out");
    tap_case_done();
}

static void set_streak(epml_lock_t *lock, uint32_t streak)
{
    epml_lock_enter(lock);
    epml_lock_set_streak(lock, streak);
    epml_lock_leave(lock, true);
}

/** As mpix_thread_level does: for the holder of the lock proper, and for a thread that is in by the
 * bias. */
static void case_streak_set(void)
{
    const int few = 8;
    epml_lock_t lock;

    tap_case("how many acquisitions win the bias changes at any time");
    atomic_store(&epml_lock_endings_until, 0);
    epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
    take(&lock, few);
    TAP_EQ(0, atomic_load(&lock.owner));
    TAP_EQ(0, lock.biases);
    set_streak(&lock, 2);
    TAP_CHECK(0 != atomic_load(&lock.owner), "no bias after %d and 1", few);
    TAP_EQ(1, lock.biases);
    /* From within: it is kept, and the next one takes as long as it did. */
    set_streak(&lock, EPML_LOCK_BIAS_AFTER);
    TAP_CHECK(0 != atomic_load(&lock.owner), "the bias went when the streak was set");
    end_after(&lock, EPML_LOCK_BIAS_WORTH);
    take(&lock, EPML_LOCK_BIAS_AFTER - 1);
    TAP_EQ(0, atomic_load(&lock.owner));
    take(&lock, 1);
    TAP_CHECK(0 != atomic_load(&lock.owner), "no bias after %d", EPML_LOCK_BIAS_AFTER);
    TAP_EQ(2, lock.biases);
    /* What was learned at one level does not hold for another, but for the same it does. */
    lock.bias_after = EPML_LOCK_BIAS_MOST;
    set_streak(&lock, EPML_LOCK_BIAS_AFTER);
    TAP_EQ(EPML_LOCK_BIAS_MOST, lock.bias_after);
    set_streak(&lock, 2);
    TAP_EQ(2, lock.bias_after);
    TAP_EQ(2, lock.bias_least);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_lock_bias", TAP_SANITIZED ? 240 : 120);
    if (!epml_lock_setup()) {
        tap_case("no membarrier here: there is never a bias");
        tap_case_done();
        return tap_end();
    }
    case_streaks();
    case_many();
    case_worth();
    case_visits();
    case_streak_set();
    return tap_end();
}
