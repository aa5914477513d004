/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Members that compute, and call MPI late, are no lost members: what waits for them in a call of
 * windows ends without an error, however often their liveness is asked for meanwhile.
 *
 * Guards: osc_epwin_am_link.c, osc_epwin_am_result.c, osc_epwin_lock.c, osc_epwin_pscw.c
 */

#include "win_tools.h"

#include <unistd.h>

enum { AWAY_US = 600000, WAITS = 4 };

/** Of a pair, the first one waits for the second one, which is away; each pair in another call. */
struct pair {
    MPI_Win win;
    int64_t *words;
    MPI_Group other;
    int peer, way;
    bool is_away;
};

static void wait_get(struct ept *t, struct pair *pair)
{
    int64_t got = 0;
    MPI_Request request;

    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, pair->peer, 0, pair->win));
    EPT_OK(t, win_get(pair->win, &got, 1, pair->peer, 0));
    EPT_OK(t, MPI_Win_flush(pair->peer, pair->win));
    EPT_EQ(t, 100 + pair->peer, got);
    got = 0;
    EPT_OK(t, MPI_Rget(&got, 1, MPI_INT64_T, pair->peer, 0, 1, MPI_INT64_T, pair->win, &request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_EQ(t, 100 + pair->peer, got);
    EPT_OK(t, MPI_Win_unlock(pair->peer, pair->win));
}

/** The one that is away holds the lock, of the one that waits. */
static void wait_lock(struct ept *t, struct pair *pair)
{
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, pair->win));
    EPT_EQ(t, 200 + pair->peer, pair->words[1]);
    EPT_OK(t, MPI_Win_unlock(t->rank, pair->win));
}

static void late_lock(struct ept *t, struct pair *pair)
{
    const int64_t word = 200 + t->rank;

    EPT_OK(t, win_put(pair->win, &word, 1, pair->peer, 1));
    EPT_OK(t, MPI_Win_unlock(pair->peer, pair->win));
}

static void access_epoch(struct ept *t, struct pair *pair)
{
    const int64_t word = 300 + t->rank;

    EPT_OK(t, MPI_Win_start(pair->other, 0, pair->win));
    EPT_OK(t, win_put(pair->win, &word, 1, pair->peer, 2));
    EPT_OK(t, MPI_Win_complete(pair->win));
}

static void expose(struct ept *t, struct pair *pair)
{
    EPT_OK(t, MPI_Win_post(pair->other, 0, pair->win));
    EPT_OK(t, MPI_Win_wait(pair->win));
    EPT_EQ(t, 300 + pair->peer, pair->words[2]);
}

static void nothing(struct ept *t, struct pair *pair)
{
    (void) t;
    (void) pair;
}

static void (*const wait_in[WAITS])(struct ept *t, struct pair *pair) = {wait_get, wait_lock,
                                                                         access_epoch, expose};
static void (*const come_late[WAITS])(struct ept *t, struct pair *pair) = {nothing, late_lock,
                                                                           expose, access_epoch};

static void pair_begin(MPI_Comm comm, struct ept *t, struct pair *pair, int kind)
{
    const int half = t->size / 2;
    MPI_Group all;

    pair->is_away = t->rank >= half;
    pair->peer = pair->is_away ? t->rank - half : t->rank + half;
    pair->way = t->rank % half % WAITS;
    pair->win = win_new(comm, t, kind, &pair->words);
    EPT_OK(t, MPI_Win_get_group(pair->win, &all));
    EPT_OK(t, MPI_Group_incl(all, 1, &pair->peer, &pair->other));
    EPT_OK(t, MPI_Group_free(&all));
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, pair->win));
    pair->words[0] = 100 + t->rank;
    EPT_OK(t, MPI_Win_unlock(t->rank, pair->win));
    EPT_OK(t, MPI_Barrier(comm));
    if (pair->is_away && late_lock == come_late[pair->way]) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, pair->peer, 0, pair->win));
        EPT_OK(t, MPI_Win_flush(pair->peer, pair->win));
    }
    EPT_OK(t, MPI_Barrier(comm));
}

static void away(MPI_Comm comm, struct ept *t, int kind)
{
    struct pair pair;

    pair_begin(comm, t, &pair, kind);
    if (pair.is_away) {
        (void) usleep(AWAY_US);
        come_late[pair.way](t, &pair);
    } else {
        wait_in[pair.way](t, &pair);
    }
    EPT_OK(t, MPI_Group_free(&pair.other));
    win_end(t, &pair.win, kind, pair.words);
}

static void case_created(MPI_Comm comm, struct ept *t)
{
    away(comm, t, WIN_CREATED);
}

static void case_allocated(MPI_Comm comm, struct ept *t)
{
    away(comm, t, WIN_ALLOCATED);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_created);
    EPT_CASE(t, case_allocated);
    return 0;
}
