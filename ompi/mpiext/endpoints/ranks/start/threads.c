/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that a rank starts belong to it.
 *
 * Tests: ranks_basic, ranks_omp
 */

#define _GNU_SOURCE

#include "../base/base.h"
#include "../image/image.h"
#include "../mpi/mpi.h"

#include <errno.h>
#include <stdlib.h>

typedef struct start_t {
    mpix_rank_t *rank;
    void *(*function)(void *);
    void *argument;
} start_t;

static void *run(void *argument)
{
    const start_t start = *(start_t *) argument;

    free(argument);
    mpix_ranks_self = start.rank;
    mpix_ranks_mpi_enter(start.rank);
    mpix_ranks_image_enter(start.rank);
    return start.function(start.argument);
}

MPIX_RANKS_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                     void *(*function)(void *), void *argument)
{
    start_t *start;
    int rc;

    if (NULL == mpix_ranks_self) {
        return MPIX_RANKS_NEXT(pthread_create)(thread, attributes, function, argument);
    }
    start = malloc(sizeof(*start));
    if (NULL == start) {
        return EAGAIN;
    }
    *start = (start_t){mpix_ranks_self, function, argument};
    rc = MPIX_RANKS_NEXT(pthread_create)(thread, attributes, run, start);
    if (0 != rc) {
        free(start);
    }
    return rc;
}
