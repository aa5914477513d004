/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the members of win_death are at when a process dies.
 */

#include "win_death.h"

/** Calls of a loop that mapped memory never ends. */
enum { ROUNDS = 2000 };

static int first_of(int one, int two)
{
    return MPI_SUCCESS != one ? one : two;
}

static void nothing(member_t *m)
{
    (void) m;
}

/* ---- passive target --------------------------------------------------------------------------- */

static int survive_flush(member_t *m)
{
    const int64_t word = m->rank;
    int rc = MPI_Win_lock_all(0, m->win);

    for (int i = 0; i < ROUNDS && MPI_SUCCESS == rc; ++i) {
        rc = MPI_Put(&word, 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win);
        rc = first_of(rc, MPI_Win_flush(m->dead, m->win));
    }
    (void) MPI_Win_unlock_all(m->win);
    return rc;
}

static int survive_flush_local(member_t *m)
{
    int64_t word;
    int rc = MPI_Win_lock(MPI_LOCK_SHARED, m->dead, 0, m->win);

    for (int i = 0; i < ROUNDS && MPI_SUCCESS == rc; ++i) {
        rc = MPI_Get(&word, 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win);
        rc = first_of(rc, MPI_Win_flush_local_all(m->win));
    }
    (void) MPI_Win_unlock(m->dead, m->win);
    return rc;
}

/** The target is not in MPI, and dies. */
static int survive_unlock(member_t *m)
{
    const int64_t word = m->rank;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < ROUNDS && MPI_SUCCESS == rc; ++i) {
        rc = MPI_Win_lock(MPI_LOCK_SHARED, m->dead, 0, m->win);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Put(&word, 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win);
            rc = first_of(rc, MPI_Win_unlock(m->dead, m->win));
        }
    }
    return rc;
}

static int survive_unlock_all(member_t *m)
{
    int64_t word;
    int rc = MPI_Win_lock_all(0, m->win);

    if (MPI_SUCCESS == rc) {
        rc = MPI_Get(&word, 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win);
        rc = first_of(rc, MPI_Win_unlock_all(m->win));
    }
    return rc;
}

/** One of them takes a lock of a member that lives, and dies with it. */
static void hold_exclusive(member_t *m)
{
    if (m->rank == m->first_dead) {
        (void) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, m->win);
        (void) MPI_Win_flush(0, m->win);
    }
}

static int survive_exclusive(member_t *m)
{
    int rc = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, m->win);

    if (MPI_SUCCESS == rc) {
        rc = MPI_Win_unlock(0, m->win);
    }
    return rc;
}

static int survive_lock_all(member_t *m)
{
    const int64_t word = m->rank;
    int rc = MPI_Win_lock_all(0, m->win);

    if (MPI_SUCCESS == rc) {
        rc = MPI_Put(&word, 1, MPI_INT64_T, 0, m->rank, 1, MPI_INT64_T, m->win);
        rc = first_of(rc, MPI_Win_unlock_all(m->win));
    }
    return rc;
}

static int survive_request(member_t *m)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int64_t word = m->rank, got[2];
    int rc = MPI_Win_lock_all(0, m->win);

    rc = first_of(rc, MPI_Rget(&got[0], 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win,
                               &requests[0]));
    rc = first_of(rc, MPI_Rput(&word, 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win,
                               &requests[1]));
    rc = first_of(rc, MPI_Rget_accumulate(&word, 1, MPI_INT64_T, &got[1], 1, MPI_INT64_T, m->dead,
                                          m->rank, 1, MPI_INT64_T, MPI_SUM, m->win, &requests[2]));
    for (int i = 0; i < 3; ++i) {
        if (MPI_REQUEST_NULL != requests[i]) {
            rc = first_of(rc, MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        }
    }
    (void) MPI_Win_unlock_all(m->win);
    return rc;
}

