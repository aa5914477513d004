/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a rank is, which one the calling thread belongs to, and how a program is refused.
 *
 * Tests: ranks_basic
 */

#define _GNU_SOURCE

#include "base.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__thread mpix_rank_t *mpix_ranks_self;
mpix_rank_t *mpix_ranks_all;
int mpix_ranks_count;

/** Relaxed: every thread finds the same address. */
void *mpix_ranks_next(const char *name, void *_Atomic *cache)
{
    void *next = atomic_load_explicit(cache, memory_order_relaxed);

    if (NULL == next) {
        next = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(cache, next, memory_order_relaxed);
    }
    return next;
}

_Noreturn void mpix_ranks_refuse(const char *format, ...)
{
    const char *process = getenv("OMPI_COMM_WORLD_RANK");
    va_list list;

    /* All processes of the job have the same reason, as a rule, and the launcher ends them when the
     * first one, which says it, has ended. */
    if (NULL != process && 0 != strcmp(process, "0")) {
        (void) sleep(5);
    }
    va_start(list, format);
    (void) fprintf(stderr, "epmpirun -ranks: ");
    (void) vfprintf(stderr, format, list);
    (void) fputc('\n', stderr);
    va_end(list);
    _exit(1);
}
