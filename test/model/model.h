/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A protocol between a few threads, for a checker of the C11 memory model or for real threads.
 *
 * A model includes this, then the header under test, and defines MODEL_THREADS, model_setup,
 * model_thread and model_verdict.  Under a checker (MODEL_CHECKER: GenMC) all executions that the
 * memory model allows are explored; otherwise the threads meet again and again, for 0.4 s, under
 * ThreadSanitizer.  See README.md.
 *
 * What the threads of a model share is not static: of a variable that no other file can know, gcc
 * assumes that ThreadSanitizer's atomics, calls that never come back into the file, leave it as it
 * is.
 */

#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the headers include: before the macros below. */
#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdalign.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/** Each model: its threads, by number; before them; after them. */
static void model_setup(void);
static void model_thread(unsigned int number);
static void model_verdict(void);

/** Copies word by word: a checker does not mix sizes of accesses to one place.  One word without a
 * loop, so that what is copied need not be memory. */
static inline void model_copy(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); ++i) {
        ((uint64_t *) to)[i] = ((const uint64_t *) from)[i];
    }
}

static inline void model_clear(void *to, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); ++i) {
        ((uint64_t *) to)[i] = 0;
    }
}

#if defined(MODEL_CHECKER)

#    include <genmc.h>

#    undef memcpy
#    undef memset
#    define memcpy(to, from, size)                                              \
        (8 == (size) ? (void) (*(uint64_t *) (to) = *(const uint64_t *) (from)) \
                     : model_copy((to), (from), (size)))
#    define memset(to, byte, size) model_clear((to), (size))
#    define sched_yield() ((void) 0)
/* No assembly: the headers have portable C for machines that they do not know. */
#    undef __x86_64__
#    undef __i386__
#    undef __aarch64__

/** Wait for something.  An attempt that fails must change nothing: executions in which the first
 * one fails are not followed, as they are like those in which it comes later. */
#    define MODEL_AWAIT(condition) __VERIFIER_assume(condition)

static void *model_run(void *argument)
{
    model_thread((unsigned int) (uintptr_t) argument);
    return NULL;
}

int main(void)
{
    pthread_t thread[MODEL_THREADS];

    model_setup();
    for (unsigned int i = 0; i < MODEL_THREADS; ++i) {
        pthread_create(&thread[i], NULL, model_run, (void *) (uintptr_t) i);
    }
    for (unsigned int i = 0; i < MODEL_THREADS; ++i) {
        pthread_join(thread[i], NULL);
    }
    model_verdict();
    return 0;
}

#else /* real threads */

#    include <stdio.h>

#    undef assert
#    define assert(condition)                                                     \
        do {                                                                      \
            if (!(condition)) {                                                   \
                printf("not ok 1 - %s:%d: %s\n", __FILE__, __LINE__, #condition); \
                exit(1);                                                          \
            }                                                                     \
        } while (0)

#    define MODEL_AWAIT(condition)                                  \
        do {                                                        \
            for (unsigned int spins_ = 1; !(condition); ++spins_) { \
                if (0 == spins_ % 16) {                             \
                    sched_yield();                                  \
                }                                                   \
            }                                                       \
        } while (0)

#    define MODEL_SECONDS 0.4

static _Atomic unsigned long model_round;  /**< the one that may run; 0: none yet */
static _Atomic unsigned int model_through; /**< threads that have been through it */
static _Atomic bool model_over;

/** Not always the same start: some nanoseconds up to some microseconds. */
static void model_delay(unsigned long seed)
{
    static _Atomic unsigned int idle;

    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    for (unsigned long i = (seed >> 33) % ((seed >> 60) + 1) * 16; 0 < i; --i) {
        (void) atomic_load_explicit(&idle, memory_order_relaxed);
    }
}

static void *model_run(void *argument)
{
    const unsigned int number = (unsigned int) (uintptr_t) argument;

    for (unsigned long round = 1;; ++round) {
        /* Acquire and release here and in main: what setup has made, and what verdict sees. */
        MODEL_AWAIT(round == atomic_load_explicit(&model_round, memory_order_acquire)
                    || atomic_load_explicit(&model_over, memory_order_acquire));
        if (atomic_load_explicit(&model_over, memory_order_acquire)) {
            return NULL;
        }
        model_delay(round * MODEL_THREADS + number);
        model_thread(number);
        atomic_fetch_add_explicit(&model_through, 1, memory_order_release);
    }
}

static double model_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

int main(void)
{
    const double end = model_now() + MODEL_SECONDS;
    pthread_t thread[MODEL_THREADS];
    unsigned long round = 0;

    printf("1..1\n");
    for (unsigned int i = 0; i < MODEL_THREADS; ++i) {
        if (0 != pthread_create(&thread[i], NULL, model_run, (void *) (uintptr_t) i)) {
            printf("Bail out! no thread\n");
            return 99;
        }
    }
    do {
        model_setup();
        atomic_store_explicit(&model_through, 0, memory_order_relaxed);
        atomic_store_explicit(&model_round, ++round, memory_order_release);
        MODEL_AWAIT(MODEL_THREADS == atomic_load_explicit(&model_through, memory_order_acquire));
        model_verdict();
    } while (model_now() < end);
    atomic_store_explicit(&model_over, true, memory_order_release);
    for (unsigned int i = 0; i < MODEL_THREADS; ++i) {
        (void) pthread_join(thread[i], NULL);
    }
    printf("ok 1 - %lu rounds of real threads\n", round);
    return 0;
}

#endif

#endif /* TEST_MODEL_H */
