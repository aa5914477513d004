/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls of synchronization out of place: the class, once through the window's own handler, and the
 * epochs are as before.
 *
 * Guards: osc_epwin_lock.c, osc_epwin_fence.c, osc_epwin_pscw.c, osc_epwin_flush.c, osc_epwin_epoch.c,
 * osc_epwin_epoch.h
 */

#include "win_tools.h"

/** What the handler has heard; a rank is a thread. */
static _Thread_local int heard_count, heard_class;

static void on_error(MPI_Win *win, int *code, ...)
{
    (void) win;
    ++heard_count;
    MPI_Error_class(*code, &heard_class);
}

static void check_error(struct ept *t, const char *what, int expected, int rc)
{
    EPT_CHECK(t, 1 == heard_count && expected == heard_class,
              "%s: handler called %d times, class %d, expected class %d", what, heard_count,
              heard_class, expected);
    EPT_CLASS(t, expected, rc);
    heard_count = heard_class = 0;
}

#define WRONG(t, call) check_error((t), #call, MPI_ERR_RMA_SYNC, (call))
#define WRONG_CLASS(t, class, call) check_error((t), #call, (class), (call))

struct odd {
    MPI_Win win;
    MPI_Group self, all, outside;
    int64_t *words;
    MPI_Errhandler handler;
};

/** A window over all ranks but one, the last if it is not alone.  @return is this rank in it? */
static bool odd_new(MPI_Comm comm, struct ept *t, struct odd *odd, MPI_Comm *sub_p)
{
    const int last = t->size - 1;
    const bool is_in = 1 == t->size || t->rank < last;
    MPI_Group whole;

    EPT_OK(t, MPI_Comm_split(comm, is_in ? 0 : MPI_UNDEFINED, 0, sub_p));
    if (!is_in) {
        return false;
    }
    EPT_OK(t, MPI_Comm_group(comm, &whole));
    EPT_OK(t, MPI_Group_incl(whole, 1, &last, &odd->outside));
    EPT_OK(t, MPI_Group_incl(whole, 1, &t->rank, &odd->self));
    EPT_OK(t, MPI_Group_free(&whole));
    odd->win = win_new(*sub_p, t, WIN_ALLOCATED, &odd->words);
    EPT_OK(t, MPI_Win_get_group(odd->win, &odd->all));
    EPT_OK(t, MPI_Win_create_errhandler(on_error, &odd->handler));
    EPT_OK(t, MPI_Win_set_errhandler(odd->win, odd->handler));
    heard_count = heard_class = 0;
    return true;
}

static void odd_end(struct ept *t, struct odd *odd, MPI_Comm *sub)
{
    EPT_EQ(t, 0, heard_count);
    EPT_OK(t, MPI_Group_free(&odd->outside));
    EPT_OK(t, MPI_Group_free(&odd->self));
    EPT_OK(t, MPI_Group_free(&odd->all));
    win_end(t, &odd->win, WIN_ALLOCATED, odd->words);
    EPT_OK(t, MPI_Errhandler_free(&odd->handler));
    EPT_OK(t, MPI_Comm_free(sub));
}

/** Operations work in the own memory. */
static void check_access(struct ept *t, MPI_Win win, int64_t value)
{
    EPT_OK(t, win_put(win, &value, 1, t->rank, 0));
}

static void check_no_access(struct ept *t, MPI_Win win)
{
    int64_t value = -1;

    WRONG(t, win_put(win, &value, 1, t->rank, 0));
    WRONG(t, win_get(win, &value, 1, t->rank, 0));
    WRONG(t, win_add(win, &value, t->rank, 0));
}

