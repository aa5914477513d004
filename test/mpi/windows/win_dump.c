/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What window handles wait for, as a dump of queues shows it.  In each process one rank keeps the
 * others waiting until the text says so.
 *
 * Guards: osc_epwin_am_describe.c
 */

#define _GNU_SOURCE

#include "dump_text.h"
#include "win_tools.h"
#include "word.h"

/** Until so many lines of a dump contain all that. */
static void look(MPI_Comm comm, struct ept *t, int wanted, const char *line)
{
    int seen = 0;

    ept_phase(t, "%s", line);
    while (seen < wanted) {
        char *text = dump(t, comm, ALL);

        seen = lines_with(text, "%s", line);
        free(text);
    }
}

/** A rank of this process. */
static int rank_here(const struct ept *t, int local)
{
    return t->proc * t->nlocal + local;
}

static void case_lock(MPI_Comm comm, struct ept *t)
{
    const int target = rank_here(t, 0);
    int64_t *words;
    MPI_Win win = win_new(comm, t, WIN_CREATED, &words);

    if (0 == t->local) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    }
    ept_local_barrier(t);
    if (0 == t->local) {
        look(comm, t, t->nlocal - 1,
             "window, access epoch of MPI_Win_lock, waits for a lock that others hold");
    } else {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    }
    EPT_OK(t, MPI_Win_unlock(target, win));
    win_end(t, &win, WIN_CREATED, words);
}

/** The first rank of a process. */
static MPI_Group first_here(MPI_Comm comm, struct ept *t)
{
    const int first = rank_here(t, 0);
    MPI_Group all, group;

    EPT_OK(t, MPI_Comm_group(comm, &all));
    EPT_OK(t, MPI_Group_incl(all, 1, &first, &group));
    EPT_OK(t, MPI_Group_free(&all));
    return group;
}

/** The other ones. */
static MPI_Group others_here(MPI_Comm comm, struct ept *t)
{
    int range[1][3] = {{rank_here(t, 1), rank_here(t, t->nlocal - 1), 1}};
    MPI_Group all, group;

    EPT_OK(t, MPI_Comm_group(comm, &all));
    EPT_OK(t, MPI_Group_range_incl(all, 1, range, &group));
    EPT_OK(t, MPI_Group_free(&all));
    return group;
}

static void case_start(MPI_Comm comm, struct ept *t)
{
    MPI_Group group = 0 == t->local ? others_here(comm, t) : first_here(comm, t);
    char line[100];
    int64_t *words;
    MPI_Win win = win_new(comm, t, WIN_CREATED, &words);

    (void) snprintf(line, sizeof(line), "waits for MPI_Win_post of rank %d", rank_here(t, 0));
    if (0 == t->local) {
        look(comm, t, t->nlocal - 1, line);
        EPT_OK(t, MPI_Win_post(group, 0, win));
        EPT_OK(t, MPI_Win_wait(win));
    } else {
        EPT_OK(t, MPI_Win_start(group, 0, win));
        EPT_OK(t, MPI_Win_complete(win));
    }
    EPT_OK(t, MPI_Group_free(&group));
    win_end(t, &win, WIN_CREATED, words);
}

static void case_wait(MPI_Comm comm, struct ept *t)
{
    MPI_Group group = 0 == t->local ? others_here(comm, t) : first_here(comm, t);
    int64_t *words;
    MPI_Win win = win_new(comm, t, WIN_CREATED, &words);

    if (0 == t->local) {
        EPT_OK(t, MPI_Win_start(group, 0, win));
        look(comm, t, t->nlocal - 1, "window, no access epoch, waits for MPI_Win_complete of its");
        EPT_OK(t, MPI_Win_complete(win));
    } else {
        EPT_OK(t, MPI_Win_post(group, 0, win));
        EPT_OK(t, MPI_Win_wait(win));
    }
    EPT_OK(t, MPI_Group_free(&group));
    win_end(t, &win, WIN_CREATED, words);
}

/** Operations on memory of the last process, of which no thread is in MPI. */
static void case_answers(MPI_Comm comm, struct ept *t)
{
    const int target = t->size - 1;
    const int64_t one = 1;
    int64_t *words, got[2];
    char line[100];
    MPI_Win win = win_new(comm, t, WIN_CREATED, &words);

    (void) snprintf(line, sizeof(line),
                    "access epoch of MPI_Win_lock_all, waits for answers of rank %d; rank %d: ",
                    target, target);
    EPT_OK(t, MPI_Win_lock_all(0, win));
    EPT_OK(t, MPI_Barrier(comm));
    if (1 == t->nprocs) {
        ept_phase(t, "all memory is mapped");
    } else if (t->proc == t->nprocs - 1) {
        word_await("seen");
    } else if (0 == t->proc && 0 == t->local) {
        look(comm, t, t->nlocal - 1, line);
        look(comm, t, t->nlocal - 1, "bytes not confirmed, 16 of results to come");
        word_say("seen");
    } else if (0 == t->proc) {
        EPT_OK(t, win_put(win, &one, 1, target, t->local));
        EPT_OK(t, win_get(win, got, 2, target, 40));
        EPT_OK(t, MPI_Win_flush(target, win));
    }
    EPT_OK(t, MPI_Win_unlock_all(win));
    win_end(t, &win, WIN_CREATED, words);
}

/** Nothing is said of a window that waits for nothing. */
static void case_quiet(MPI_Comm comm, struct ept *t)
{
    int64_t *words;
    MPI_Win win = win_new(comm, t, WIN_CREATED, &words);

    EPT_OK(t, MPI_Win_lock_all(0, win));
    EPT_OK(t, win_put(win, &(int64_t){1}, 1, (t->rank + 1) % t->size, 1));
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        char *text = dump(t, comm, ALL);

        LINES(t, 0, text, "    window, ");
        free(text);
    }
    EPT_OK(t, MPI_Barrier(comm));
    win_end(t, &win, WIN_CREATED, words);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_lock);
    EPT_CASE(t, case_start);
    EPT_CASE(t, case_wait);
    EPT_CASE(t, case_answers);
    EPT_CASE(t, case_quiet);
    return 0;
}
