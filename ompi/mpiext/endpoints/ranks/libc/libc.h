/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Layer libc of libmpix_ranks: state that libc keeps per process and a rank has to itself.  Its
 * functions stand before libc's; in a thread of no rank they hand on.
 */

#ifndef MPIX_RANKS_LIBC_H
#define MPIX_RANKS_LIBC_H

#include "../base/base.h"

/** In the first thread, with the rank's image loaded, before any rank's thread begins.
 * @return 0, or an errno value */
int mpix_ranks_libc_begin(mpix_rank_t *rank);

/** In the rank's thread, before constructors: what belongs to a thread, as its working directory, its
 * name, its cores. */
void mpix_ranks_libc_enter(mpix_rank_t *rank);

/** In the rank's thread, after destructors: its output is written. */
void mpix_ranks_libc_leave(mpix_rank_t *rank);

/** How a rank ends by exit, quick_exit or _exit; set by layer start.  is_quick: without destructors
 * and atexit's functions. */
extern void (*mpix_ranks_libc_on_exit)(int status, bool is_quick);

#endif /* MPIX_RANKS_LIBC_H */
