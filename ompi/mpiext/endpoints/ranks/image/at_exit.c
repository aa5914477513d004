/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is called when a rank ends: see at_exit.h.  libc's own list is run once, when the process ends;
 * it has what was registered by threads of no rank, and by constructors of libraries before the ranks
 * began.
 *
 * Tests: ranks_at_exit
 */

#define _GNU_SOURCE

#include "at_exit.h"

#include "state.h"

#include <stdlib.h>

/** The C++ ABI's, which no header declares. */
extern int __cxa_atexit(mpix_ranks_handler_function_t *function, void *argument, void *object);
extern int __cxa_thread_atexit_impl(mpix_ranks_handler_function_t *function, void *argument,
                                    void *object);
extern void __cxa_finalize(void *object);

struct mpix_ranks_handler_t {
    mpix_ranks_handler_t *next;
    mpix_ranks_handler_function_t *function;
    void *argument;
    void *object; /**< which has registered it, by an address in it */
};

static int at_exit_add(mpix_rank_t *rank, mpix_ranks_handler_t **list,
                       mpix_ranks_handler_function_t *function, void *argument, void *object)
{
    mpix_ranks_handler_t *handler = malloc(sizeof(*handler));

    if (NULL == handler) {
        return -1;
    }
    (void) pthread_mutex_lock(&rank->image->lock);
    *handler = (mpix_ranks_handler_t){*list, function, argument, object};
    *list = handler;
    (void) pthread_mutex_unlock(&rank->image->lock);
    return 0;
}

int mpix_ranks_at_exit(mpix_ranks_handler_function_t *function, void *argument, void *object)
{
    mpix_rank_t *rank = mpix_ranks_self;

    return NULL == rank ? __cxa_atexit(function, argument, object)
                        : at_exit_add(rank, &rank->image->at_exit, function, argument, object);
}

/** Threads other than the one of main end by themselves. */
int mpix_ranks_at_thread_exit(mpix_ranks_handler_function_t *function, void *argument, void *object)
{
    mpix_rank_t *rank = mpix_ranks_self;

    return NULL == rank || !pthread_equal(rank->thread, pthread_self())
               ? __cxa_thread_atexit_impl(function, argument, object)
               : at_exit_add(rank, &rank->image->at_thread_exit, function, argument, object);
}

/** Call the handlers of an object, or, with NULL, all.  They may register more. */
static void at_exit_run(mpix_rank_t *rank, mpix_ranks_handler_t **list, const void *object)
{
    mpix_ranks_handler_t *handler;

    do {
        mpix_ranks_handler_t **link = list;

        (void) pthread_mutex_lock(&rank->image->lock);
        while (NULL != *link && NULL != object && object != (*link)->object) {
            link = &(*link)->next;
        }
        handler = *link;
        if (NULL != handler) {
            *link = handler->next;
        }
        (void) pthread_mutex_unlock(&rank->image->lock);
        if (NULL != handler) {
            handler->function(handler->argument);
            free(handler);
        }
    } while (NULL != handler);
}

void mpix_ranks_finalize(void *object)
{
    mpix_rank_t *rank = mpix_ranks_self;

    if (NULL != rank) {
        at_exit_run(rank, &rank->image->at_exit, object);
    }
    __cxa_finalize(object);
}

void mpix_ranks_at_exit_run(mpix_rank_t *rank)
{
    at_exit_run(rank, &rank->image->at_thread_exit, NULL);
    at_exit_run(rank, &rank->image->at_exit, NULL);
}
