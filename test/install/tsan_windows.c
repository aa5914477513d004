/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Of the program for tsan.t (tsan_right.c): data handed over by windows alone, from the process's
 * endpoint 0 to its endpoint 1.
 */

#include "tsan_right.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct window_t {
    MPI_Win win;
    int first;           /**< rank of the process's endpoint 0 */
    MPI_Group from, to;  /**< of endpoint 0, and of endpoint 1 */
    _Atomic int64_t *at; /**< the word of endpoint 0 */
} window_t;

typedef void way_t(const rank_t *rank, const window_t *w);

static void nothing(const rank_t *rank, const window_t *w)
{
    (void) rank;
    (void) w;
}

static void fence(const rank_t *rank, const window_t *w)
{
    (void) rank;
    done(MPI_Win_fence(0, w->win));
}

/* A post is before the other's start, a complete before the other's wait. */
static void expose(const rank_t *rank, const window_t *w)
{
    (void) rank;
    done(MPI_Win_post(w->to, 0, w->win));
    done(MPI_Win_wait(w->win));
}
static void access_epoch(const rank_t *rank, const window_t *w)
{
    done(MPI_Win_start(w->from, 0, w->win));
    read_table(rank, w->first, "behind a start");
    done(MPI_Win_complete(w->win));
}
static void complete(const rank_t *rank, const window_t *w)
{
    done(MPI_Win_start(w->to, 0, w->win));
    write_table(rank, w->first);
    done(MPI_Win_complete(w->win));
}
static void await(const rank_t *rank, const window_t *w)
{
    (void) rank;
    done(MPI_Win_post(w->from, 0, w->win));
    done(MPI_Win_wait(w->win));
}
static void test(const rank_t *rank, const window_t *w)
{
    (void) rank;
    done(MPI_Win_post(w->from, 0, w->win));
    for (int flag = 0; !flag;) {
        done(MPI_Win_test(w->win, &flag));
    }
}

/* A flag in the window; each operation and each end of one. */
#define FLAG &flag, 1, MPI_INT64_T
#define PLACE w->first, 0, 1, MPI_INT64_T
#define SAYS(name, begin, operation, finish)                    \
    static void name(const rank_t *rank, const window_t *w)     \
    {                                                           \
        const int64_t flag = rank->step;                        \
        int64_t old = 0;                                        \
        MPI_Request request = MPI_REQUEST_NULL;                 \
                                                                \
        begin;                                                  \
        done(operation);                                        \
        done(MPI_Wait(&request, MPI_STATUS_IGNORE));            \
        finish;                                                 \
        (void) old;                                             \
    }
#define HEARS(name, begin, operation, finish)                   \
    static void name(const rank_t *rank, const window_t *w)     \
    {                                                           \
        int64_t flag = 0;                                       \
        MPI_Request request = MPI_REQUEST_NULL;                 \
                                                                \
        while (flag != rank->step) {                            \
            begin;                                              \
            done(operation);                                    \
            done(MPI_Wait(&request, MPI_STATUS_IGNORE));        \
            finish;                                             \
        }                                                       \
    }
#define LOCK done(MPI_Win_lock(MPI_LOCK_SHARED, w->first, 0, w->win))
#define UNLOCK done(MPI_Win_unlock(w->first, w->win))
#define NOTHING (void) 0
/* Within an epoch of all, in which all cases are. */
#define FLUSH(form, ...) done(MPI_Win_flush##form(__VA_ARGS__))

SAYS(says_put, NOTHING, MPI_Put(FLAG, PLACE, w->win), FLUSH(, w->first, w->win))
SAYS(says_rput, NOTHING, MPI_Rput(FLAG, PLACE, w->win, &request), FLUSH(_all, w->win))
SAYS(says_accumulate, NOTHING, MPI_Accumulate(FLAG, PLACE, MPI_REPLACE, w->win),
     FLUSH(, w->first, w->win))
SAYS(says_raccumulate, NOTHING, MPI_Raccumulate(FLAG, PLACE, MPI_REPLACE, w->win, &request),
     FLUSH(, w->first, w->win))
SAYS(says_fetch, NOTHING,
     MPI_Fetch_and_op(&flag, &old, MPI_INT64_T, w->first, 0, MPI_REPLACE, w->win),
     FLUSH(, w->first, w->win))
SAYS(says_get_accumulate, NOTHING,
     MPI_Get_accumulate(FLAG, &old, 1, MPI_INT64_T, PLACE, MPI_REPLACE, w->win),
     FLUSH(, w->first, w->win))
SAYS(says_swap, NOTHING,
     MPI_Compare_and_swap(&flag, &(int64_t){flag - 1}, &old, MPI_INT64_T, w->first, 0, w->win),
     FLUSH(, w->first, w->win))