/** Doubles are added under a lock of the target, which one that dies mostly holds. */
static void perish_accumulate(member_t *m)
{
    MPI_Win_lock_all(0, m->win);
    while (MPI_SUCCESS
           == MPI_Accumulate(m->data, WIN_WORDS, MPI_DOUBLE, 0, 0, WIN_WORDS, MPI_DOUBLE, MPI_SUM,
                             m->win)) {
        (void) MPI_Win_flush_local(0, m->win);
    }
}

static int survive_accumulate(member_t *m)
{
    int rc = MPI_Win_lock_all(0, m->win);

    for (int i = 0; i < ROUNDS && MPI_SUCCESS == rc; ++i) {
        rc = MPI_Accumulate(m->data, WIN_WORDS, MPI_DOUBLE, 0, 0, WIN_WORDS, MPI_DOUBLE, MPI_SUM,
                            m->win);
        rc = first_of(rc, MPI_Win_flush(0, m->win));
        rc = first_of(rc, 0 == i % 100 ? MPI_Win_flush_all(m->win) : MPI_SUCCESS);
    }
    rc = first_of(rc, MPI_Win_unlock_all(m->win));
    return rc;
}

/* ---- fence, post, start, complete, wait ------------------------------------------------------- */

static void perish_fence(member_t *m)
{
    const int64_t word = m->rank;

    while (MPI_SUCCESS == MPI_Win_fence(0, m->win)) {
        (void) MPI_Put(&word, 1, MPI_INT64_T, m->local, m->rank, 1, MPI_INT64_T, m->win);
    }
}

static int survive_fence(member_t *m)
{
    const int64_t word = m->rank;
    int rc;

    do {
        rc = MPI_Win_fence(0, m->win);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Put(&word, 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win);
        }
    } while (MPI_SUCCESS == rc);
    return rc;
}

static MPI_Group group_of(const member_t *m, int count, int ranks[])
{
    MPI_Group group;

    MPI_Group_incl(m->all, count, ranks, &group);
    return group;
}

static MPI_Group group_of_dead(const member_t *m)
{
    int rank = m->dead;

    return group_of(m, 1, &rank);
}

/** The survivors with the same index. */
static MPI_Group group_of_partners(const member_t *m)
{
    const int endpoints = m->size - m->first_dead;
    int ranks[64], count = 0;

    for (int rank = m->local; rank < m->first_dead && count < 64; rank += endpoints) {
        ranks[count++] = rank;
    }
    return group_of(m, count, ranks);
}

/** The dead has not posted. */
static int survive_start(member_t *m)
{
    MPI_Group group = group_of_dead(m);
    int rc = MPI_Win_start(group, 0, m->win);

    if (MPI_SUCCESS == rc) {
        rc = MPI_Win_complete(m->win);
    }
    MPI_Group_free(&group);
    return rc;
}

static void prepare_post(member_t *m)
{
    MPI_Group group = group_of_partners(m);

    (void) MPI_Win_post(group, 0, m->win);
    MPI_Group_free(&group);
}

/** The dead has posted, and serves nothing. */
static int survive_complete(member_t *m)
{
    MPI_Group group = group_of_dead(m);
    int64_t word;
    int rc = MPI_Win_start(group, 0, m->win);

    if (MPI_SUCCESS == rc) {
        rc = MPI_Get(&word, 1, MPI_INT64_T, m->dead, m->rank, 1, MPI_INT64_T, m->win);
        rc = first_of(rc, MPI_Win_complete(m->win));
    }
    MPI_Group_free(&group);
    return rc;
}

/** The dead has started, or waits for that, and does not complete. */
static void perish_start(member_t *m)
{
    MPI_Group group = group_of_partners(m);

    (void) MPI_Win_start(group, 0, m->win);
}

static int survive_wait(member_t *m)
{
    MPI_Group group = group_of_dead(m);
    int rc = MPI_Win_post(group, 0, m->win), flag = 0;

    if (MPI_SUCCESS == rc && 0 == m->rank % 2) {
        rc = MPI_Win_wait(m->win);
    } else {
        while (MPI_SUCCESS == rc && !flag) {
            rc = MPI_Win_test(m->win, &flag);
        }
    }
    MPI_Group_free(&group);
    return rc;
}

