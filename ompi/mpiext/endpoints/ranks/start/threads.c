/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that a rank starts belong to it: by pthread_create, thrd_create, and a timer's.
 *
 * Tests: ranks_threads, ranks_omp
 */

#define _GNU_SOURCE

#include "finish.h"

#include "../image/image.h"
#include "../mpi/mpi.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

/** What a thread of a rank begins with. */
typedef struct begin_t {
    mpix_rank_t *rank;
    void *(*function)(void *);
    int (*function_of_c)(void *);
    void *argument;
} begin_t;

static begin_t *begin_new(begin_t begin)
{
    begin_t *own = malloc(sizeof(*own));

    if (NULL != own) {
        *own = begin;
        mpix_ranks_finish_count(begin.rank, 1);
    }
    return own;
}

static void begin_free(begin_t *begin)
{
    mpix_ranks_finish_count(begin->rank, -1);
    free(begin);
}

static begin_t begin_take(void *argument)
{
    const begin_t begin = *(begin_t *) argument;

    free(argument);
    mpix_ranks_self = begin.rank;
    mpix_ranks_mpi_enter(begin.rank);
    mpix_ranks_image_enter(begin.rank);
    return begin;
}

static void on_end(void *rank)
{
    mpix_ranks_finish_count(rank, -1);
}

static void *threads_run(void *argument)
{
    const begin_t begin = begin_take(argument);
    void *result;

    pthread_cleanup_push(on_end, begin.rank);
    result = begin.function(begin.argument);
    pthread_cleanup_pop(1);
    return result;
}

static int run_c(void *argument)
{
    const begin_t begin = begin_take(argument);
    int result;

    pthread_cleanup_push(on_end, begin.rank);
    result = begin.function_of_c(begin.argument);
    pthread_cleanup_pop(1);
    return result;
}

MPIX_RANKS_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                     void *(*function)(void *), void *argument)
{
    begin_t *begin;
    int rc;

    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(pthread_create)(thread, attributes, function, argument);
    }
    begin = begin_new((begin_t){mpix_ranks_self, function, NULL, argument});
    if (NULL == begin) {
        return EAGAIN;
    }
    rc = MPIX_RANKS_NEXT(pthread_create)(thread, attributes, threads_run, begin);
    if (0 != rc) {
        begin_free(begin);
    }
    return rc;
}

MPIX_RANKS_EXPORT int thrd_create(thrd_t *thread, int (*function)(void *), void *argument)
{
    begin_t *begin;
    int rc;

    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(thrd_create)(thread, function, argument);
    }
    begin = begin_new((begin_t){mpix_ranks_self, NULL, function, argument});
    if (NULL == begin) {
        return thrd_nomem;
    }
    rc = MPIX_RANKS_NEXT(thrd_create)(thread, run_c, begin);
    if (thrd_success != rc) {
        begin_free(begin);
    }
    return rc;
}

/** A timer's function, which libc calls in a thread that it has started itself, and the value for
 * it.  It is never freed: a timer may be deleted while its function is called. */
typedef struct notice_t {
    mpix_rank_t *rank;
    void (*function)(union sigval value);
    union sigval value;
} notice_t;

static void threads_notify(union sigval value)
{
    const notice_t *notice = value.sival_ptr;

    mpix_ranks_self = notice->rank;
    mpix_ranks_mpi_enter(notice->rank);
    mpix_ranks_image_enter(notice->rank);
    notice->function(notice->value);
}

MPIX_RANKS_EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    struct sigevent ours;
    notice_t *notice;

    if (NULL == mpix_ranks_self || NULL == event || SIGEV_THREAD != event->sigev_notify) {
        return MPIX_RANKS_NEXT(timer_create)(clock, event, timer);
    }
    notice = malloc(sizeof(*notice));
    if (NULL == notice) {
        errno = EAGAIN;
        return -1;
    }
    *notice = (notice_t){mpix_ranks_self, event->sigev_notify_function, event->sigev_value};
    ours = *event;
    ours.sigev_notify_function = threads_notify;
    ours.sigev_value.sival_ptr = notice;
    return MPIX_RANKS_NEXT(timer_create)(clock, &ours, timer);
}
