/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait and MPI_Win_test: rings, all with all,
 * groups by chance, empty ones, MPI_MODE_NOCHECK.
 *
 *   --rounds N  of each case (default 100)
 *
 * Guards: osc_epwin_pscw.c, osc_epwin_open.c
 */

#include "win_tools.h"

#include <sched.h>

static int rounds_of(void)
{
    return (int) ept_option_long("rounds", 100);
}

static MPI_Group group_of(MPI_Comm comm, struct ept *t, const int *ranks, int count)
{
    MPI_Group all, group;

    EPT_OK(t, MPI_Comm_group(comm, &all));
    EPT_OK(t, MPI_Group_incl(all, count, ranks, &group));
    EPT_OK(t, MPI_Group_free(&all));
    return group;
}

/** Wait for the end of the exposure epoch; by_test: in a loop of tests. */
static void wait_for(struct ept *t, MPI_Win win, bool by_test)
{
    int is_over = 0;

    if (!by_test) {
        EPT_OK(t, MPI_Win_wait(win));
        return;
    }
    while (!is_over) {
        const int rc = MPI_Win_test(win, &is_over);

        if (MPI_SUCCESS != rc) {
            EPT_OK(t, rc);
            return;
        }
        (void) sched_yield();
    }
}

/** Each puts to the next one, in words that it reads itself afterwards, and gets what is there. */
static void ring(MPI_Comm comm, struct ept *t, int kind, bool by_test)
{
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;
    MPI_Group to = group_of(comm, t, &next, 1), from = group_of(comm, t, &last, 1);
    int64_t *words, one = 1;
    MPI_Win win = win_new(comm, t, kind, &words);

    for (int i = 0; i < rounds_of(); ++i) {
        int64_t mine = 1000 * t->rank + i, there = -1;

        ept_phase(t, "%s, by %s, round %d", win_kind_name(kind), by_test ? "test" : "wait", i);
        words[1] = -mine; /* before the post: the origin sees it */
        EPT_OK(t, MPI_Win_post(from, 0, win));
        EPT_OK(t, MPI_Win_start(to, 0, win));
        EPT_OK(t, win_get(win, &there, 1, next, 1));
        EPT_OK(t, win_put(win, &mine, 1, next, 0));
        EPT_OK(t, win_add(win, &one, next, 2));
        EPT_OK(t, MPI_Win_complete(win));
        EPT_EQ(t, -(1000 * next + i), there);
        wait_for(t, win, by_test);
        EPT_EQ(t, 1000 * last + i, words[0]);
        EPT_EQ(t, i + 1, words[2]);
    }
    EPT_OK(t, MPI_Group_free(&to));
    EPT_OK(t, MPI_Group_free(&from));
    win_end(t, &win, kind, words);
}

static void case_ring(MPI_Comm comm, struct ept *t)
{
    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        ring(comm, t, kind, false);
        ring(comm, t, kind, true);
    }
}

/** All with all, the own rank too; the group is another object each time, or the same one. */
static void case_all(MPI_Comm comm, struct ept *t)
{
    const int rounds = rounds_of() / 4;

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words;
        MPI_Win win = win_new(comm, t, kind, &words);
        MPI_Group kept;

        EPT_OK(t, MPI_Win_get_group(win, &kept));
        for (int i = 0; i < rounds; ++i) {
            const int64_t mine = 1000 * t->rank + i;
            MPI_Group group = kept;

            ept_phase(t, "%s, round %d", win_kind_name(kind), i);
            if (0 == i % 3) {
                EPT_OK(t, MPI_Comm_group(comm, &group));
            }
            EPT_OK(t, MPI_Win_post(group, 0, win));
            EPT_OK(t, MPI_Win_start(group, 0, win));
            if (0 == i % 3) {
                EPT_OK(t, MPI_Group_free(&group)); /* not needed any more */
            }
            for (int target = 0; target < t->size; ++target) {
                EPT_OK(t, win_put(win, &mine, 1, target, t->rank));
            }
            EPT_OK(t, MPI_Win_complete(win));
            EPT_OK(t, MPI_Win_wait(win));
            for (int from = 0; from < t->size; ++from) {
                EPT_EQ(t, 1000 * from + i, words[from]);
            }
        }
        EPT_OK(t, MPI_Group_free(&kept));
        win_end(t, &win, kind, words);
    }
}

/** Does origin access target in a round?  The same at all ranks. */
static bool is_pair(const struct ept *t, int round, int origin, int target)
{
    const uint64_t share = ept_mix(t->seed, (uint64_t) round, 7, 0) % 4;

    return ept_mix(t->seed, (uint64_t) round, (uint64_t) origin, (uint64_t) target) % 4 < share;
}

