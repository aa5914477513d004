/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_flush in four forms and MPI_Win_sync: what is complete behind them, and in which order
 * others see it.
 *
 *   --rounds N  of the litmus test of threads (default 10000)
 *   --flags N   rounds of the polling for a flag (default 200): few where threads share cores
 *
 * Guards: osc_epwin_flush.c, osc_epwin.h
 */

#include "win_tools.h"

#include <sched.h>

/** Two ranks each put 1 to the own memory or to the other's, flush, and get what the other one puts.
 * After a flush the put is complete at the target, so one of them sees the other's. */
static void litmus_round(struct ept *t, MPI_Win win, const int at[2], int which, int64_t *seen)
{
    static const int64_t one = 1;

    EPT_OK(t, win_put(win, &one, 1, at[which], which));
    EPT_OK(t, MPI_Win_flush(at[which], win));
    EPT_OK(t, win_get(win, seen, 1, at[!which], !which));
    EPT_OK(t, MPI_Win_flush(at[!which], win));
}

/** Rounds of the two first ranks of the first process: they meet without MPI, so they are close
 * together. */
static _Atomic long turns[2];

static void turn_next(int which)
{
    const long turn = atomic_load(&turns[which]) + 1;

    atomic_store(&turns[which], turn);
    for (unsigned int spins = 1; atomic_load(&turns[!which]) < turn; ++spins) {
        if (0 == spins % 200) {
            (void) sched_yield();
        }
    }
}

static unsigned char litmus_seen[2][1 << 20];

static void litmus_threads(struct ept *t, MPI_Win win, const int at[2], long rounds)
{
    static const int64_t zero = 0;
    long both = 0;

    for (long i = 0; i < rounds; ++i) {
        int64_t seen = -1;

        if (0 == t->local) {
            EPT_OK(t, win_put(win, &zero, 1, at[0], 0));
            EPT_OK(t, win_put(win, &zero, 1, at[1], 1));
            EPT_OK(t, MPI_Win_flush_all(win));
        }
        turn_next(t->local);
        litmus_round(t, win, at, t->local, &seen);
        litmus_seen[t->local][i] = (unsigned char) seen;
        turn_next(t->local);
    }
    for (long i = 0; i < rounds && 0 == t->local; ++i) {
        both += 0 == litmus_seen[0][i] && 0 == litmus_seen[1][i];
    }
    EPT_EQ(t, 0, both);
}

static void case_litmus_threads(MPI_Comm comm, struct ept *t)
{
    /* Each puts to the own memory; to the other's; both to that of one. */
    const int places[3][2] = {{0, 1}, {1, 0}, {0, 0}};
    const long rounds = ept_option_long("rounds", 10000) % (1 << 20);

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words;
        MPI_Win win = win_new(comm, t, kind, &words);

        EPT_OK(t, MPI_Win_lock_all(0, win));
        for (int i = 0; i < 3; ++i) {
            ept_phase(t, "%s, places %d", win_kind_name(kind), i);
            if (2 > t->rank) {
                litmus_threads(t, win, places[i], 0 == i && 0 == kind ? rounds : rounds / 10);
            }
            EPT_OK(t, MPI_Barrier(comm));
        }
        EPT_OK(t, MPI_Win_unlock_all(win));
        win_end(t, &win, kind, words);
    }
}

/** Likewise between any two ranks, which meet in barriers. */
static void case_litmus_ranks(MPI_Comm comm, struct ept *t)
{
    const int last = t->size - 1, at[2] = {0, last};
    int64_t *words, zero = 0, both[2];

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        MPI_Win win = win_new(comm, t, kind, &words);

        EPT_OK(t, MPI_Win_lock_all(0, win));
        for (int i = 0; i < 500; ++i) {
            int64_t seen = 1;

            if (0 == t->rank) {
                EPT_OK(t, win_put(win, &zero, 1, at[0], 0));
                EPT_OK(t, win_put(win, &zero, 1, at[1], 1));
                EPT_OK(t, MPI_Win_flush_all(win));
            }
            EPT_OK(t, MPI_Barrier(comm));
            if (0 == t->rank || last == t->rank) {
                litmus_round(t, win, at, 0 != t->rank, &seen);
            }
            both[0] = seen;
            EPT_OK(t, MPI_Allreduce(both, both + 1, 1, MPI_INT64_T, MPI_SUM, comm));
            /* At least one of the two has seen a 1; the others have brought theirs along. */
            EPT_CHECK(t, both[1] > t->size - (1 == t->size ? 1 : 2), "round %d: nobody sees it", i);
        }
        EPT_OK(t, MPI_Win_unlock_all(win));
        win_end(t, &win, kind, words);
    }
}

