/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the biased lock, ompi/mca/pml/epml/base/pml_epml_biased_lock.h: single cases of which
 * thread gets the bias, and
 *
 *   litmus  two threads that meet at the lock with full store buffers: finds a missing barrier;
 *   stress  more threads than cores, with random delays between the lock's accesses or without.
 *
 * Threads that run in turns: test_epml_lock_walks.c.
 *
 * Guards: pml_epml_biased_lock.h
 */

#include <time.h>

#include "test_epml_lock.h"

/* ---- one thread ----------------------------------------------------------------------------- */

static void case_bias(bool may_bias)
{
    epml_lock_t lock;
    const uintptr_t self = epml_lock_self();

    tap_case("alone: the bias comes after a streak%s", may_bias ? "" : ", or never");
    memset((void *) &lock, 0x5a, sizeof(lock));
    epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
    TAP_CHECK(0 != self, "the number of a thread must not be 0");
    for (int i = 1; i <= 2 * EPML_LOCK_BIAS_AFTER; ++i) {
        const bool biased = may_bias && EPML_LOCK_BIAS_AFTER < i;

        TAP_CHECK(do_op(&lock, (op_t) (i % 2)), "acquisition %d", i);
        TAP_CHECK(biased == lock.by_bias, "acquisition %d: by bias: expected %d", i, biased);
        epml_lock_leave(&lock, may_bias);
    }
    TAP_CHECK(may_bias == biased_to(&lock, self), "biased at the end: expected %d", may_bias);
    TAP_CHECK(epml_lock_try_visit(&lock), "a visit where nobody is in");
    TAP_CHECK(!epml_lock_try_visit(&lock), "a visit where somebody is in");
    TAP_EQ(0, owner_of(&lock));
    epml_lock_leave(&lock, may_bias);
    tap_case_done();
}

static void acquire(epml_lock_t *lock, int times)
{
    for (int i = 0; i < times; ++i) {
        epml_lock_enter(lock);
        epml_lock_leave(lock, true);
    }
}

/** argument: the lock.  Comes as often as wins the bias. */
static void *streak_main(void *argument)
{
    epml_lock_t *lock = argument;

    acquire(lock, EPML_LOCK_BIAS_AFTER - 1);
    TAP_EQ(0, owner_of(lock));
    acquire(lock, 1);
    TAP_CHECK(biased_to(lock, epml_lock_self()), "not biased to the thread that came in a row");
    return NULL;
}

static void case_streak(void)
{
    epml_lock_t lock;
    pthread_t other;

    tap_case("the bias goes to the thread that came in a row, and to no other");
    epml_lock_init(&lock, EPML_LOCK_BIAS_AFTER);
    acquire(&lock, EPML_LOCK_BIAS_AFTER - 1);
    start(&other, streak_main, &lock);
    pthread_join(other, NULL);
    acquire(&lock, EPML_LOCK_BIAS_AFTER - 1);
    TAP_EQ(0, owner_of(&lock));
    acquire(&lock, 1);
    TAP_CHECK(biased_to(&lock, epml_lock_self()), "not biased to the first thread again");
    tap_case_done();
}

/* ---- litmus --------------------------------------------------------------------------------- */

#define COLD_LINES 12

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

typedef struct litmus_t {
    _Alignas(64) epml_lock_t lock;
    _Alignas(64) _Atomic uint64_t mark;
    _Alignas(64) _Atomic uint64_t arrived[2]; /**< rounds; owner and other */
    _Atomic bool stop;
    struct {
        _Alignas(64) _Atomic uint64_t word;
    } cold[COLD_LINES]; /**< the owner's stores wait for these lines from the other's cache */
    uint64_t biased;
    _Atomic uint64_t visits;
    double seconds;
} litmus_t;

/** @return false: the litmus is over */
static bool litmus_meet(litmus_t *litmus, int me, uint64_t round)
{
    /* Release and acquire, both ways: the second thread finds the other ready. */
    atomic_store_explicit(&litmus->arrived[me], round, memory_order_release);
    for (uint32_t spins = 1;
         atomic_load_explicit(&litmus->arrived[1 - me], memory_order_acquire) < round; ++spins) {
        if (atomic_load_explicit(&litmus->stop, memory_order_relaxed)) {
            return false;
        }
        epml_lock_relax();
        if (0 == spins % 1024) {
            sched_yield();
        }
    }
    return true;
}

