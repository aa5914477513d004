/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that a rank starts are the rank's: MPI, the environment and streams are its own in them.  Its
 * first thread has as much stack as a process has.
 *
 * Guards: threads.c, start.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <threads.h>
#include <time.h>

static int rank;
static int is_threads; /* of one process, by the name of the first */
static sem_t told;
static volatile int seen; /* by a thread that libc has started */

/* 1: the calling thread is the rank's. */
static int is_of_rank(void)
{
    char name[16] = "", expected[16];
    const char *text = getenv("EPT_OWN");

    snprintf(expected, sizeof(expected), "rank-%d", rank);
    pthread_getname_np(pthread_self(), name, sizeof(name));
    return ranks_rank() == rank && NULL != text && atoi(text) == rank
           && (!is_threads || 0 == strcmp(name, expected));
}

static void *posix(void *argument)
{
    pthread_t other;
    void *result = NULL;

    if (NULL == argument) {
        return (void *) (long) is_of_rank();
    }
    return 0 == pthread_create(&other, NULL, posix, NULL) && 0 == pthread_join(other, &result)
                   && NULL != result && is_of_rank()
               ? argument
               : NULL;
}

static int of_c(void *argument)
{
    return NULL != argument && is_of_rank() ? 17 : 0;
}

static void by_timer(union sigval value)
{
    seen = rank == value.sival_int && NULL != getenv("EPT_OWN") && atoi(getenv("EPT_OWN")) == rank
           && ranks_rank() == rank;
    sem_post(&told);
}

static void case_threads(void)
{
    pthread_t threads[8];
    thrd_t thread;
    int result = 0;

    for (int i = 0; i < 8; ++i) {
        CHECK(0 == pthread_create(&threads[i], NULL, posix, threads));
    }
    for (int i = 0; i < 8; ++i) {
        void *end = NULL;

        CHECK(0 == pthread_join(threads[i], &end) && threads == end);
    }
    CHECK(thrd_success == thrd_create(&thread, of_c, &thread));
    CHECK(thrd_success == thrd_join(thread, &result) && 17 == result);
    ranks_case("pthread_create, thrd_create");
}

static void case_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = by_timer};
    const struct itimerspec soon = {.it_value.tv_nsec = 1000};
    timer_t timer;

    event.sigev_value.sival_int = rank;
    sem_init(&told, 0, 0);
    CHECK(0 == timer_create(CLOCK_MONOTONIC, &event, &timer));
    CHECK(0 == timer_settime(timer, 0, &soon, NULL));
    while (0 != sem_wait(&told)) {
    }
    CHECK(1 == seen && 0 == timer_delete(timer));
    ranks_case("a timer's thread");
}

static void case_stack(void)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    size_t size = 0;
    void *stack;

    getrlimit(RLIMIT_STACK, &limit);
    CHECK(0 == pthread_getattr_np(pthread_self(), &attributes));
    CHECK(0 == pthread_attr_getstack(&attributes, &stack, &size));
    CHECK(RLIM_INFINITY == limit.rlim_cur || size + (1 << 16) >= limit.rlim_cur);
    pthread_attr_destroy(&attributes);
    ranks_case("stack");
}

int main(int argc, char **argv)
{
    char text[16], name[16] = "";
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    rank = ranks_rank();
    snprintf(text, sizeof(text), "%d", rank);
    setenv("EPT_OWN", text, 1);
    pthread_getname_np(pthread_self(), name, sizeof(name));
    is_threads = 0 == strncmp(name, "rank-", 5);
    case_threads();
    case_timer();
    case_stack();
    return ranks_end();
}