HEARS(hears_flush, NOTHING, MPI_Get(FLAG, PLACE, w->win), FLUSH(, w->first, w->win))
HEARS(hears_flush_all, NOTHING, MPI_Get(FLAG, PLACE, w->win), FLUSH(_all, w->win))
HEARS(hears_local, NOTHING, MPI_Get(FLAG, PLACE, w->win), FLUSH(_local, w->first, w->win))
HEARS(hears_local_all, NOTHING, MPI_Get(FLAG, PLACE, w->win), FLUSH(_local_all, w->win))
HEARS(hears_request, NOTHING, MPI_Rget(FLAG, PLACE, w->win, &request), NOTHING)
HEARS(hears_result, NOTHING,
      MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, FLAG, PLACE, MPI_NO_OP, w->win, &request), NOTHING)

/* In shared memory. */
static void stores(const rank_t *rank, const window_t *w)
{
    done(MPI_Win_sync(w->win));
    atomic_store_explicit(w->at, rank->step, memory_order_relaxed); /* orders nothing itself */
}
static void loads(const rank_t *rank, const window_t *w)
{
    while (rank->step != atomic_load_explicit(w->at, memory_order_relaxed)) {
    }
    done(MPI_Win_sync(w->win));
}

/* In epochs of their own. */
SAYS(says_unlock, LOCK, MPI_Put(FLAG, PLACE, w->win), UNLOCK)
HEARS(hears_unlock, LOCK, MPI_Get(FLAG, PLACE, w->win), UNLOCK)
HEARS(hears_unlock_all, done(MPI_Win_lock_all(0, w->win)), MPI_Get(FLAG, PLACE, w->win),
      done(MPI_Win_unlock_all(w->win)))

static const struct {
    const char *name;
    way_t *from, *to, *all;
    int is_passive; /* in an epoch of all */
} ways[] = {
    {"MPI_Win_fence", nothing, nothing, fence, 0},
    {"MPI_Win_post", expose, access_epoch, nothing, 0},
    {"MPI_Win_complete", complete, await, nothing, 0},
    {"MPI_Win_test", complete, test, nothing, 0},
    {"MPI_Put", says_put, hears_flush, nothing, 1},
    {"MPI_Rput", says_rput, hears_flush_all, nothing, 1},
    {"MPI_Accumulate", says_accumulate, hears_local, nothing, 1},
    {"MPI_Raccumulate", says_raccumulate, hears_local_all, nothing, 1},
    {"MPI_Fetch_and_op", says_fetch, hears_request, nothing, 1},
    {"MPI_Get_accumulate", says_get_accumulate, hears_result, nothing, 1},
    {"MPI_Compare_and_swap", says_swap, hears_flush, nothing, 1},
    {"MPI_Win_sync", stores, loads, nothing, 1},
    {"MPI_Win_unlock", says_unlock, hears_unlock, nothing, 0},
    {"MPI_Win_unlock_all", says_unlock, hears_unlock_all, nothing, 0},
};

/* The window's lock guards a table that all write. */
static void guarded(const rank_t *rank, const window_t *w)
{
    for (int i = 0; i < 10; ++i) {
        done(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->first, 0, w->win));
        write_table(rank, w->first);
        done(MPI_Win_unlock(w->first, w->win));
    }
}

static void window_begin(const rank_t *rank, window_t *w)
{
    MPI_Group all;
    MPI_Aint size;
    void *base;
    int unit, ranks[] = {rank->me - rank->index, rank->me - rank->index + 1};

    w->first = ranks[0];
    done(MPI_Win_allocate(sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, rank->comm, &base,
                          &w->win));
    done(MPI_Win_shared_query(w->win, w->first, &size, &unit, &base));
    w->at = base;
    done(MPI_Win_get_group(w->win, &all));
    done(MPI_Group_incl(all, 1, &ranks[0], &w->from));
    done(MPI_Group_incl(all, 1, &ranks[1], &w->to));
    done(MPI_Group_free(&all));
    done(MPI_Barrier(rank->comm));
}

void windows(rank_t *rank)
{
    window_t w;

    window_begin(rank, &w);
    for (int i = 0; i < (int) (sizeof(ways) / sizeof(ways[0])); ++i) {
        ++rank->step;
        if (0 == rank->index) { /* before it is said in an epoch, as that begins with a lock */
            write_table(rank, w.first);
        }
        if (ways[i].is_passive) {
            done(MPI_Win_lock_all(0, w.win));
        }
        (0 == rank->index ? ways[i].from : 1 == rank->index ? ways[i].to : nothing)(rank, &w);
        ways[i].all(rank, &w);
        if (1 == rank->index) {
            read_table(rank, w.first, ways[i].name);
        }
        if (ways[i].is_passive) {
            done(MPI_Win_unlock_all(w.win));
        }
        done(MPI_Barrier(rank->comm));
    }
    ++rank->step;
    guarded(rank, &w);
    done(MPI_Barrier(rank->comm));
    ++rank->step;
    if (0 == rank->index) {
        write_table(rank, w.first);
    }
    done(MPI_Group_free(&w.from));
    done(MPI_Group_free(&w.to));
    done(MPI_Win_free(&w.win));
    if (1 == rank->index) {
        read_table(rank, w.first, "MPI_Win_free");
    }
    done(MPI_Barrier(rank->comm));
}