static void litmus_inside(litmus_t *litmus, uint64_t me)
{
    /* Relaxed: what goes wrong here must not be put in order by the test. */
    atomic_store_explicit(&litmus->mark, me, memory_order_relaxed);
    for (int i = 0; i < 20; ++i) {
        epml_lock_relax();
        TAP_CHECK(me == atomic_load_explicit(&litmus->mark, memory_order_relaxed),
                  "both are in, round %llu", (unsigned long long) litmus->arrived[me]);
    }
}

static void litmus_chill(litmus_t *litmus, uint64_t value)
{
    for (int i = 0; i < COLD_LINES; ++i) {
        atomic_store_explicit(&litmus->cold[i].word, value, memory_order_relaxed);
    }
}

/** Has each come in in its way? */
static bool litmus_has_met(const litmus_t *litmus)
{
    return 0 < litmus->biased && 0 < atomic_load_explicit(&litmus->visits, memory_order_relaxed);
}

static void *litmus_owner(void *argument)
{
    litmus_t *litmus = argument;
    const uintptr_t self = epml_lock_self();
    const double end = now_s() + litmus->seconds;
    uint64_t random = tap_stream(2);

    for (uint64_t round = 1; (now_s() < end || !litmus_has_met(litmus)) && !tap_case_failed();
         ++round) {
        while (!biased_to(&litmus->lock, self)) {
            epml_lock_enter(&litmus->lock);
            epml_lock_leave(&litmus->lock, true);
        }
        litmus_meet(litmus, 0, round);
        for (uint64_t wait = tap_below(&random, 200); 0 < wait; --wait) {
            atomic_signal_fence(memory_order_seq_cst);
        }
        litmus_chill(litmus, round);
        epml_lock_enter(&litmus->lock);
        litmus_inside(litmus, 0);
        litmus->biased += litmus->lock.by_bias;
        epml_lock_leave(&litmus->lock, true);
    }
    atomic_store_explicit(&litmus->stop, true, memory_order_relaxed);
    return NULL;
}

static void *litmus_other(void *argument)
{
    litmus_t *litmus = argument;
    uint64_t random = tap_stream(3), visits = 0;

    for (uint64_t round = 1;; ++round) {
        litmus_chill(litmus, round);
        if (!litmus_meet(litmus, 1, round)) {
            return NULL;
        }
        for (uint64_t wait = tap_below(&random, 400); 0 < wait; --wait) {
            atomic_signal_fence(memory_order_seq_cst);
        }
        if (do_op(&litmus->lock, 0 == round % 2 ? OP_VISIT : OP_TRY)) {
            litmus_inside(litmus, 1);
            /* No read-modify-write: it would order more than the lock does. */
            atomic_store_explicit(&litmus->visits, ++visits, memory_order_relaxed);
            epml_lock_leave(&litmus->lock, true);
        }
    }
}

static void case_litmus(void)
{
    static litmus_t litmus;
    pthread_t owner, other;

    tap_case("litmus: the owner's store and the other's are not both overlooked");
    memset((void *) &litmus, 0, sizeof(litmus));
    litmus.seconds = TAP_SANITIZED ? 0.5 : 1.0;
    epml_lock_init(&litmus.lock, EPML_LOCK_BIAS_AFTER);
    start(&owner, litmus_owner, &litmus);
    start(&other, litmus_other, &litmus);
    pthread_join(owner, NULL);
    pthread_join(other, NULL);
    TAP_CHECK(tap_case_failed() || litmus_has_met(&litmus), "they never met");
    printf("# %llu rounds, owner in by bias %llu, other in %llu\n",
           (unsigned long long) litmus.arrived[0], (unsigned long long) litmus.biased,
           (unsigned long long) atomic_load_explicit(&litmus.visits, memory_order_relaxed));
    tap_case_done();
}

/* ---- stress --------------------------------------------------------------------------------- */

#define WORKERS_MAX 8

/** What the lock protects; nothing else does. */
typedef struct guarded_t {
    uint64_t entries;
    uint64_t words[8]; /**< entries times an odd number each */
    int holders;
    uint64_t by_bias, proper;
} guarded_t;