/** The window is good for a whole epoch of each kind. */
static void check_usable(struct ept *t, struct odd *odd)
{
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t->rank, 0, odd->win));
    check_access(t, odd->win, 71);
    EPT_OK(t, MPI_Win_unlock(t->rank, odd->win));
    EPT_EQ(t, 71, odd->words[0]);
    EPT_OK(t, MPI_Win_lock_all(0, odd->win));
    check_access(t, odd->win, 72);
    EPT_OK(t, MPI_Win_unlock_all(odd->win));
    EPT_EQ(t, 72, odd->words[0]);
    EPT_OK(t, MPI_Win_post(odd->self, 0, odd->win));
    EPT_OK(t, MPI_Win_start(odd->self, 0, odd->win));
    check_access(t, odd->win, 73);
    EPT_OK(t, MPI_Win_complete(odd->win));
    EPT_OK(t, MPI_Win_wait(odd->win));
    EPT_EQ(t, 73, odd->words[0]);
    EPT_OK(t, MPI_Win_fence(MPI_MODE_NOPRECEDE, odd->win));
    check_access(t, odd->win, 74);
    EPT_OK(t, MPI_Win_fence(MPI_MODE_NOSUCCEED, odd->win));
    EPT_EQ(t, 74, odd->words[0]);
}

/** What is wrong in any epoch but one of locks. */
static void check_no_flush(struct ept *t, MPI_Win win)
{
    WRONG(t, MPI_Win_flush(t->rank, win));
    WRONG(t, MPI_Win_flush_all(win));
    WRONG(t, MPI_Win_flush_local(t->rank, win));
    WRONG(t, MPI_Win_flush_local_all(win));
    EPT_OK(t, MPI_Win_sync(win)); /* as programs with shared windows use it */
}

/** What begins an access epoch. */
static void check_no_begin(struct ept *t, struct odd *odd, bool may_lock)
{
    if (!may_lock) {
        WRONG(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, odd->win));
    }
    WRONG(t, MPI_Win_lock_all(0, odd->win));
    WRONG(t, MPI_Win_start(odd->self, 0, odd->win));
    WRONG(t, MPI_Win_start(MPI_GROUP_EMPTY, 0, odd->win));
    WRONG(t, MPI_Win_fence(0, odd->win));
}

static void check_none(struct ept *t, struct odd *odd)
{
    int flag;

    check_no_access(t, odd->win);
    check_no_flush(t, odd->win);
    WRONG(t, MPI_Win_unlock(t->rank, odd->win));
    WRONG(t, MPI_Win_unlock_all(odd->win));
    WRONG(t, MPI_Win_complete(odd->win));
    WRONG(t, MPI_Win_wait(odd->win));
    WRONG(t, MPI_Win_test(odd->win, &flag));
    /* What libmpi, or the group, says. */
    WRONG_CLASS(t, MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, 1000000, 0, odd->win));
    WRONG_CLASS(t, MPI_ERR_LOCKTYPE, MPI_Win_lock(-17, t->rank, 0, odd->win));
    WRONG_CLASS(t, MPI_ERR_ASSERT,
                MPI_Win_lock(MPI_LOCK_SHARED, t->rank, MPI_MODE_NOPUT, odd->win));
    WRONG_CLASS(t, MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, odd->win));
    WRONG_CLASS(t, MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, odd->win));
    if (1 < t->size) {
        WRONG_CLASS(t, MPI_ERR_GROUP, MPI_Win_post(odd->outside, 0, odd->win));
        WRONG_CLASS(t, MPI_ERR_GROUP, MPI_Win_start(odd->outside, 0, odd->win));
    }
}

static void check_lock(struct ept *t, struct odd *odd, int members)
{
    const int next = (t->rank + 1) % members;
    int64_t value = 5;

    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, odd->win));
    check_no_begin(t, odd, false);
    WRONG(t, MPI_Win_unlock_all(odd->win));
    WRONG(t, MPI_Win_complete(odd->win));
    WRONG_CLASS(t, MPI_ERR_RANK, MPI_Win_flush(members, odd->win));
    WRONG_CLASS(t, MPI_ERR_RANK, MPI_Win_flush(-100, odd->win));
    WRONG_CLASS(t, MPI_ERR_RANK, MPI_Win_flush_local(members, odd->win));
    if (1 < members) {
        WRONG(t, MPI_Win_flush(next, odd->win));
        WRONG(t, MPI_Win_flush_local(next, odd->win));
        WRONG(t, win_put(odd->win, &value, 1, next, 1));
        WRONG(t, MPI_Win_unlock(next, odd->win));
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, next, 0, odd->win));
        WRONG(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, odd->win));
        EPT_OK(t, win_put(odd->win, &value, 1, next, 1));
        EPT_OK(t, MPI_Win_flush(next, odd->win));
        EPT_OK(t, MPI_Win_unlock(next, odd->win));
        WRONG(t, MPI_Win_unlock(next, odd->win));
        WRONG(t, win_put(odd->win, &value, 1, next, 1));
    }
    WRONG(t, MPI_Win_free(&odd->win));
    check_access(t, odd->win, 6);
    EPT_OK(t, MPI_Win_unlock(t->rank, odd->win));
}

