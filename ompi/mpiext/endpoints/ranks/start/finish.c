/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The end of a rank: by return from main, exit, quick_exit, _exit, pthread_exit of its first thread, in
 * any of its threads, and in a child.
 *
 *  - With status 0, after MPI_Finalize or without MPI, the rank is gone and the others go on.  MPI ends
 *    with the last one.
 *  - With another status, or between MPI_Init and MPI_Finalize, the process ends at once with a line that
 *    names the rank, and the launcher ends the job, as it would for a process.
 *
 * A thread that calls exit calls destructors where it is, with its stack as it was.  The rank's first
 * thread then goes on behind main, by longjmp.  Another one cannot end its rank's other threads: it
 * stops, and they go on until the process ends.
 *
 * Tests: ranks_exit, ranks_throw, ranks_directory
 */

#define _GNU_SOURCE

#include "finish.h"

#include "../image/image.h"
#include "../mpi/mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int left;             /**< how many ranks */
static bool is_first_at_end; /**< the first thread of the process waits for the others */

static _Noreturn void finish_stop(void)
{
    for (;;) {
        (void) pause();
    }
}

/** Only one thread of a rank ends it; that one may call exit again, in a destructor. */
static void finish_claim(mpix_rank_t *rank)
{
    struct mpix_rank_start_t *start = rank->start;
    bool is_ours;

    (void) pthread_mutex_lock(&lock);
    is_ours = !start->is_ending || pthread_equal(start->ending, pthread_self());
    if (is_ours) {
        start->is_ending = true;
        start->ending = pthread_self();
    }
    (void) pthread_mutex_unlock(&lock);
    if (!is_ours) {
        finish_stop();
    }
}

/** The job ends with this process. */
static _Noreturn void end_process(int status)
{
    mpix_ranks_image_end();
    MPIX_RANKS_NEXT(_exit)(status);
    __builtin_unreachable();
}

/** What a process does in exit.  Returns if the rank has ended well. */
static void finish_end(mpix_rank_t *rank, int status, mpix_ranks_libc_end_t how)
{
    const bool is_child = mpix_ranks_libc_is_child();

    status &= 0xff;
    mpix_ranks_libc_exit(rank, status, how);
    if (MPIX_RANKS_EXIT == how) {
        mpix_ranks_image_destruct(rank);
        mpix_ranks_libc_leave(rank);
    }
    if (is_child) {
        /* Without libc's exit: it would call what other ranks and libraries have registered. */
        MPIX_RANKS_NEXT(_exit)(status);
    }
    if (0 != status) {
        mpix_ranks_say("rank %d of %d has ended with status %d", rank->number, rank->size, status);
        end_process(status);
    }
    if (mpix_ranks_mpi_is_running(rank)) {
        mpix_ranks_say("rank %d of %d has ended without MPI_Finalize", rank->number, rank->size);
        end_process(1);
    }
}

static void finish_leave(mpix_rank_t *rank, bool may_join)
{
    bool is_last;

    if (!mpix_ranks_mpi_leave(rank)) {
        mpix_ranks_say("rank %d of %d has ended without MPI_Init, which other ranks have called",
                       rank->number, rank->size);
        end_process(1);
    }
    (void) pthread_mutex_lock(&lock);
    rank->start->has_left = true;
    rank->start->may_join = may_join;
    ++left;
    is_last = left == mpix_ranks_count && !is_first_at_end;
    (void) pthread_cond_broadcast(&changed);
    (void) pthread_mutex_unlock(&lock);
    if (is_last && !pthread_equal(mpix_ranks_all[0].thread, pthread_self())) {
        /* The process's first thread is still in rank 0's program, which another thread has
         * ended. */
        mpix_ranks_self = NULL;
        mpix_ranks_mpi_end();
        exit(0);
    }
}

void mpix_ranks_finish_main(mpix_rank_t *rank, int status)
{
    finish_claim(rank);
    if (!rank->start->has_left) {
        finish_end(rank, status, MPIX_RANKS_EXIT);
        finish_leave(rank, true);
    }
}

void mpix_ranks_finish_exit(int status, mpix_ranks_libc_end_t how)
{
    mpix_rank_t *rank = mpix_ranks_self;
    const bool is_first = pthread_equal(rank->thread, pthread_self());

    if (!mpix_ranks_libc_is_child()) {
        finish_claim(rank);
    }
    finish_end(rank, status, how);
    finish_leave(rank, is_first);
    if (is_first) {
        _longjmp(rank->start->end, 1);
    }
    finish_stop();
}

void mpix_ranks_finish_thread(void *argument)
{
    mpix_rank_t *rank = argument;

    (void) pthread_mutex_lock(&lock);
    while (0 != rank->start->threads) {
        (void) pthread_cond_wait(&changed, &lock);
    }
    (void) pthread_mutex_unlock(&lock);
    mpix_ranks_finish_main(rank, 0);
    if (0 == rank->index) {
        mpix_ranks_self = NULL;
        mpix_ranks_finish_process();
        exit(0);
    }
}

void mpix_ranks_finish_process(void)
{
    (void) pthread_mutex_lock(&lock);
    is_first_at_end = true;
    while (left < mpix_ranks_count) {
        (void) pthread_cond_wait(&changed, &lock);
    }
    (void) pthread_mutex_unlock(&lock);
    for (int i = 1; i < mpix_ranks_count; ++i) {
        if (mpix_ranks_all[i].start->may_join) {
            (void) pthread_join(mpix_ranks_all[i].thread, NULL);
        }
    }
    mpix_ranks_mpi_end();
}

void mpix_ranks_finish_count(mpix_rank_t *rank, int difference)
{
    (void) pthread_mutex_lock(&lock);
    rank->start->threads += difference;
    (void) pthread_cond_broadcast(&changed);
    (void) pthread_mutex_unlock(&lock);
}