/* ---- creation and end ------------------------------------------------------------------------- */

static int window_of(member_t *m, int flavor, MPI_Win *win)
{
    void *base;

    switch (flavor % 3) {
    case 0:
        return MPI_Win_create(m->data, 64, 8, MPI_INFO_NULL, m->comm, win);
    case 1:
        return MPI_Win_allocate(4096, 8, MPI_INFO_NULL, m->comm, &base, win);
    default:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, m->comm, win);
    }
}

static int survive_create(member_t *m)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; MPI_SUCCESS == rc; ++i) {
        MPI_Win win = MPI_WIN_NULL;

        rc = window_of(m, i, &win);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Win_free(&win);
        }
    }
    return rc;
}

static void perish_create(member_t *m)
{
    (void) survive_create(m);
}

/** The dead never comes.  Nobody can do anything about it: it is no error. */
static int survive_free(member_t *m)
{
    const int64_t word = m->rank;
    int rc = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, m->win);

    rc = first_of(rc, MPI_Put(&word, 1, MPI_INT64_T, 0, m->rank, 1, MPI_INT64_T, m->win));
    rc = first_of(rc, MPI_Win_unlock(0, m->win));
    rc = first_of(rc, MPI_Win_free(&m->win));
    return rc;
}

const win_way_t win_ways[] = {
    {.name = "flush",
     .must_by_message = true,
     .prepare = nothing,
     .perish = nothing,
     .survive = survive_flush,
     .is_created = true},
    {.name = "unlock",
     .must_by_message = true,
     .prepare = nothing,
     .perish = nothing,
     .survive = survive_unlock,
     .is_created = true},
    {.name = "lock, exclusive",
     .must_mapped = true,
     .prepare = hold_exclusive,
     .perish = nothing,
     .survive = survive_exclusive},
    {.name = "fence",
     .must = true,
     .prepare = nothing,
     .perish = perish_fence,
     .survive = survive_fence,
     .is_created = true},
    {.name = "start",
     .must = true,
     .prepare = nothing,
     .perish = nothing,
     .survive = survive_start},
    {.name = "complete",
     .must_by_message = true,
     .prepare = prepare_post,
     .perish = nothing,
     .survive = survive_complete,
     .is_created = true},
    {.name = "wait",
     .must = true,
     .prepare = nothing,
     .perish = perish_start,
     .survive = survive_wait},
    {.name = "request",
     .must_by_message = true,
     .prepare = nothing,
     .perish = nothing,
     .survive = survive_request,
     .is_created = true},
    {.name = "creation",
     .must = true,
     .is_of_comm = true,
     .prepare = nothing,
     .perish = perish_create,
     .survive = survive_create},
    {.name = "free", .prepare = nothing, .perish = nothing, .survive = survive_free},
    {.name = "accumulate",
     .prepare = nothing,
     .perish = perish_accumulate,
     .survive = survive_accumulate},
    {.name = "lock_all",
     .must_mapped = true,
     .prepare = hold_exclusive,
     .perish = nothing,
     .survive = survive_lock_all},
    {.name = "flush_local",
     .must_by_message = true,
     .prepare = nothing,
     .perish = nothing,
     .survive = survive_flush_local,
     .is_created = true},
    {.name = "unlock_all",
     .must_by_message = true,
     .prepare = nothing,
     .perish = nothing,
     .survive = survive_unlock_all,
     .is_created = true},
    {.name = "fence of mapped memory",
     .must = true,
     .prepare = nothing,
     .perish = perish_fence,
     .survive = survive_fence},
    {.name = "flush of mapped memory",
     .must_by_message = true,
     .prepare = nothing,
     .perish = nothing,
     .survive = survive_flush},
};

const int win_way_count = sizeof(win_ways) / sizeof(win_ways[0]);
