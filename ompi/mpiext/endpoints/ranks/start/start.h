/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Layer start of libmpix_ranks: from the program's start to its end.  It includes all other layers.
 */

#ifndef MPIX_RANKS_START_H
#define MPIX_RANKS_START_H

#include "../base/base.h"

/** Has the launcher asked for ranks in this process?  By MPIX_RANKS or MPIX_RANKS_TOTAL, which may
 * be empty: then it has not. */
bool mpix_ranks_start_is_asked(void);

/** How many ranks this process has, by MPIX_RANKS; or its share of MPIX_RANKS_TOTAL, which may be
 * none.  The program is refused if they make no sense. */
int mpix_ranks_start_count(void);

/** Before MPI begins, in the first thread: how many cores each of so many ranks has, and
 * OMP_NUM_THREADS by that, unless it is set. */
void mpix_ranks_start_cores_begin(int count);

/** In the rank's thread, before constructors: the thread is bound to the rank's cores. */
void mpix_ranks_start_cores_enter(const mpix_rank_t *rank);

/** Before MPI begins, in the first thread: how malloc works for so many ranks, unless the user has
 * said it. */
void mpix_ranks_start_memory_begin(int count);

/** In the rank's thread, before it allocates: a rank that needs little takes no huge page. */
void mpix_ranks_start_memory_enter(void);

#endif /* MPIX_RANKS_START_H */
