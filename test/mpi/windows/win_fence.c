/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_fence with all assertions: operations are complete behind it, and none comes before.
 *
 *   --rounds N  of each case (default 100)
 *
 * Guards: osc_epwin_fence.c
 */

#include "win_tools.h"

static int rounds_of(void)
{
    return (int) ept_option_long("rounds", 100);
}

/** Puts, gets and accumulates between the same two fences; the next ones see them. */
static void case_operations(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words, one = 1;
        MPI_Win win = win_new(comm, t, kind, &words);

        EPT_OK(t, MPI_Win_fence(0, win));
        for (int i = 0; i < rounds_of(); ++i) {
            int64_t mine = 1000 * t->rank + i, there = -1;

            ept_phase(t, "%s, round %d", win_kind_name(kind), i);
            EPT_OK(t, win_put(win, &mine, 1, next, i % 2));
            EPT_OK(t, win_add(win, &one, 0, 2));
            EPT_OK(t, win_get(win, &there, 1, next, 1 - i % 2));
            EPT_OK(t, MPI_Win_fence(0, win));
            EPT_EQ(t, 0 == i ? 0 : 1000 * t->rank + i - 1, there);
            EPT_EQ(t, 1000 * last + i, words[i % 2]);
            if (0 == t->rank) {
                EPT_EQ(t, (int64_t) (i + 1) * t->size, words[2]);
            }
            EPT_OK(t, MPI_Win_fence(0, win));
        }
        win_end(t, &win, kind, words);
    }
}

/** Of two that put, fence, and read the other's word, both see the put. */
static void case_visible(MPI_Comm comm, struct ept *t)
{
    const int other = t->rank ^ 1;
    int64_t *words, there = -1;
    MPI_Win win = win_new(comm, t, WIN_ALLOCATED, &words);

    for (int64_t i = 1; i <= 10 * rounds_of(); ++i) {
        EPT_OK(t, MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        if (other < t->size) {
            EPT_OK(t, win_put(win, &i, 1, other, 0));
        }
        EPT_OK(t, MPI_Win_fence(MPI_MODE_NOSTORE, win));
        if (other < t->size) {
            EPT_EQ(t, i, words[0]);
            EPT_OK(t, win_get(win, &there, 1, other, 0));
        }
        EPT_OK(t, MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win));
        EPT_EQ(t, other < t->size ? i : -1, there);
    }
    win_end(t, &win, WIN_ALLOCATED, words);
}

/** The own stores before a fence come before the others' puts behind it, with MPI_MODE_NOPRECEDE
 * too: some ranks are late. */
static void case_late(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;
    uint64_t random = ept_mix(t->seed, (uint64_t) t->rank, 5, 0);

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int i = 0; i < rounds_of(); ++i) {
            const int64_t mine = 1000 * t->rank + i;

            ept_phase(t, "%s, round %d", win_kind_name(kind), i);
            if (0 == ept_random_below(&random, 4)) {
                const struct timespec nap = {0, 200000};

                (void) nanosleep(&nap, NULL);
            }
            words[0] = words[1] = -1;
            EPT_OK(t, MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
            EPT_OK(t, win_put(win, &mine, 1, next, 1));
            EPT_OK(t, MPI_Win_fence(0 == i % 3 ? MPI_MODE_NOSUCCEED : 0, win));
            EPT_EQ(t, 1000 * last + i, words[1]);
            EPT_EQ(t, -1, words[0]);
            if (0 != i % 3) {
                EPT_OK(t, MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
            }
        }
        win_end(t, &win, kind, words);
    }
}

/** Fences that end and begin nothing, between such that do; locks and fences by turns. */
static void case_nothing(MPI_Comm comm, struct ept *t)
{
    int64_t *words, mine = t->rank;
    MPI_Win win = win_new(comm, t, WIN_ALLOCATED, &words);

    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 5; ++k) {
            EPT_OK(t, MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win));
        }
        EPT_OK(t, MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        EPT_OK(t, win_put(win, &mine, 1, (t->rank + 1) % t->size, 0));
        EPT_OK(t, MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        EPT_EQ(t, (t->rank + t->size - 1) % t->size, words[0]);
    }
    EPT_OK(t, MPI_Win_fence(0, win));
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, win));
    EPT_OK(t, MPI_Win_unlock(t->rank, win));
    EPT_OK(t, MPI_Win_fence(0, win));
    win_end(t, &win, WIN_ALLOCATED, words);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_operations);
    EPT_CASE(t, case_visible);
    EPT_CASE(t, case_late);
    EPT_CASE(t, case_nothing);
    return 0;
}
