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
    va_list list;

    va_start(list, format);
    (void) fprintf(stderr, "epmpirun -ranks: ");
    (void) vfprintf(stderr, format, list);
    (void) fputc('\n', stderr);
    va_end(list);
    _exit(1);
}
