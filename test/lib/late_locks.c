/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that are held up, now and then, on their way to a lock, as a scheduler may do it:
 * preloaded in front of libc by tests (LD_PRELOAD).  What a thread looked at before the lock is old
 * by then.  Which locks it meets depends on LATE_LOCKS_SEED, and on the order of the calls.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum {
    ONE_IN = 100, /* locks that is taken late */
    LATE_NS = 100000
};

typedef int (*lock_fn_t)(pthread_mutex_t *mutex);

static _Atomic(lock_fn_t) original;
static atomic_uint_least64_t random_state;

static void begin(void)
{
    const char *seed = getenv("LATE_LOCKS_SEED");

    atomic_store(&random_state, NULL != seed ? strtoull(seed, NULL, 0) : 1);
    atomic_store(&original, (lock_fn_t) dlsym(RTLD_NEXT, "pthread_mutex_lock"));
}

/** splitmix64; the threads share the stream. */
static uint64_t random_next(void)
{
    uint64_t z = atomic_fetch_add(&random_state, UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (NULL == atomic_load(&original)) {
        begin(); /* by several threads perhaps, to the same end */
    }
    if (0 == random_next() % ONE_IN) {
        (void) nanosleep(&(struct timespec){.tv_nsec = LATE_NS}, NULL);
    }
    return atomic_load(&original)(mutex);
}
