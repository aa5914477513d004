/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Libraries that a rank opens: its own copies.
 */

#ifndef MPIX_RANKS_OPEN_H
#define MPIX_RANKS_OPEN_H

#include "state.h"

/** A library that a rank has opened, with those that it needs. */
struct mpix_ranks_opened_t {
    mpix_ranks_opened_t *next;
    mpix_ranks_set_t set;
    mpix_ranks_loaded_t *loaded;
    int count; /**< how often it is open, and is needed by others that are open */
    bool is_global;
};

/** What the rank has opened by that handle.  NULL: nothing of its own. */
mpix_ranks_opened_t *mpix_ranks_opened_of(const mpix_rank_t *rank, const void *handle);

/** dlopen, dlclose and dlerror of a rank's objects. */
void *mpix_ranks_open(const char *name, int flags);
int mpix_ranks_close(void *handle);
char *mpix_ranks_open_error(void);

/** What the next mpix_ranks_open_error of the thread says. */
void mpix_ranks_open_fail(const char *what, const char *why);

/** Destroy what the rank has not closed, the last one first. */
void mpix_ranks_open_end(mpix_rank_t *rank);

/** What functions the objects find in place of others'; set before there are ranks. */
extern const mpix_ranks_function_t *mpix_ranks_open_functions;

#endif /* MPIX_RANKS_OPEN_H */
