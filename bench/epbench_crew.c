/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that stand by and then all call one function: what a thread communicator of many ranks
 * needs.  They sleep while they wait, so that they take no core from what is timed.
 */

#include <pthread.h>
#include <stdlib.h>

#include "epbench.h"

#define STACK_BYTES (256 * 1024)

struct epbench_crew_t {
    pthread_barrier_t begin; /**< of the crew and the caller */
    pthread_barrier_t end;
    void (*work)(void *argument); /**< NULL: go home; written before begin, read after it */
    void *argument;
    int threads;
    pthread_t thread[];
};

static void *crew_main(void *argument)
{
    epbench_crew_t *crew = argument;

    epbench_cores_unpin();
    for (;;) {
        pthread_barrier_wait(&crew->begin);
        if (NULL == crew->work) {
            return NULL;
        }
        crew->work(crew->argument);
        pthread_barrier_wait(&crew->end);
    }
}

epbench_crew_t *epbench_crew_create(int n)
{
    epbench_crew_t *crew = calloc(1, sizeof(*crew) + (size_t) n * sizeof(crew->thread[0]));
    pthread_attr_t attributes;

    if (NULL == crew) {
        epbench_fail("no memory for %d threads", n);
    }
    crew->threads = n;
    pthread_barrier_init(&crew->begin, NULL, (unsigned) n + 1);
    pthread_barrier_init(&crew->end, NULL, (unsigned) n + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int i = 0; i < n; ++i) {
        if (0 != pthread_create(&crew->thread[i], &attributes, crew_main, crew)) {
            epbench_fail("cannot start thread %d of %d", i, n);
        }
    }
    pthread_attr_destroy(&attributes);
    return crew;
}

void epbench_crew_work(epbench_crew_t *crew, void (*work)(void *argument), void *argument)
{
    crew->work = work;
    crew->argument = argument;
    pthread_barrier_wait(&crew->begin);
    work(argument);
    pthread_barrier_wait(&crew->end);
}

void epbench_crew_free(epbench_crew_t *crew)
{
    crew->work = NULL;
    pthread_barrier_wait(&crew->begin);
    for (int i = 0; i < crew->threads; ++i) {
        pthread_join(crew->thread[i], NULL);
    }
    pthread_barrier_destroy(&crew->begin);
    pthread_barrier_destroy(&crew->end);
    free(crew);
}
