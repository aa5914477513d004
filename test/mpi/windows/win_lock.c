/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_lock and MPI_Win_lock_all: which lock excludes which, several targets at a time, MPI_MODE_NOCHECK,
 * and that a stream of holders of one kind does not starve the other.
 *
 *   --rounds N  of each rank and case (default 300)
 *
 * Guards: osc_epwin_lock.c, osc_epwin_lock.h, osc_epwin_open.c
 */

#include "win_tools.h"

static int rounds_of(void)
{
    return (int) ept_option_long("rounds", 300);
}

/** Words 0 and 1 of a target are equal, except for one that is changing them. */
static void pair_check(struct ept *t, MPI_Win win, int target)
{
    int64_t pair[2] = {-1, -2};

    EPT_OK(t, win_get(win, pair, 2, target, 0));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_EQ(t, pair[0], pair[1]);
}

/** Only for one that excludes all others. */
static void pair_change(struct ept *t, MPI_Win win, int target, int64_t by)
{
    int64_t pair[2] = {-1, -2};

    EPT_OK(t, win_get(win, pair, 2, target, 0));
    EPT_OK(t, MPI_Win_flush(target, win));
    EPT_EQ(t, pair[0], pair[1]);
    pair[0] += by;
    EPT_OK(t, win_put(win, &pair[0], 1, target, 0));
    EPT_OK(t, MPI_Win_flush(target, win));
    pair[1] += by;
    EPT_OK(t, win_put(win, &pair[1], 1, target, 1));
}

/** The sum of a word over all ranks, once all of them are here.  Collective. */
static int64_t word_sum(MPI_Comm comm, struct ept *t, MPI_Win win, const int64_t *words, int word)
{
    int64_t mine, sum = -1;

    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, win));
    mine = words[word];
    EPT_OK(t, MPI_Win_unlock(t->rank, win));
    EPT_OK(t, MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
    return sum;
}

static int64_t all_sum(MPI_Comm comm, struct ept *t, int64_t mine)
{
    int64_t sum = -1;

    EPT_OK(t, MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
    return sum;
}

static void case_exclusive(MPI_Comm comm, struct ept *t)
{
    const int rounds = rounds_of();

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int i = 0; i < rounds; ++i) {
            const int target = (t->rank + i) % t->size;

            ept_phase(t, "%s, round %d, target %d", win_kind_name(kind), i, target);
            EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
            pair_change(t, win, target, 1);
            EPT_OK(t, MPI_Win_unlock(target, win));
        }
        EPT_EQ(t, (int64_t) rounds * t->size, word_sum(comm, t, win, words, 0));
        EPT_EQ(t, (int64_t) rounds * t->size, word_sum(comm, t, win, words, 1));
        win_end(t, &win, kind, words);
    }
}

/** The own memory, with loads and stores. */
static void case_self(MPI_Comm comm, struct ept *t)
{
    const int rounds = rounds_of();
    int64_t *words, one = 1;
    MPI_Win win = win_new(comm, t, WIN_CREATED, &words);

    for (int i = 0; i < rounds; ++i) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, win));
        ++words[2];
        EPT_OK(t, MPI_Win_unlock(t->rank, win));
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (t->rank + 1) % t->size, 0, win));
        EPT_OK(t, win_add(win, &one, (t->rank + 1) % t->size, 2));
        EPT_OK(t, MPI_Win_unlock((t->rank + 1) % t->size, win));
    }
    EPT_EQ(t, 2 * (int64_t) rounds * t->size, word_sum(comm, t, win, words, 2));
    win_end(t, &win, WIN_CREATED, words);
}

