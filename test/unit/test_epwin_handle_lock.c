/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of a window handle's lock, ompi/mca/osc/epwin/base/osc_epwin_handle_lock.h: the first thread has
 * the bias, the second one ends it by one barrier and waits for the owner's section, and threads
 * exclude each other meanwhile and afterwards.
 *
 * Guards: osc_epwin_handle_lock.h
 */

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

/** What the lock does instead of its system calls. */
static long barrier(long number, long command, long flags, long cpu);
/** Between the owner's store and its second look. */
static void between(memory_order order);
#define syscall barrier
#undef atomic_signal_fence
#define atomic_signal_fence between
#include "ompi/mca/osc/epwin/base/osc_epwin_handle_lock.h"
#undef syscall

/* Numbers of threads, where one thread acts for several. */
#define ONE 8
#define TWO 16

static mca_osc_epwin_handle_lock_t lock;
static bool has_barrier;
static _Atomic unsigned int barriers; /* since the beginning of a case */
static bool is_late;                  /* the owner looks while the barrier is under way */
static uint64_t words[2];             /* guarded by the lock; equal */
static pthread_t *to_begin;           /* the second thread, which comes between; NULL: none */
static _Atomic bool has_taken;        /* it has */

static long barrier(long number, long command, long flags, long cpu)
{
    if (MEMBARRIER_CMD_PRIVATE_EXPEDITED == command) {
        atomic_fetch_add(&barriers, 1);
        if (is_late) {
            TAP_CHECK(!epwin_handle_lock_try_section(&lock, ONE), "entered after the bias's end");
        }
    }
    return syscall(number, command, flags, cpu);
}

static void thread_begin(pthread_t *thread, void *(*body)(void *), void *argument)
{
    if (0 != pthread_create(thread, NULL, body, argument)) {
        printf("Bail out! no thread\n");
        exit(99);
    }
}

static void *second_main(void *unused)
{
    epwin_handle_lock_take(&lock, TWO, has_barrier);
    TAP_EQ(words[0], words[1]);
    atomic_store(&has_taken, true);
    epwin_handle_lock_give(&lock);
    return unused;
}

/** Begin the second thread.  It has ended the bias, and the owner is in. */
static void second_begin(pthread_t *thread)
{
    thread_begin(thread, second_main, NULL);
    while (0 == atomic_load(&barriers)) {
        (void) sched_yield();
    }
    for (int i = 0; i < 1000; ++i) {
        (void) sched_yield();
    }
    TAP_CHECK(!atomic_load(&has_taken), "taken while the owner is in");
}

static void between(memory_order order)
{
    pthread_t *thread = to_begin;

    __atomic_signal_fence((int) order);
    if (NULL != thread) {
        to_begin = NULL;
        second_begin(thread);
    }
}

static void begin(void)
{
    to_begin = NULL;
    atomic_store(&has_taken, false);
    memset(&lock, 0, sizeof(lock));
    atomic_store(&barriers, 0);
    is_late = false;
    words[0] = words[1] = 0;
}

/** Take it and give it back. */
static void visit(uintptr_t self)
{
    epwin_handle_lock_take(&lock, self, has_barrier);
    epwin_handle_lock_give(&lock);
}

static bool section(uintptr_t self)
{
    const bool is_in = epwin_handle_lock_try_section(&lock, self);

    TAP_EQ(is_in, atomic_load(&lock.inside));
    if (is_in) {
        epwin_handle_lock_end_section(&lock);
    }
    TAP_CHECK(!atomic_load(&lock.inside), "inside after the end");
    return is_in;
}

static void case_first(void)
{
    tap_case("the first thread has the bias, and no barrier is used for it");
    begin();
    TAP_CHECK(!section(ONE), "a section before the lock was taken");
    visit(ONE);
    for (int i = 0; i < 3; ++i) {
        TAP_EQ(has_barrier, section(ONE));
        TAP_CHECK(!section(TWO), "a section of another thread");
        visit(ONE);
    }
    TAP_CHECK(!lock.is_shared, "is shared with itself");
    TAP_EQ(0, atomic_load(&barriers));
    tap_case_done();
}

static void case_second(void)
{
    tap_case("the second thread ends the bias for good, with one barrier");
    begin();
    visit(ONE);
    is_late = true;
    visit(TWO);
    is_late = false;
    TAP_CHECK(lock.is_shared, "not shared");
    for (int i = 0; i < 300; ++i) {
        TAP_CHECK(!section(ONE) && !section(TWO), "a section after the end of the bias");
        visit(0 == i % 3 ? ONE : TWO);
    }
    TAP_EQ(has_barrier, atomic_load(&barriers));
    tap_case_done();
}

static void case_no_bias(void)
{
    tap_case("no bias where there may be none, and no barrier");
    begin();
    epwin_handle_lock_take(&lock, ONE, false);
    epwin_handle_lock_give(&lock);
    TAP_CHECK(!section(ONE), "a section");
    epwin_handle_lock_take(&lock, TWO, false);
    epwin_handle_lock_give(&lock);
    TAP_CHECK(lock.is_shared, "not shared");
    TAP_EQ(0, atomic_load(&barriers));
    tap_case_done();
}

