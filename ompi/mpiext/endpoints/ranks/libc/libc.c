/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * State that libc keeps per process and a rank has to itself: its beginning and its end.  What it is,
 * and how each function is led to it, is in the other files; docs/ranks-libc.md has the table.
 *
 * Tests: ranks_basic, ranks_stdio, ranks_getopt, ranks_random, ranks_results, ranks_environment, ranks_exit
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>

int mpix_ranks_libc_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable)
{
    rank->libc = calloc(1, sizeof(*rank->libc));
    if (NULL == rank->libc) {
        return ENOMEM;
    }
    mpix_ranks_process_begin();
    mpix_ranks_streams_begin(rank, variable);
    mpix_ranks_getopt_begin(rank, variable);
    mpix_ranks_random_begin(rank);
    mpix_ranks_results_begin(rank, variable);
    mpix_ranks_environment_begin(rank, variable);
    mpix_ranks_signals_begin(rank);
    return 0;
}

void mpix_ranks_libc_enter(mpix_rank_t *rank)
{
    mpix_ranks_process_enter(rank);
    mpix_ranks_signals_enter(rank);
}

void mpix_ranks_libc_leave(mpix_rank_t *rank)
{
    atomic_store_explicit(&rank->libc->is_running, false, memory_order_release);
    /* Files that the program has not closed: of all ranks, as libc does not know a file's rank. */
    (void) mpix_ranks_streams_flush_all();
    mpix_ranks_streams_flush(rank);
}
