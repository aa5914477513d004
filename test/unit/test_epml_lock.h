/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the two tests of the biased lock share: the lock's header,
 * ompi/mca/pml/epml/base/pml_epml_biased_lock.h, compiled with a hook before each of its atomic
 * accesses and system calls, and short forms of the lock's calls.
 *
 * A hook delays its thread at random, or lets it run in turns with store buffers modelled.
 * Run both tests under ThreadSanitizer too.
 */

#ifndef EP_TEST_UNIT_TEST_EPML_LOCK_H
#define EP_TEST_UNIT_TEST_EPML_LOCK_H

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "tap.h"

/** Threads of a walk. */
#define ACTORS 4

#define BUFFER_MAX 4

/** What a thread does before each access of the lock. */
typedef struct hook_t {
    uint64_t random;
    uint64_t laziness; /**< stress: one delay in so many accesses */
    bool walks;        /**< walk: give the turn back when the budget is spent */
    uint64_t budget;   /**< accesses left in this turn */
    uint64_t accesses; /**< in this operation */
    sem_t go, back;

    /* A walk's model of a core that stores late, in order (total store order). */
    bool buffers;
    int buffered;
    struct {
        void *object;
        size_t size;
        uintptr_t value;
    } buffer[BUFFER_MAX];
} hook_t;

static _Thread_local hook_t *my_hook;
static hook_t *walkers[ACTORS];

/** Let the oldest stores reach the memory. */
static inline void buffer_drain(hook_t *hook, int count)
{
    for (; 0 < count && 0 < hook->buffered; --count) {
        /* Relaxed is enough: the threads of a walk take turns. */
        if (sizeof(bool) == hook->buffer[0].size) {
            atomic_store_explicit((_Atomic bool *) hook->buffer[0].object,
                                  0 != hook->buffer[0].value, memory_order_relaxed);
        } else {
            atomic_store_explicit((_Atomic uintptr_t *) hook->buffer[0].object,
                                  hook->buffer[0].value, memory_order_relaxed);
        }
        --hook->buffered;
        memmove(&hook->buffer[0], &hook->buffer[1],
                (size_t) hook->buffered * sizeof(hook->buffer[0]));
    }
}

static inline void buffer_store(void *object, size_t size, uintptr_t value)
{
    hook_t *hook = my_hook;

    if (BUFFER_MAX == hook->buffered) {
        buffer_drain(hook, 1);
    }
    hook->buffer[hook->buffered].object = object;
    hook->buffer[hook->buffered].size = size;
    hook->buffer[hook->buffered].value = value;
    ++hook->buffered;
}

/** A thread sees its own stores at once. */
static inline uintptr_t buffer_load(void *object, size_t size)
{
    const hook_t *hook = my_hook;

    for (int i = hook->buffered - 1; 0 <= i; --i) {
        if (object == hook->buffer[i].object) {
            return hook->buffer[i].value;
        }
    }
    return sizeof(bool) == size
               ? atomic_load_explicit((_Atomic bool *) object, memory_order_relaxed)
               : atomic_load_explicit((_Atomic uintptr_t *) object, memory_order_relaxed);
}

static __attribute__((noinline)) void hook_run(hook_t *hook)
{
    if (hook->walks) {
        ++hook->accesses;
        if (0 == hook->budget) {
            sem_post(&hook->back);
            while (0 != sem_wait(&hook->go)) {
            }
        }
        --hook->budget;
        if (0 == tap_below(&hook->random, 3)) {
            buffer_drain(hook, 1);
        }
    } else if (0 == tap_below(&hook->random, hook->laziness)) {
        if (0 == tap_below(&hook->random, 4)) {
            usleep((useconds_t) tap_below(&hook->random, 60));
        } else {
            sched_yield();
        }
    }
}

static inline void at_access(void)
{
    if (__builtin_expect(NULL != my_hook, 0)) {
        hook_run(my_hook);
    }
}

/** Before a load or store.  @return whether it goes by way of the buffer */
static inline bool at_buffered(void)
{
    at_access();
    return __builtin_expect(NULL != my_hook, 0) && my_hook->buffers;
}

/** Before an atomic read-modify-write: it orders the thread's own stores. */
static inline void at_exchange(void)
{
    at_access();
    if (__builtin_expect(NULL != my_hook, 0)) {
        buffer_drain(my_hook, BUFFER_MAX);
    }
}

/** Before the lock's system call, the barrier of all threads. */
static inline void at_membarrier(void)
{
    at_access();
    if (__builtin_expect(NULL != my_hook, 0) && my_hook->buffers) {
        for (int i = 0; i < ACTORS; ++i) {
            buffer_drain(walkers[i], BUFFER_MAX);
        }
    }
}

#pragma push_macro("atomic_load_explicit")
#pragma push_macro("atomic_store_explicit")
#pragma push_macro("atomic_exchange_explicit")
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#if defined(__clang__)
#    define RAW_LOAD __c11_atomic_load
#    define RAW_STORE __c11_atomic_store
#    define RAW_EXCHANGE __c11_atomic_exchange
#else
#    define RAW_LOAD __atomic_load_n
#    define RAW_STORE __atomic_store_n
#    define RAW_EXCHANGE __atomic_exchange_n
#endif
#define atomic_load_explicit(object, order)                            \
    (at_buffered() ? buffer_load((void *) (object), sizeof(*(object))) \
                   : (uintptr_t) RAW_LOAD(object, order))
#define atomic_store_explicit(object, value, order)                            \
    (at_buffered() ? buffer_store((void *) (object), sizeof(*(object)), value) \
                   : (void) RAW_STORE(object, value, order))
#define atomic_exchange_explicit(object, value, order) \
    (at_exchange(), RAW_EXCHANGE(object, value, order))
#define syscall(...) (at_membarrier(), (syscall) (__VA_ARGS__))

/* Biases are to come and go as often as can be; how often they may is test_epml_lock_bias.c's. */
#define EPML_LOCK_BIAS_WORTH 1
#define EPML_LOCK_ENDINGS 1000000000
#include "ompi/mca/pml/epml/base/pml_epml_biased_lock.h"

#undef syscall
#pragma pop_macro("atomic_load_explicit")
#pragma pop_macro("atomic_store_explicit")
#pragma pop_macro("atomic_exchange_explicit")

_Atomic uint64_t epml_lock_endings_until;

/** 0: nobody */
static inline uintptr_t owner_of(epml_lock_t *lock)
{
    return atomic_load_explicit(&lock->owner, memory_order_relaxed);
}

/** The lock may add a little to the number of the thread: they are never that close together. */
static inline bool biased_to(epml_lock_t *lock, uintptr_t self)
{
    return 8 > owner_of(lock) - self;
}

typedef enum op_t { OP_ENTER, OP_TRY, OP_VISIT } op_t;

/** @return whether the lock is held now */
static inline bool do_op(epml_lock_t *lock, op_t op)
{
    switch (op) {
    case OP_TRY:
        return epml_lock_try(lock);
    case OP_VISIT:
        return epml_lock_try_visit(lock);
    default:
        epml_lock_enter(lock);
        return true;
    }
}

static inline void start(pthread_t *thread, void *(*entry)(void *), void *argument)
{
    if (0 != pthread_create(thread, NULL, entry, argument)) {
        printf("Bail out! no thread\n");
        exit(99);
    }
}

#endif /* EP_TEST_UNIT_TEST_EPML_LOCK_H */