static void check_lock_all(struct ept *t, struct odd *odd)
{
    EPT_OK(t, MPI_Win_lock_all(0, odd->win));
    check_no_begin(t, odd, false);
    WRONG(t, MPI_Win_unlock(t->rank, odd->win));
    WRONG(t, MPI_Win_complete(odd->win));
    WRONG(t, MPI_Win_free(&odd->win));
    check_access(t, odd->win, 7);
    EPT_OK(t, MPI_Win_unlock_all(odd->win));
}

static void check_pscw(struct ept *t, struct odd *odd, int members)
{
    const int next = (t->rank + 1) % members;
    int64_t value = 9;
    int flag = -1;

    EPT_OK(t, MPI_Win_post(odd->self, 0, odd->win));
    WRONG(t, MPI_Win_post(odd->self, 0, odd->win));
    WRONG(t, MPI_Win_fence(0, odd->win));
    WRONG(t, MPI_Win_complete(odd->win));
    check_no_access(t, odd->win);
    EPT_OK(t, MPI_Win_test(odd->win, &flag));
    EPT_EQ(t, 0, flag);
    EPT_OK(t, MPI_Win_start(odd->self, 0, odd->win));
    check_no_begin(t, odd, false);
    check_no_flush(t, odd->win);
    WRONG(t, MPI_Win_unlock(t->rank, odd->win));
    WRONG(t, MPI_Win_unlock_all(odd->win));
    if (1 < members) {
        WRONG(t, win_put(odd->win, &value, 1, next, 1));
    }
    WRONG(t, MPI_Win_free(&odd->win));
    check_access(t, odd->win, 8);
    EPT_OK(t, MPI_Win_complete(odd->win));
    WRONG(t, MPI_Win_complete(odd->win));
    WRONG(t, MPI_Win_free(&odd->win));
    EPT_OK(t, MPI_Win_wait(odd->win));
    WRONG(t, MPI_Win_wait(odd->win));
    EPT_EQ(t, 8, odd->words[0]);
}

static void check_fence(struct ept *t, struct odd *odd)
{
    EPT_OK(t, MPI_Win_fence(0, odd->win));
    check_no_flush(t, odd->win);
    WRONG(t, MPI_Win_unlock(t->rank, odd->win));
    WRONG(t, MPI_Win_unlock_all(odd->win));
    WRONG(t, MPI_Win_complete(odd->win));
    WRONG(t, MPI_Win_wait(odd->win));
    check_access(t, odd->win, 9);
    EPT_OK(t, MPI_Win_fence(MPI_MODE_NOSUCCEED, odd->win));
    EPT_EQ(t, 9, odd->words[0]);
    check_no_access(t, odd->win);
}

static void case_errors(MPI_Comm comm, struct ept *t)
{
    struct odd odd;
    MPI_Comm sub;
    int members;

    if (!odd_new(comm, t, &odd, &sub)) {
        return;
    }
    EPT_OK(t, MPI_Comm_size(sub, &members));
    for (int i = 0; i < 3; ++i) {
        check_none(t, &odd);
        check_usable(t, &odd);
        check_lock(t, &odd, members);
        EPT_OK(t, MPI_Barrier(sub));
        check_usable(t, &odd);
        check_lock_all(t, &odd);
        EPT_OK(t, MPI_Barrier(sub));
        check_usable(t, &odd);
        check_pscw(t, &odd, members);
        EPT_OK(t, MPI_Barrier(sub));
        check_usable(t, &odd);
        check_fence(t, &odd);
        check_usable(t, &odd);
    }
    odd_end(t, &odd, &sub);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_errors);
    return 0;
}