/** The targets of the own rank, or its origins, by chance in another order than by ranks. */
static MPI_Group pairs_of(MPI_Comm comm, struct ept *t, int round, bool targets, int *list,
                          int *count_p)
{
    int count = 0, ranks[WIN_WORDS], order[WIN_WORDS];
    uint64_t random = ept_mix(t->seed, (uint64_t) round, (uint64_t) t->rank, 99 + targets);

    for (int i = 0; i < t->size; ++i) {
        if (targets ? is_pair(t, round, t->rank, i) : is_pair(t, round, i, t->rank)) {
            list[count++] = i;
        }
    }
    ept_shuffle(order, count, &random);
    for (int i = 0; i < count; ++i) {
        ranks[i] = list[order[i]];
    }
    *count_p = count;
    return group_of(comm, t, ranks, count);
}

static void random_round(MPI_Comm comm, struct ept *t, MPI_Win win, int64_t *words, int round)
{
    const int64_t mine = 1000 * t->rank + round;
    int targets[WIN_WORDS], origins[WIN_WORDS], to_count, from_count;
    MPI_Group to = pairs_of(comm, t, round, true, targets, &to_count);
    MPI_Group from = pairs_of(comm, t, round, false, origins, &from_count);
    const bool posts = 0 < from_count || 0 == round % 2, starts = 0 < to_count || 0 == round % 3;

    for (int i = 0; i < t->size; ++i) {
        words[i] = -1;
    }
    if (posts) {
        EPT_OK(t, MPI_Win_post(from, 0, win));
    }
    if (starts) {
        EPT_OK(t, MPI_Win_start(to, 0, win));
        for (int i = 0; i < to_count; ++i) {
            EPT_OK(t, win_put(win, &mine, 1, targets[i], t->rank));
        }
        EPT_OK(t, MPI_Win_complete(win));
    }
    if (posts) {
        wait_for(t, win, 0 != round % 2);
    }
    for (int i = 0; i < t->size; ++i) {
        EPT_EQ(t, is_pair(t, round, i, t->rank) ? 1000 * i + round : -1, words[i]);
    }
    EPT_OK(t, MPI_Group_free(&to));
    EPT_OK(t, MPI_Group_free(&from));
}

static void case_random(MPI_Comm comm, struct ept *t)
{
    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int i = 0; i < rounds_of(); ++i) {
            ept_phase(t, "%s, round %d", win_kind_name(kind), i);
            random_round(comm, t, win, words, i);
        }
        win_end(t, &win, kind, words);
    }
}

static void case_empty(MPI_Comm comm, struct ept *t)
{
    int64_t *words;
    MPI_Win win = win_new(comm, t, WIN_ALLOCATED, &words);
    int is_over = 0;

    for (int i = 0; i < 3; ++i) {
        EPT_OK(t, MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
        EPT_OK(t, MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
        EPT_OK(t, MPI_Win_complete(win));
        EPT_OK(t, MPI_Win_wait(win));
        EPT_OK(t, MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
        EPT_OK(t, MPI_Win_test(win, &is_over));
        EPT_EQ(t, 1, is_over);
    }
    win_end(t, &win, WIN_ALLOCATED, words);
}

/** No rank starts before all have posted: the barrier sees to it.  Then with posts again: no bit is
 * left over. */
static void case_nocheck(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size, last = (t->rank + t->size - 1) % t->size;
    MPI_Group to = group_of(comm, t, &next, 1), from = group_of(comm, t, &last, 1);

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words;
        MPI_Win win = win_new(comm, t, kind, &words);

        for (int i = 0; i < 20; ++i) {
            const int how = 0 == i % 3 ? 0 : MPI_MODE_NOCHECK;
            const int64_t mine = 1000 * t->rank + i;

            EPT_OK(t, MPI_Win_post(from, how, win));
            if (0 != how) {
                EPT_OK(t, MPI_Barrier(comm));
            }
            EPT_OK(t, MPI_Win_start(to, how, win));
            EPT_OK(t, win_put(win, &mine, 1, next, 0));
            EPT_OK(t, MPI_Win_complete(win));
            EPT_OK(t, MPI_Win_wait(win));
            EPT_EQ(t, 1000 * last + i, words[0]);
        }
        win_end(t, &win, kind, words);
    }
    EPT_OK(t, MPI_Group_free(&to));
    EPT_OK(t, MPI_Group_free(&from));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (WIN_WORDS < t->size) {
        ept_skip(t, "all", "more ranks than words");
        return 0;
    }
    EPT_CASE(t, case_ring);
    EPT_CASE(t, case_all);
    EPT_CASE(t, case_random);
    EPT_CASE(t, case_empty);
    EPT_CASE(t, case_nocheck);
    return 0;
}