static void case_mixed(MPI_Comm comm, struct ept *t)
{
    const int rounds = rounds_of();
    uint64_t random = ept_mix(t->seed, (uint64_t) t->rank, 1, 0);

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words, one = 1, changes = 0;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int i = 0; i < rounds; ++i) {
            const int target = (int) ept_random_below(&random, (uint64_t) t->size);
            const bool changes_it = 0 == ept_random_below(&random, 3);

            ept_phase(t, "%s, round %d, %d to %d", win_kind_name(kind), i, changes_it, target);
            EPT_OK(t,
                   MPI_Win_lock(changes_it ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win));
            if (changes_it) {
                pair_change(t, win, target, 3);
                ++changes;
            } else {
                pair_check(t, win, target);
                EPT_OK(t, win_add(win, &one, target, 2));
            }
            EPT_OK(t, MPI_Win_unlock(target, win));
        }
        changes = all_sum(comm, t, changes);
        EPT_EQ(t, 3 * changes, word_sum(comm, t, win, words, 0));
        EPT_EQ(t, (int64_t) rounds * t->size - changes, word_sum(comm, t, win, words, 2));
        win_end(t, &win, kind, words);
    }
}

/** Locks of several targets at a time, taken in the order of ranks and released in any. */
static void lock_several(struct ept *t, MPI_Win win, uint64_t *random, int64_t *moved)
{
    int count = 0, list[16], order[16];
    int64_t from = -1, one = 1, minus = -1;

    for (int target = 0; target < t->size && count < 16; ++target) {
        if (0 != ept_random_below(random, 2)) {
            list[count++] = target;
        }
    }
    for (int i = 0; i < count; ++i) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, list[i], 0, win));
    }
    if (1 < count) {
        EPT_OK(t, win_get(win, &from, 1, list[0], 3));
        EPT_OK(t, MPI_Win_flush(list[0], win));
        from += minus;
        EPT_OK(t, win_put(win, &from, 1, list[0], 3));
        EPT_OK(t, win_add(win, &one, list[count - 1], 3));
        ++*moved;
    }
    for (int i = 0; i < count; ++i) {
        pair_change(t, win, list[i], 1);
    }
    ept_shuffle(order, count, random);
    for (int i = 0; i < count; ++i) {
        EPT_OK(t, MPI_Win_unlock(list[order[i]], win));
    }
}

static void case_several(MPI_Comm comm, struct ept *t)
{
    const int rounds = rounds_of() / 3;
    uint64_t random = ept_mix(t->seed, (uint64_t) t->rank, 2, 0);

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words, moved = 0;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int i = 0; i < rounds; ++i) {
            ept_phase(t, "%s, round %d", win_kind_name(kind), i);
            lock_several(t, win, &random, &moved);
        }
        EPT_CHECK(t, 1 == t->size || 0 < moved, "no unit was moved");
        EPT_EQ(t, 0, word_sum(comm, t, win, words, 3));
        EPT_EQ(t, word_sum(comm, t, win, words, 1), word_sum(comm, t, win, words, 0));
        win_end(t, &win, kind, words);
    }
}

/** MPI_Win_lock_all excludes exclusive locks of all targets. */
static void case_all(MPI_Comm comm, struct ept *t)
{
    const int rounds = rounds_of();
    uint64_t random = ept_mix(t->seed, (uint64_t) t->rank, 3, 0);

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words, one = 1, changes = 0;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int i = 0; i < rounds; ++i) {
            const int target = (int) ept_random_below(&random, (uint64_t) t->size);
            const bool changes_it = 0 == ept_random_below(&random, 3);

            ept_phase(t, "%s, round %d, %d to %d", win_kind_name(kind), i, changes_it, target);
            if (changes_it) {
                EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
                pair_change(t, win, target, 3);
                ++changes;
                EPT_OK(t, MPI_Win_unlock(target, win));
            } else {
                EPT_OK(t, MPI_Win_lock_all(0, win));
                pair_check(t, win, target);
                EPT_OK(t, win_add(win, &one, (target + 1) % t->size, 2));
                pair_check(t, win, (target + 1) % t->size);
                EPT_OK(t, MPI_Win_unlock_all(win));
            }
        }
        changes = all_sum(comm, t, changes);
        EPT_EQ(t, 3 * changes, word_sum(comm, t, win, words, 0));
        EPT_EQ(t, (int64_t) rounds * t->size - changes, word_sum(comm, t, win, words, 2));
        win_end(t, &win, kind, words);
    }
}

