/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How a rank begins and ends: for the files of this folder.
 */

#ifndef MPIX_RANKS_START_FINISH_H
#define MPIX_RANKS_START_FINISH_H

#include "../base/base.h"
#include "../libc/libc.h"

#include <setjmp.h>

/** How a rank begins and ends. */
struct mpix_rank_start_t {
    mpix_ranks_main_t *main;
    int argc;
    char **argv;
    char **envp;
    jmp_buf end; /**< where the rank's first thread goes on after exit */
    /* Under finish.c's lock. */
    int threads;      /**< that the rank has started, and that have not ended */
    bool is_ending;   /**< a thread of the rank is in exit, or has returned from main: */
    pthread_t ending; /**< that one */
    bool has_left;    /**< the rank has ended */
    bool may_join;    /**< so has its first thread, or it will at once */
};

/** The rank's first thread has returned from main with that status, or has been sent there by exit,
 * then the rank has ended already; or ends by pthread_exit. */
void mpix_ranks_finish_main(mpix_rank_t *rank, int status);

/** For layer libc: mpix_ranks_libc_on_exit. */
void mpix_ranks_finish_exit(int status, mpix_ranks_libc_end_t how);

/** pthread_exit unwinds the rank's first thread: the rank goes on until its other threads have
 * ended.  Of index 0 it ends the process, and does not return. */
void mpix_ranks_finish_thread(void *rank);

/** The first thread of the process, with its own rank at the end: wait for the others, end MPI. */
void mpix_ranks_finish_process(void);

/** A rank has started a thread, or one has ended. */
void mpix_ranks_finish_count(mpix_rank_t *rank, int difference);

#endif /* MPIX_RANKS_START_FINISH_H */
