/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What a rank's objects register to be called at their end: by atexit, and by C++ for static and
 * thread-local objects.  All of it is called in the rank's thread when the rank ends, the last one
 * first; what an object has registered, when that object is closed.
 */

#ifndef MPIX_RANKS_AT_EXIT_H
#define MPIX_RANKS_AT_EXIT_H

#include "../base/base.h"

typedef void mpix_ranks_handler_function_t(void *argument);

/** The C++ ABI's functions as a rank's objects find them. @return 0, or -1: no memory */
int mpix_ranks_at_exit(mpix_ranks_handler_function_t *function, void *argument, void *object);
int mpix_ranks_at_thread_exit(mpix_ranks_handler_function_t *function, void *argument,
                              void *object);
void mpix_ranks_finalize(void *object);

/** Call all that the rank has registered. */
void mpix_ranks_at_exit_run(mpix_rank_t *rank);

#endif /* MPIX_RANKS_AT_EXIT_H */