/** One that holds an exclusive lock gets a second one, though others wait in MPI_Win_lock_all for the
 * first.  Within one domain: elsewhere they may hold what it waits for. */
static void case_second(MPI_Comm comm, struct ept *t)
{
    const int rounds = rounds_of(), last = t->size - 1;
    int64_t *words;
    MPI_Win win = win_new(comm, t, WIN_ALLOCATED, &words);

    for (int i = 0; i < rounds; ++i) {
        ept_phase(t, "round %d", i);
        if (0 == t->rank % 2) {
            EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            pair_change(t, win, 0, 1);
            EPT_OK(t, MPI_Win_flush(0, win));
            if (0 < last) {
                EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win));
                pair_change(t, win, last, 1);
                EPT_OK(t, MPI_Win_unlock(last, win));
            }
            EPT_OK(t, MPI_Win_unlock(0, win));
        } else {
            EPT_OK(t, MPI_Win_lock_all(0, win));
            pair_check(t, win, 0);
            pair_check(t, win, last);
            EPT_OK(t, MPI_Win_unlock_all(win));
        }
    }
    EPT_EQ(t, word_sum(comm, t, win, words, 1), word_sum(comm, t, win, words, 0));
    win_end(t, &win, WIN_ALLOCATED, words);
}

/** Without locks: the ranks themselves see to it that they do not meet. */
static void case_nocheck(MPI_Comm comm, struct ept *t)
{
    const int target = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words, mine = 1000 + t->rank, there = -1;
        MPI_Win win = win_new(comm, t, kind, &words);

        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, MPI_MODE_NOCHECK, win));
        EPT_OK(t, win_put(win, &mine, 1, target, 4));
        EPT_OK(t, MPI_Win_unlock(target, win));
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
        EPT_OK(t, win_get(win, &there, 1, t->rank, 4));
        EPT_OK(t, MPI_Win_flush(t->rank, win));
        EPT_EQ(t, 1000 + from, there);
        EPT_OK(t, win_get(win, &there, 1, target, 4));
        EPT_OK(t, MPI_Win_unlock_all(win));
        EPT_EQ(t, mine, there);
        /* It has left no lock behind. */
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        EPT_OK(t, MPI_Win_unlock(target, win));
        EPT_OK(t, MPI_Barrier(comm));
        win_end(t, &win, kind, words);
    }
}

/** All but the last rank hold it in a stream, until the last one has had it so often. */
static void stream(MPI_Comm comm, struct ept *t, int of_all, int of_last)
{
    enum { TIMES = 30 };
    int64_t *words, one = 1, had = 0;
    MPI_Win win = win_new(comm, t, WIN_ALLOCATED, &words);

    for (int i = 0; had < TIMES; ++i) {
        const int type = t->rank == t->size - 1 ? of_last : of_all;

        ept_phase(t, "lock %d, the last has had %d", i, (int) had);
        EPT_OK(t, MPI_Win_lock(type, 0, 0, win));
        if (t->rank == t->size - 1) {
            EPT_OK(t, win_add(win, &one, 0, 5));
        }
        EPT_OK(t, MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &had, 1, MPI_INT64_T, 0, 5, 1,
                                     MPI_INT64_T, MPI_NO_OP, win));
        EPT_OK(t, MPI_Win_unlock(0, win));
    }
    EPT_OK(t, MPI_Barrier(comm));
    win_end(t, &win, WIN_ALLOCATED, words);
}

static void case_stream_shared(MPI_Comm comm, struct ept *t)
{
    stream(comm, t, MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE);
}

static void case_stream_exclusive(MPI_Comm comm, struct ept *t)
{
    stream(comm, t, MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_exclusive);
    EPT_CASE(t, case_self);
    EPT_CASE(t, case_mixed);
    EPT_CASE(t, case_several);
    EPT_CASE(t, case_all);
    if (t->size == t->nlocal) {
        EPT_CASE(t, case_second);
    }
    EPT_CASE(t, case_nocheck);
    EPT_CASE(t, case_stream_shared);
    EPT_CASE(t, case_stream_exclusive);
    return 0;
}
