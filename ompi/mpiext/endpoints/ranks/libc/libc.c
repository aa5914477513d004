/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * State that libc keeps per process and a rank has to itself.
 *
 * Tests: ranks_basic
 */

#define _GNU_SOURCE

#include "libc.h"

#include <stdio.h>
#include <stdlib.h>

void (*mpix_ranks_libc_on_exit)(int status, bool is_quick);

int mpix_ranks_libc_begin(mpix_rank_t *rank)
{
    (void) rank;
    return 0;
}

void mpix_ranks_libc_enter(mpix_rank_t *rank)
{
    char name[16];

    (void) snprintf(name, sizeof(name), "rank %d", rank->number);
    (void) pthread_setname_np(pthread_self(), name);
}

void mpix_ranks_libc_leave(mpix_rank_t *rank)
{
    (void) rank;
    (void) fflush(NULL);
}

MPIX_RANKS_EXPORT _Noreturn void exit(int status)
{
    if (NULL != mpix_ranks_self) {
        mpix_ranks_libc_on_exit(status, false);
    }
    MPIX_RANKS_NEXT(exit)(status);
    __builtin_unreachable();
}
