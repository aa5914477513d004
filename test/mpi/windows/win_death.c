/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process dies while the others wait for it in a call of windows: flush, unlock, lock, fence,
 * start, complete, wait, the wait for a request, creation, free.  One process after the other dies,
 * the last one first, each in another call; those that are left make a communicator and a window
 * of their own before each.
 *
 * A survivor's call ends with MPI_ERR_PROC_FAILED, or, where it needs nothing of the dead, with
 * success: see the table ways.  A fence afterwards fails with MPI_ERR_PROC_FAILED at all, the
 * window's error handler has heard each error, and the window can be freed.
 *
 *   --ep N      endpoints of each process
 *   --first N   the first of the ways
 *
 * The program speaks TAP, process 0 for all; the launcher tells the survivors of each death.
 *
 * EPT-PARTS: win_death_ways.c
 *
 * Guards: osc_epwin_lock.c, osc_epwin_flush.c, osc_epwin_fence.c, osc_epwin_pscw.c, osc_epwin_free.c,
 * osc_epwin_create.c, osc_epwin_am_link.c, osc_epwin_am_hold.c, osc_epwin_am_result.c,
 * osc_epwin_accumulate_lock.c
 */

#include "faults/death_rounds.h"
#include "win_death.h"
#include "word.h"

enum { DIE_MS = 30 };

static atomic_int begun; /**< members of this process that are to die */
static atomic_int failures;

static _Thread_local int heard, heard_class; /**< errors of the round's window */

static void on_error(MPI_Win *win, int *code, ...)
{
    (void) win;
    ++heard;
    MPI_Error_class(*code, &heard_class);
}

/** That all members which die have left MPI, or are in the call in which they die. */
static const char *word_of(int round, char word[32])
{
    (void) snprintf(word, 32, "begun.%d", round);
    return word;
}

static const win_way_t *way_of(int round)
{
    return &win_ways[(first + round) % win_way_count];
}

static void fail(const member_t *m, int round, const char *what, int class)
{
    atomic_fetch_add(&failures, 1);
    printf("not ok - %s, rank %d of %d (process %d): %s, class %d\n", way_of(round)->name, m->rank,
           m->size, process, what, class);
    fflush(stdout);
}

/** The round's window. */
static void open_window(member_t *m, bool is_created)
{
    const MPI_Aint bytes = WIN_WORDS * sizeof(*m->words);
    MPI_Errhandler handler;

    if (is_created) {
        m->words = m->own;
        MPI_Win_create(m->words, bytes, sizeof(*m->words), MPI_INFO_NULL, m->comm, &m->win);
    } else {
        MPI_Win_allocate(bytes, sizeof(*m->words), MPI_INFO_NULL, m->comm, &m->words, &m->win);
    }
    MPI_Win_create_errhandler(on_error, &handler);
    MPI_Win_set_errhandler(m->win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_get_group(m->win, &m->all);
    heard = 0;
}

/** Does this process map a member's memory? */
static bool is_mapped(const member_t *m, int rank)
{
    MPI_Aint size;
    void *base;
    int unit;

    MPI_Win_shared_query(m->win, rank, &size, &unit, &base);
    return NULL != base;
}

static void survive(member_t *m, int round)
{
    const win_way_t *way = way_of(round);
    const bool must = way->must
                      || (is_mapped(m, m->dead) ? way->must_mapped : way->must_by_message);
    char word[32];
    int rc, next;

    word_await(word_of(round, word));
    rc = class_of(way->survive(m));

    if (MPI_ERR_PROC_FAILED != rc && (must || MPI_SUCCESS != rc)) {
        fail(m, round, "the call ends so", rc);
    }
    if (MPI_WIN_NULL != m->win) {
        if (MPI_SUCCESS != rc && !way->is_of_comm
            && (1 > heard || MPI_ERR_PROC_FAILED != heard_class)) {
            fail(m, round, "the window's handler has heard something else", heard_class);
        }
        next = class_of(MPI_Win_fence(0, m->win));
        if (MPI_ERR_PROC_FAILED != next) {
            fail(m, round, "a fence ends so", next);
        }
        next = class_of(MPI_Win_free(&m->win));
        if (MPI_SUCCESS != next || MPI_WIN_NULL != m->win) {
            fail(m, round, "free ends so", next);
        }
    }
    next = class_of(MPI_Barrier(m->comm));
    if (MPI_ERR_PROC_FAILED != next) {
        fail(m, round, "a barrier ends so", next);
    }
}

static void one_round(MPI_Comm world, member_t *m, int round)
{
    const win_way_t *way = way_of(round);
    const int dies = processes - 1 - round;

    m->comm = rounds_comm(world, (processes - round) * endpoints, round);
    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->size);
    m->local = m->rank % endpoints;
    m->first_dead = m->size - endpoints;
    m->dead = m->first_dead + m->local;
    atomic_store(&doing, way->name);
    open_window(m, way->is_created);
    MPI_Barrier(m->comm);
    if (process == dies) {
        way->prepare(m);
        MPI_Barrier(m->comm);
        atomic_fetch_add(&begun, 1);
        way->perish(m);
        for (;;) {
            (void) pause();
        }
    }
    MPI_Barrier(m->comm);
    survive(m, round);
    MPI_Group_free(&m->all);
    MPI_Comm_free(&m->comm);
    if (0 == process && 0 == m->local) {
        printf("%s %d - %s, %d ranks\n", 0 == atomic_load(&failures) ? "ok" : "not ok", round + 1,
               way->name, m->size);
        fflush(stdout);
    }
}

static void *endpoint(void *argument)
{
    MPI_Comm world = *(MPI_Comm *) argument;
    member_t m = {.own = calloc(WIN_WORDS, sizeof(*m.own)), .data = calloc(1, WIN_LARGE)};

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int round = 0; round < processes - 1; ++round) {
        one_round(world, &m, round);
    }
    free(m.own);
    free(m.data);
    return NULL;
}

/** The process's last moments. */
static void die(int round)
{
    char word[32];

    while (endpoints > atomic_load(&begun)) {
        sleep_ms(1);
    }
    word_say(word_of(round, word));
    sleep_ms(DIE_MS);
    (void) kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    rounds_begin(argc, argv);
    rounds_run(endpoints, endpoint, die);
    rounds_end();
}