typedef struct stress_t {
    epml_lock_t lock;
    guarded_t guarded;
    bool may_bias;
    bool mortal; /**< the threads end and are replaced */
    bool hints;  /**< they set how many acquisitions win the bias, whenever they are in */
    int owners;  /**< workers that enter very often, each in its time */
    int workers;
    uint64_t laziness; /**< of the hooks; 0: no hooks */
    uint64_t target;   /**< bias won so many times, or entries / 1000 */
    _Atomic uint64_t won, lost;
    _Atomic bool stop;
} stress_t;

typedef struct worker_t {
    stress_t *stress;
    int index;
    hook_t hook;
    pthread_t thread;
    uint64_t random, entries, lives, reused;
    uintptr_t last;
    bool had;
} worker_t;

static bool stopped(stress_t *stress)
{
    return atomic_load_explicit(&stress->stop, memory_order_relaxed);
}

static void stress_inside(worker_t *worker)
{
    stress_t *stress = worker->stress;
    guarded_t *guarded = &stress->guarded;

    TAP_EQ(0, guarded->holders);
    ++guarded->holders;
    for (uint64_t i = 0; i < 8; ++i) {
        TAP_EQ(guarded->entries * (2 * i + 1), guarded->words[i]);
        guarded->words[i] += 2 * i + 1;
        if (4 == i && 0 == tap_below(&worker->random, 256)) {
            sched_yield();
        }
    }
    if (stress->hints && 0 == tap_below(&worker->random, 64)) {
        epml_lock_set_streak(&stress->lock,
                             0 == tap_below(&worker->random, 2) ? 2 : EPML_LOCK_BIAS_AFTER);
    }
    ++guarded->entries;
    ++*(stress->lock.by_bias ? &guarded->by_bias : &guarded->proper);
    --guarded->holders;
    ++worker->entries;
}

/** One operation, and counts of what became of the bias. */
static void stress_step(worker_t *worker, uintptr_t self)
{
    stress_t *stress = worker->stress;
    const uint64_t dice = tap_below(&worker->random, 8);
    bool has;

    if (do_op(&stress->lock, 6 > dice ? OP_ENTER : 6 == dice ? OP_TRY : OP_VISIT)) {
        stress_inside(worker);
        epml_lock_leave(&stress->lock, stress->may_bias);
    }
    has = biased_to(&stress->lock, self);
    if (has != worker->had) {
        /* Relaxed: counters. */
        atomic_fetch_add_explicit(has ? &stress->won : &stress->lost, 1, memory_order_relaxed);
        worker->had = has;
    }
    if (tap_case_failed()) {
        atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
    }
}

/** Enter very often until the bias has been won and used, or hopeless. */
static void stress_owner(worker_t *worker, uintptr_t self)
{
    const uint64_t steps = 1 + tap_below(&worker->random, 4 * EPML_LOCK_BIAS_AFTER);

    for (uint64_t i = 0; i < steps && !stopped(worker->stress); ++i) {
        if (worker->had && 0 == tap_below(&worker->random, 1024)) {
            sched_yield();
        }
        stress_step(worker, self);
    }
}

static void *worker_life(void *argument)
{
    worker_t *worker = argument;
    stress_t *stress = worker->stress;
    const uintptr_t self = epml_lock_self();

    my_hook = 0 == stress->laziness ? NULL : &worker->hook;
    worker->reused += self == worker->last;
    worker->last = self;
    worker->had = biased_to(&stress->lock, self); /* a thread that ended may leave its bias */
    ++worker->lives;
    do {
        if (worker->index < stress->owners) {
            stress_owner(worker, self);
        }
        if (worker->index >= stress->owners || 0 == tap_below(&worker->random, 16)) {
            usleep((useconds_t) tap_below(&worker->random, 1000));
            stress_step(worker, self);
        }
        if (0 == worker->index
            && stress->target
                   <= (stress->may_bias ? atomic_load(&stress->won) : worker->entries / 1000)) {
            atomic_store_explicit(&stress->stop, true, memory_order_relaxed);
        }
    } while (!stopped(stress) && !stress->mortal);
    return NULL;
}