static void case_turns(void)
{
    tap_case("threads that take turns are owners in turn, without a barrier");
    begin();
    for (int i = 0; i < 6; ++i) {
        const uintptr_t self = 0 == i % 2 ? ONE : TWO;

        epwin_handle_lock_pass(&lock, self);
        TAP_CHECK(section(self), "no section");
        TAP_CHECK(!section(ONE + TWO - self), "a section of the other thread");
    }
    TAP_EQ(0, atomic_load(&barriers));
    tap_case_done();
}

static void case_nested(void)
{
    tap_case("the lock proper is recursive");
    begin();
    for (uint32_t i = 0; i < 3; ++i) {
        epwin_handle_lock_take(&lock, ONE, has_barrier);
        TAP_EQ(i, lock.depth);
    }
    for (uint32_t i = 3; 0 < i; --i) {
        TAP_EQ(ONE, atomic_load(&lock.holder));
        epwin_handle_lock_give(&lock);
    }
    TAP_EQ(0, atomic_load(&lock.holder));
    tap_case_done();
}

/* ---- threads ---------------------------------------------------------------------------------- */

static uintptr_t self(void)
{
    static _Thread_local char mine[8];

    return (uintptr_t) mine;
}

static void case_waits(void)
{
    pthread_t thread;

    tap_case("the second thread waits for the owner's section");
    begin();
    visit(ONE);
    if (has_barrier) {
        TAP_CHECK(epwin_handle_lock_try_section(&lock, ONE), "no section");
        ++words[0];
        second_begin(&thread);
        ++words[1];
        epwin_handle_lock_end_section(&lock);
        pthread_join(thread, NULL);
        TAP_CHECK(atomic_load(&has_taken), "not taken");
    }
    tap_case_done();
}

static void case_between(void)
{
    pthread_t thread;

    tap_case("an owner that has looked before the bias ended looks again");
    begin();
    visit(ONE);
    if (has_barrier) {
        to_begin = &thread;
        TAP_CHECK(!epwin_handle_lock_try_section(&lock, ONE), "entered after the bias's end");
        pthread_join(thread, NULL);
        TAP_CHECK(atomic_load(&has_taken), "not taken");
        TAP_CHECK(!atomic_load(&lock.inside), "inside");
    }
    tap_case_done();
}

static _Atomic unsigned int arrived; /* of the owner: its visits */

/** A guarded access, by a section or under the lock proper. */
static void access_words(uint64_t *random)
{
    const bool is_in = 0 != tap_below(random, 16) && epwin_handle_lock_try_section(&lock, self());

    if (!is_in) {
        epwin_handle_lock_take(&lock, self(), has_barrier);
    }
    TAP_EQ(words[0], words[1]);
    ++words[0];
    tap_pause(random, 8, 50);
    ++words[1];
    if (is_in) {
        epwin_handle_lock_end_section(&lock);
    } else {
        epwin_handle_lock_give(&lock);
    }
}

#define ACCESSES 200

static void *user_main(void *argument)
{
    const uintptr_t number = (uintptr_t) argument;
    uint64_t random = tap_stream(number);
    const unsigned int late = (unsigned int) tap_below(&random, ACCESSES);

    /* The others come while the first one, the owner, uses the lock. */
    while (0 != number % 3 && atomic_load_explicit(&arrived, memory_order_relaxed) < late) {
        (void) sched_yield();
    }
    for (int i = 0; i < ACCESSES; ++i) {
        access_words(&random);
        if (0 == number % 3) {
            atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
        }
    }
    return NULL;
}

static void case_threads(void)
{
    const uintptr_t rounds = TAP_SANITIZED ? 300 : 1000;
    pthread_t thread[3];

    tap_case("three threads, the others come at any time: they exclude each other");
    for (uintptr_t round = 0; round < rounds; ++round) {
        begin();
        atomic_store(&arrived, 0);
        for (uintptr_t i = 0; i < 3; ++i) {
            thread_begin(&thread[i], user_main, (void *) (3 * round + i));
        }
        for (int i = 0; i < 3; ++i) {
            pthread_join(thread[i], NULL);
        }
        TAP_EQ(UINT64_C(3) * ACCESSES, words[0]);
        TAP_EQ(words[0], words[1]);
        TAP_EQ(has_barrier, atomic_load(&barriers));
    }
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epwin_handle_lock", TAP_SANITIZED ? 240 : 120);
    has_barrier = epwin_handle_lock_setup();
    if (!has_barrier) {
        printf("# no membarrier here: nothing is tested with a bias\n");
    }
    case_first();
    case_second();
    case_no_bias();
    case_turns();
    case_nested();
    case_waits();
    case_between();
    case_threads();
    return tap_end();
}
