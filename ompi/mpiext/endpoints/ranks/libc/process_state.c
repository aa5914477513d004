/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the kernel keeps for a process or a thread: working directory and umask, which a rank's threads
 * have apart from other ranks' (the kernel allows that to threads of Linux); what stays the process's,
 * with a line where that makes a difference; and the child of a rank's fork, which is that rank.
 *
 * Tests: ranks_directory, ranks_told
 */

#define _GNU_SOURCE

#include "state.h"

#include <errno.h>
#include <locale.h>
#include <sched.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static pid_t process;

/** Whether each rank has a directory and a umask of its own: not where the system forbids
 * unshare. */
static _Atomic bool is_apart = true;

bool mpix_ranks_libc_is_child(void)
{
    return 0 != process && getpid() != process;
}

/** Of libc's, all open streams. */
extern FILE *_IO_list_all;

/** In the child of fork.  A stream with bytes that have not been written is another rank's as likely
 * as the caller's, and its owner will write them: drop them here, or exit would write them twice.
 * There is no other thread, and fork has made libc's locks anew. */
static void on_child(void)
{
    if (NULL == mpix_ranks_self) {
        return;
    }
    for (FILE *file = _IO_list_all; NULL != file; file = file->_chain) {
        if (NULL == mpix_ranks_stream_of(file) && 0 != __fpending(file)) {
            __fpurge(file);
        }
    }
}

void mpix_ranks_process_begin(void)
{
    if (0 == process) {
        process = getpid();
        (void) pthread_atfork(NULL, NULL, on_child);
    }
}

/** A thread that the caller starts later shares with it.  CLONE_FS needs no privilege. */
void mpix_ranks_process_enter(mpix_rank_t *rank)
{
    char name[16];

    /* Without a space: rank 0's thread names the process, and what finds processes in /proc/PID/stat
     * may take the name for one word (Slurm's proctrack/linuxproc). */
    (void) snprintf(name, sizeof(name), "rank-%d", rank->number);
    (void) pthread_setname_np(pthread_self(), name);
    if (mpix_ranks_count > 1 && 0 != unshare(CLONE_FS)) {
        is_apart = false;
    }
}

static bool is_shared(void)
{
    return NULL != mpix_ranks_self && !is_apart && !mpix_ranks_libc_is_child();
}

MPIX_RANKS_EXPORT int chdir(const char *path)
{
    if (is_shared()) {
        MPIX_RANKS_SAY_ONCE(
            "chdir(\"%s\") by rank %d: this system does not let ranks have working "
            "directories of their own (unshare), so it is all ranks' of the process",
            path, mpix_ranks_self->number);
    }
    return MPIX_RANKS_NEXT(chdir)(path);
}

MPIX_RANKS_EXPORT int fchdir(int fd)
{
    if (is_shared()) {
        MPIX_RANKS_SAY_ONCE(
            "fchdir by rank %d: this system does not let ranks have working "
            "directories of their own (unshare), so it is all ranks' of the process",
            mpix_ranks_self->number);
    }
    return MPIX_RANKS_NEXT(fchdir)(fd);
}

MPIX_RANKS_EXPORT mode_t umask(mode_t mask)
{
    const mode_t before = MPIX_RANKS_NEXT(umask)(mask);

    if (is_shared() && before != mask) {
        MPIX_RANKS_SAY_ONCE("umask(0%o) by rank %d: this system does not let ranks have masks of "
                            "their own (unshare), so it is all ranks' of the process",
                            mask, mpix_ranks_self->number);
    }
    return before;
}

/** The locale is the process's.  That ranks set the same is what programs do. */
MPIX_RANKS_EXPORT char *setlocale(int category, const char *locale)
{
    static _Atomic(mpix_rank_t *) setter[LC_IDENTIFICATION + 1];
    mpix_rank_t *rank = mpix_ranks_self;
    char before[256] = "";
    char *now;

    if (NULL == rank || NULL == locale || category < 0 || category > LC_IDENTIFICATION) {
        return MPIX_RANKS_NEXT(setlocale)(category, locale);
    }
    now = MPIX_RANKS_NEXT(setlocale)(category, NULL);
    (void) snprintf(before, sizeof(before), "%s", NULL == now ? "" : now);
    now = MPIX_RANKS_NEXT(setlocale)(category, locale);
    if (NULL != now && 0 != strcmp(before, now)) {
        mpix_rank_t *last = atomic_exchange(&setter[category], rank);

        if (NULL != last && last != rank) {
            MPIX_RANKS_SAY_ONCE(
                "setlocale(%d, \"%s\") by rank %d, after rank %d has set \"%s\": the "
                "locale is all ranks' of the process; use newlocale and uselocale",
                category, locale, rank->number, last->number, before);
        }
    }
    return now;
}

/** A process has one timer that sends SIGALRM. */
static void timer_notice(const char *function)
{
    static _Atomic(mpix_rank_t *) setter;
    mpix_rank_t *rank = mpix_ranks_self;
    mpix_rank_t *last = NULL == rank ? NULL : atomic_exchange(&setter, rank);

    if (NULL != last && last != rank) {
        MPIX_RANKS_SAY_ONCE("%s by rank %d, after rank %d: it is one timer for all ranks of the "
                            "process, and each that has a handler gets its signal",
                            function, rank->number, last->number);
    }
}

MPIX_RANKS_EXPORT unsigned alarm(unsigned seconds)
{
    timer_notice("alarm");
    return MPIX_RANKS_NEXT(alarm)(seconds);
}

MPIX_RANKS_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict time,
                                struct itimerval *restrict before)
{
    if (ITIMER_REAL == which) {
        timer_notice("setitimer");
    }
    return MPIX_RANKS_NEXT(setitimer)(which, time, before);
}