/** Lives of one worker after another. */
static void *worker_lives(void *argument)
{
    worker_t *worker = argument;

    while (!stopped(worker->stress)) {
        pthread_t thread;

        start(&thread, worker_life, worker);
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void stress_report(stress_t *stress, worker_t *workers)
{
    guarded_t *guarded = &stress->guarded;
    uint64_t entries = 0, lives = 0, reused = 0;

    for (int i = 0; i < stress->workers; ++i) {
        entries += workers[i].entries;
        lives += workers[i].lives;
        reused += workers[i].reused;
    }
    TAP_EQ(entries, guarded->entries);
    TAP_EQ(0, guarded->holders);
    if (stress->may_bias) {
        TAP_CHECK(tap_case_failed() || (0 < guarded->by_bias && 0 < stress->lost),
                  "in by bias %llu times, bias lost %llu times",
                  (unsigned long long) guarded->by_bias, (unsigned long long) stress->lost);
    } else {
        TAP_EQ(0, guarded->by_bias);
        TAP_EQ(0, stress->won);
    }
    printf("# in by bias %llu, proper %llu; bias won %llu, lost %llu; %llu threads, %llu of them "
           "with the number of the last\n",
           (unsigned long long) guarded->by_bias, (unsigned long long) guarded->proper,
           (unsigned long long) stress->won, (unsigned long long) stress->lost,
           (unsigned long long) lives, (unsigned long long) reused);
}

static void case_stress(const char *name, stress_t shape)
{
    static stress_t stress;
    static worker_t workers[WORKERS_MAX];

    tap_case("stress: %s%s", name, shape.may_bias ? "" : ", without bias");
    memset((void *) workers, 0, sizeof(workers));
    memset((void *) &stress, 0, sizeof(stress));
    stress.may_bias = shape.may_bias;
    stress.mortal = shape.mortal;
    stress.hints = shape.hints;
    stress.owners = shape.owners;
    stress.workers = shape.workers;
    stress.laziness = shape.laziness;
    stress.target = shape.target;
    epml_lock_init(&stress.lock, EPML_LOCK_BIAS_AFTER);
    for (int i = 0; i < stress.workers; ++i) {
        workers[i].stress = &stress;
        workers[i].index = i;
        workers[i].random = tap_stream(10 + (uint64_t) i);
        workers[i].hook = (hook_t){.random = tap_stream(50 + (uint64_t) i),
                                   .laziness = stress.laziness};
        start(&workers[i].thread, stress.mortal ? worker_lives : worker_life, &workers[i]);
    }
    for (int i = 0; i < stress.workers; ++i) {
        pthread_join(workers[i].thread, NULL);
    }
    stress_report(&stress, workers);
    tap_case_done();
}

int main(int argc, char **argv)
{
    const uint64_t less = TAP_SANITIZED ? 5 : 1;
    bool can_bias;

    tap_begin(argc, argv, "test_epml_lock", TAP_SANITIZED ? 240 : 120);
    can_bias = epml_lock_setup();
    case_bias(false);
    if (can_bias) {
        case_bias(true);
        case_streak();
        case_litmus();
    } else {
        printf("# no membarrier here: nothing is tested with a bias\n");
    }
    for (int may_bias = 0; may_bias <= (can_bias ? 1 : 0); ++may_bias) {
        case_stress("one owner, seven others", (stress_t){.may_bias = 1 == may_bias,
                                                          .owners = 1,
                                                          .workers = 8,
                                                          .target = 3000 / less});
        case_stress("owners that change", (stress_t){.may_bias = 1 == may_bias,
                                                     .owners = 4,
                                                     .workers = 6,
                                                     .target = 600 / less});
        case_stress("with delays", (stress_t){.may_bias = 1 == may_bias,
                                              .owners = 2,
                                              .workers = 5,
                                              .laziness = 2000,
                                              .target = 300 / less});
        case_stress("levels that change", (stress_t){.may_bias = 1 == may_bias,
                                                     .owners = 3,
                                                     .workers = 6,
                                                     .hints = true,
                                                     .laziness = 2000,
                                                     .target = 300 / less});
        case_stress("threads that end", (stress_t){.may_bias = 1 == may_bias,
                                                   .owners = 3,
                                                   .workers = 5,
                                                   .mortal = true,
                                                   .target = 500 / less});
    }
    return tap_end();
}
