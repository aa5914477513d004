/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * exit, quick_exit and _exit end the rank, not the process: layer start does that.  What on_exit and
 * at_quick_exit have registered is called then.  What atexit has registered belongs to the copy of the
 * program, as its destructors do: layer image.
 *
 * Tests: ranks_exit, ranks_throw
 */

#define _GNU_SOURCE

#include "state.h"

#include <dlfcn.h>
#include <unistd.h>

void (*mpix_ranks_libc_on_exit)(int status, mpix_ranks_libc_end_t how);

typedef struct mpix_ranks_function_t {
    struct mpix_ranks_function_t *next;
    void (*on_exit)(int status, void *argument);
    void (*at_quick_exit)(void *nothing);
    void *argument;
} function_t;

/** Threads of a rank may register at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int exit_add(function_t **list, function_t function)
{
    function_t *own = malloc(sizeof(*own));

    if (NULL == own) {
        return -1;
    }
    *own = function;
    (void) pthread_mutex_lock(&lock);
    own->next = *list;
    *list = own;
    (void) pthread_mutex_unlock(&lock);
    return 0;
}

/** A function may register another one, which is the next, or call exit, which goes on with the
 * rest. */
static function_t *exit_take(function_t **list)
{
    function_t *first;

    (void) pthread_mutex_lock(&lock);
    first = *list;
    if (NULL != first) {
        *list = first->next;
    }
    (void) pthread_mutex_unlock(&lock);
    return first;
}

void mpix_ranks_libc_exit(mpix_rank_t *rank, int status, mpix_ranks_libc_end_t how)
{
    function_t *function;

    if (MPIX_RANKS_QUICK_EXIT == how) {
        while (NULL != (function = exit_take(&rank->libc->quick_exits))) {
            function->at_quick_exit(NULL);
        }
    } else if (MPIX_RANKS_EXIT == how) {
        /* As libc's exit does for the thread that calls it.  The name is private to glibc. */
        void (*thread_local_destructors)(void) = dlsym(RTLD_DEFAULT, "__call_tls_dtors");

        if (NULL != thread_local_destructors) {
            thread_local_destructors();
        }
        while (NULL != (function = exit_take(&rank->libc->exits))) {
            function->on_exit(status, function->argument);
        }
    }
    if (MPIX_RANKS_EXIT != how) {
        mpix_ranks_streams_drop(rank);
    }
}

MPIX_RANKS_EXPORT int on_exit(void (*function)(int status, void *argument), void *argument)
{
    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(on_exit)(function, argument);
    }
    return exit_add(&mpix_ranks_self->libc->exits,
                    (function_t){.on_exit = function, .argument = argument});
}

MPIX_RANKS_EXPORT int __cxa_at_quick_exit(void (*function)(void *nothing), void *library);

/** What at_quick_exit, which each program has within it, calls. */
int __cxa_at_quick_exit(void (*function)(void *nothing), void *library)
{
    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(__cxa_at_quick_exit)(function, library);
    }
    return exit_add(&mpix_ranks_self->libc->quick_exits, (function_t){.at_quick_exit = function});
}

MPIX_RANKS_EXPORT _Noreturn void exit(int status)
{
    if (NULL != mpix_ranks_self) {
        mpix_ranks_libc_on_exit(status, MPIX_RANKS_EXIT);
    }
    MPIX_RANKS_NEXT(exit)(status);
    __builtin_unreachable();
}

MPIX_RANKS_EXPORT _Noreturn void quick_exit(int status)
{
    if (NULL != mpix_ranks_self) {
        mpix_ranks_libc_on_exit(status, MPIX_RANKS_QUICK_EXIT);
    }
    MPIX_RANKS_NEXT(quick_exit)(status);
    __builtin_unreachable();
}

MPIX_RANKS_EXPORT _Noreturn void _exit(int status)
{
    if (NULL != mpix_ranks_self && !mpix_ranks_libc_is_child()) {
        mpix_ranks_libc_on_exit(status, MPIX_RANKS_NOW_EXIT);
    }
    MPIX_RANKS_NEXT(_exit)(status);
    __builtin_unreachable();
}

MPIX_RANKS_EXPORT _Noreturn void _Exit(int status)
{
    _exit(status);
}
