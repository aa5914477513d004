/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The order that OpenMP makes in programs of gcc's: libgomp is not instrumented either.  Teams, barriers,
 * critical regions and simple locks; loops and sections that end with a barrier; no tasks.  Linked into
 * programs that call one of these functions; with another OpenMP library there are none.
 *
 * Tests: install/tsan
 */

#include "tsan_order.h"

#include <dlfcn.h>
#include <stddef.h>

/** Defines "real", the function that libgomp has of this name. */
#define REAL(name) __typeof__(&name) const real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

/** Only its address is used: barriers of all teams. */
static char barriers;

/** A parallel region. */
typedef struct region_t {
    void (*function)(void *data);
    void *data;
} region_t;

/** What each thread of the team runs. */
static void region_run(void *argument)
{
    region_t *region = argument;

    mpix_tsan_acquire(region);
    region->function(region->data);
    mpix_tsan_release(region);
}

/** Define a function that runs a region by a team; parameters, arguments: those behind the number of
 * threads. */
#define TEAM(name, parameters, arguments)                                                   \
    void name(void (*function)(void *), void *data, unsigned int threads, LIST parameters); \
    void name(void (*function)(void *), void *data, unsigned int threads, LIST parameters)  \
    {                                                                                       \
        region_t region = {.function = function, .data = data};                             \
        REAL(name);                                                                         \
                                                                                            \
        mpix_tsan_release(&region);                                                         \
        real(region_run, &region, threads, LIST arguments);                                 \
        mpix_tsan_acquire(&region);                                                         \
    }
#define LIST(...) __VA_ARGS__
#define LOOP (long start, long end, long step, long chunk, unsigned int flags)
#define LOOP_ARGUMENTS (start, end, step, chunk, flags)
#define LOOP_OF_RUNTIME (long start, long end, long step, unsigned int flags)
#define LOOP_OF_RUNTIME_ARGUMENTS (start, end, step, flags)

TEAM(GOMP_parallel, (unsigned int flags), (flags))
TEAM(GOMP_parallel_sections, (unsigned int sections, unsigned int flags), (sections, flags))
TEAM(GOMP_parallel_loop_static, LOOP, LOOP_ARGUMENTS)
TEAM(GOMP_parallel_loop_dynamic, LOOP, LOOP_ARGUMENTS)
TEAM(GOMP_parallel_loop_guided, LOOP, LOOP_ARGUMENTS)
TEAM(GOMP_parallel_loop_nonmonotonic_dynamic, LOOP, LOOP_ARGUMENTS)
TEAM(GOMP_parallel_loop_nonmonotonic_guided, LOOP, LOOP_ARGUMENTS)
TEAM(GOMP_parallel_loop_runtime, LOOP_OF_RUNTIME, LOOP_OF_RUNTIME_ARGUMENTS)
TEAM(GOMP_parallel_loop_nonmonotonic_runtime, LOOP_OF_RUNTIME, LOOP_OF_RUNTIME_ARGUMENTS)
TEAM(GOMP_parallel_loop_maybe_nonmonotonic_runtime, LOOP_OF_RUNTIME, LOOP_OF_RUNTIME_ARGUMENTS)

#define BARRIER(name)                 \
    void name(void);                  \
    void name(void)                   \
    {                                 \
        REAL(name);                   \
                                      \
        mpix_tsan_release(&barriers); \
        real();                       \
        mpix_tsan_acquire(&barriers); \
    }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)

/** A lock's two functions; key: by which it is known. */
#define LOCK(start, end, parameters, arguments, key) \
    void start parameters;                           \
    void start parameters                            \
    {                                                \
        REAL(start);                                 \
                                                     \
        real arguments;                              \
        mpix_tsan_acquire(key);                      \
    }                                                \
    void end parameters;                             \
    void end parameters                              \
    {                                                \
        REAL(end);                                   \
                                                     \
        mpix_tsan_release(key);                      \
        real arguments;                              \
    }
static char critical, atomic;
LOCK(GOMP_critical_start, GOMP_critical_end, (void), (), &critical)
LOCK(GOMP_critical_name_start, GOMP_critical_name_end, (void **lock), (lock), lock)
LOCK(GOMP_atomic_start, GOMP_atomic_end, (void), (), &atomic)
LOCK(omp_set_lock, omp_unset_lock, (void *lock), (lock), lock)