/** Data, flush, a flag: one that sees the flag sees the data. */
static void case_flag(MPI_Comm comm, struct ept *t)
{
    enum { DATA = 40 };
    const int64_t rounds = ept_option_long("flags", 200);
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words, data[DATA], there[DATA];
        MPI_Win win = win_new(comm, t, kind, &words);

        EPT_OK(t, MPI_Win_lock_all(0, win));
        for (int64_t i = 1; i <= rounds; ++i) {
            int64_t flag = 0, none = 0;

            ept_phase(t, "%s, round %d", win_kind_name(kind), (int) i);
            for (int k = 0; k < DATA; ++k) {
                data[k] = 1000 * t->rank + i + k;
            }
            EPT_OK(t, win_put(win, data, DATA, next, 1));
            EPT_OK(t, 0 == i % 2 ? MPI_Win_flush(next, win) : MPI_Win_flush_all(win));
            EPT_OK(t,
                   MPI_Accumulate(&i, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, MPI_REPLACE, win));
            EPT_OK(t, MPI_Win_flush(next, win));
            while (flag != i) {
                EPT_OK(t, MPI_Fetch_and_op(&none, &flag, MPI_INT64_T, t->rank, 0, MPI_NO_OP, win));
                EPT_OK(t, MPI_Win_flush_local(t->rank, win));
            }
            EPT_OK(t, MPI_Win_sync(win));
            for (int k = 0; k < DATA; ++k) {
                EPT_EQ(t, 1000 * last + i + k, words[1 + k]);
            }
            EPT_OK(t, win_get(win, there, DATA, next, 1));
            EPT_OK(t, 0 == i % 2 ? MPI_Win_flush_local(next, win) : MPI_Win_flush_local_all(win));
            for (int k = 0; k < DATA; ++k) {
                EPT_EQ(t, data[k], there[k]);
            }
            EPT_OK(t, MPI_Barrier(comm));
        }
        EPT_OK(t, MPI_Win_unlock_all(win));
        win_end(t, &win, kind, words);
    }
}

/** In an epoch of single locks; a buffer serves again behind a local flush. */
static void case_locks(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size;

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words, there = -1;
        MPI_Win win = win_new(comm, t, kind, &words);

        EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
        if (next != t->rank) {
            EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, win));
        }
        for (int64_t i = 1; i <= 100; ++i) {
            int64_t value = i;

            EPT_OK(t, win_put(win, &value, 1, next, (int) (i % 8)));
            EPT_OK(t, MPI_Win_flush_local(next, win));
            value = -1;
            EPT_OK(t, MPI_Win_flush(next, win));
            EPT_OK(t, win_get(win, &there, 1, next, (int) (i % 8)));
            EPT_OK(t, MPI_Win_flush(next, win));
            EPT_EQ(t, i, there);
        }
        EPT_OK(t, MPI_Win_flush(MPI_PROC_NULL, win));
        EPT_OK(t, MPI_Win_flush_local(MPI_PROC_NULL, win));
        EPT_OK(t, MPI_Win_unlock(next, win));
        if (next != t->rank) {
            EPT_OK(t, MPI_Win_unlock(t->rank, win));
        }
        EPT_OK(t, MPI_Barrier(comm));
        win_end(t, &win, kind, words);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (2 <= t->nlocal) {
        EPT_CASE(t, case_litmus_threads);
    } else {
        ept_skip(t, "case_litmus_threads", "one rank in a process");
    }
    if (1 < t->size) {
        EPT_CASE(t, case_litmus_ranks);
    }
    EPT_CASE(t, case_flag);
    EPT_CASE(t, case_locks);
    return 0;
}
