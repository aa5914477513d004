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

/** A rank's own variable of that name, or NULL: mpix_ranks_image_variable. */
typedef void *mpix_ranks_libc_variable_t(mpix_rank_t *rank, const char *name);

/** How a rank ends by exit, quick_exit or _exit. */
typedef enum mpix_ranks_libc_end_t {
    MPIX_RANKS_EXIT,
    MPIX_RANKS_QUICK_EXIT, /**< at_quick_exit's functions only; streams are not written */
    MPIX_RANKS_NOW_EXIT,   /**< _exit: nothing is called, streams are not written */
} mpix_ranks_libc_end_t;

/** In the first thread, with the rank's image loaded and its numbers set, before any rank's thread
 * begins.
 * @return 0, or an errno value */
int mpix_ranks_libc_begin(mpix_rank_t *rank, mpix_ranks_libc_variable_t *variable);

/** The rank's environment, for main. */
char **mpix_ranks_libc_environment(mpix_rank_t *rank);

/** In the rank's thread, before constructors: what belongs to a thread, as its working directory,
 * its name, its alternative stack for signals. */
void mpix_ranks_libc_enter(mpix_rank_t *rank);

/** In a thread of the rank, before destructors: thread-local objects' destructors, and on_exit's
 * functions or at_quick_exit's. */
void mpix_ranks_libc_exit(mpix_rank_t *rank, int status, mpix_ranks_libc_end_t how);

/** In a thread of the rank, after destructors: its output is written. */
void mpix_ranks_libc_leave(mpix_rank_t *rank);

/** Is the calling process a child of the one that has the ranks, made by a rank's fork or vfork? */
bool mpix_ranks_libc_is_child(void);

/** A thread of a rank calls exit, quick_exit or _exit; set by layer start.  It may return if how is
 * MPIX_RANKS_NOW_EXIT: then the process ends. */
extern void (*mpix_ranks_libc_on_exit)(int status, mpix_ranks_libc_end_t how);

#endif /* MPIX_RANKS_LIBC_H */
