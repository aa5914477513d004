/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Several threads use one window handle at the same time: operations of all kinds with flushes and
 * requests in an epoch of MPI_Win_lock_all; locks of different targets; an exposure epoch in one thread
 * and an access epoch in another one; attached memory; levels of threads that the window is told of.
 *
 *   --rounds N  of each thread (default 30)
 *
 * Guards: osc_epwin_enter.c, osc_epwin_enter.h, osc_epwin_lock.c, osc_epwin_am_link.c,
 * osc_epwin_am_result.c, osc_epwin_am_long.c
 */

#include "win_tools.h"

enum {
    THREADS = 3,
    COUNTER = 0, /**< word that all increment by MPI_Fetch_and_op */
    SUM,         /**< by MPI_Accumulate */
    GUARDED,     /**< by a get and a put under an exclusive lock */
    DOUBLES,     /**< by MPI_Accumulate of MPI_DOUBLE */
    FIRST,       /**< the first word of the first area */
    AREA = 1500  /**< words of a thread of a rank at each target: several records of a message */
};

/** A thread of a rank. */
struct worker {
    pthread_t thread;
    struct ept *t;
    MPI_Win win;
    int number;
    void (*body)(struct worker *w);
    uint64_t random;
    long rounds;
    int64_t *buffer, *there;   /**< AREA words each */
    int64_t *added;            /**< by rank: to the sum there */
    int64_t *seen;             /**< by rank: of the counter there */
    int64_t *own;              /**< by rank: of the first word of the area there */
};

static int below(struct worker *w, int limit)
{
    return (int) ept_random_below(&w->random, (uint64_t) limit);
}

/** The first word of a thread's area at each target. */
static int area(const struct worker *w)
{
    return FIRST + (w->t->rank * THREADS + w->number) * AREA;
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;

    w->body(w);
    return NULL;
}

/** Run a body in all threads of each rank.  @param[out] added  the sum of theirs, by rank; or NULL */
static void run_workers(struct ept *t, MPI_Win win, void (*body)(struct worker *w), int64_t *added)
{
    const size_t words = 2 * AREA + 3 * (size_t) t->size;
    struct worker workers[THREADS];

    for (int i = 0; i < THREADS; ++i) {
        struct worker *w = &workers[i];

        *w = (struct worker){.t = t,
                             .win = win,
                             .number = i,
                             .body = body,
                             .random = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) i, 0),
                             .rounds = ept_option_long("rounds", 30)};
        w->buffer = calloc(words, sizeof(int64_t));
        w->there = w->buffer + AREA;
        w->added = w->there + AREA;
        w->seen = w->added + t->size;
        w->own = w->seen + t->size;
        pthread_create(&w->thread, NULL, run_worker, w);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
        for (int rank = 0; NULL != added && rank < t->size; ++rank) {
            added[rank] += workers[i].added[rank];
        }
        free(workers[i].buffer);
    }
}

/** A window of a word for each purpose, and an area for each thread of each rank; zeroed. */
static MPI_Win window_new(MPI_Comm comm, struct ept *t, int kind, int64_t **words_p)
{
    const MPI_Aint bytes = (FIRST + (MPI_Aint) t->size * THREADS * AREA) * (MPI_Aint) sizeof(int64_t);
    MPI_Win win;

    if (WIN_ALLOCATED == kind) {
        EPT_OK(t, MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, comm, words_p, &win));
    } else {
        *words_p = malloc((size_t) bytes);
        EPT_OK(t, MPI_Win_create(*words_p, bytes, sizeof(int64_t), MPI_INFO_NULL, comm, &win));
    }
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    memset(*words_p, 0, (size_t) bytes);
    EPT_OK(t, MPI_Barrier(comm));
    return win;
}

/* ---- MPI_Win_lock_all ------------------------------------------------------------------------- */

static void flush(struct worker *w, int target, bool is_local)
{
    struct ept *t = w->t;

    switch (below(w, 2) + (is_local ? 2 : 0)) {
    case 0:
        EPT_OK(t, MPI_Win_flush(target, w->win));
        break;
    case 1:
        EPT_OK(t, MPI_Win_flush_all(w->win));
        break;
    case 2:
        EPT_OK(t, MPI_Win_flush_local(target, w->win));
        break;
    default:
        EPT_OK(t, MPI_Win_flush_local_all(w->win));
        break;
    }
}

static void wait_for(struct worker *w, MPI_Request *request)
{
    EPT_OK(w->t, MPI_Wait(request, MPI_STATUS_IGNORE));
}

/** Put words to the own area, and get them again. */
static void put_and_get(struct worker *w, int target, int count)
{
    const int at = area(w) + 1 + below(w, AREA - count);
    struct ept *t = w->t;
    MPI_Request request;

    for (int i = 0; i < count; ++i) {
        w->buffer[i] = (int64_t) ept_random(&w->random);
        w->there[i] = -1;
    }
    if (0 == below(w, 2)) {
        EPT_OK(t, win_put(w->win, w->buffer, count, target, at));
    } else {
        EPT_OK(t, MPI_Rput(w->buffer, count, MPI_INT64_T, target, at, count, MPI_INT64_T, w->win,
                           &request));
        wait_for(w, &request);
    }
    flush(w, target, false);
    if (0 == below(w, 2)) {
        EPT_OK(t, win_get(w->win, w->there, count, target, at));
        flush(w, target, true);
    } else {
        EPT_OK(t, MPI_Rget(w->there, count, MPI_INT64_T, target, at, count, MPI_INT64_T, w->win,
                           &request));
        wait_for(w, &request);
    }
    EPT_EQ(t, 0, memcmp(w->buffer, w->there, (size_t) count * sizeof(int64_t)));
    /* The same again, as results of an operation that needs several records in each direction. */
    memset(w->there, 0, (size_t) count * sizeof(int64_t));
    EPT_OK(t, MPI_Rget_accumulate(w->buffer, count, MPI_INT64_T, w->there, count, MPI_INT64_T, target,
                                  at, count, MPI_INT64_T, MPI_REPLACE, w->win, &request));
    wait_for(w, &request);
    EPT_EQ(t, 0, memcmp(w->buffer, w->there, (size_t) count * sizeof(int64_t)));
}

/** Every other word of the own area, by a datatype that is freed before the result is there. */
static void get_with_gaps(struct worker *w, int target)
{
    enum { BLOCKS = 600 };
    struct ept *t = w->t;
    MPI_Datatype type;

    EPT_OK(t, MPI_Type_vector(BLOCKS, 1, 2, MPI_INT64_T, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    for (int i = 0; i < 2 * BLOCKS; ++i) {
        w->buffer[i] = (int64_t) ept_random(&w->random);
        w->there[i] = -1;
    }
    EPT_OK(t, MPI_Put(w->buffer, 1, type, target, area(w) + 1, 1, type, w->win));
    EPT_OK(t, MPI_Get_accumulate(NULL, 0, MPI_INT64_T, w->there, 1, type, target, area(w) + 1, 1,
                                 type, MPI_NO_OP, w->win));
    EPT_OK(t, MPI_Type_free(&type));
    flush(w, target, false);
    for (int i = 0; i < 2 * BLOCKS; ++i) {
        EPT_EQ(t, 0 == i % 2 ? w->buffer[i] : -1, w->there[i]);
    }
}

/** Atomic operations on the own first word, and on those of all. */
static void atomics(struct worker *w, int target)
{
    const int64_t one = 1, add = below(w, 1000), next = w->own[target] + 7;
    const double half = 0.5;
    struct ept *t = w->t;
    int64_t before = -1, swapped = -1;

    EPT_OK(t, MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, COUNTER, MPI_SUM, w->win));
    EPT_OK(t, win_add(w->win, &add, target, SUM));
    EPT_OK(t,
           MPI_Accumulate(&half, 1, MPI_DOUBLE, target, DOUBLES, 1, MPI_DOUBLE, MPI_SUM, w->win));
    EPT_OK(t, MPI_Compare_and_swap(&next, &w->own[target], &swapped, MPI_INT64_T, target, area(w),
                                   w->win));
    flush(w, target, false);
    EPT_EQ(t, w->own[target], swapped);
    EPT_CHECK(t, before >= w->seen[target], "counter %lld after %lld", (long long) before,
              (long long) w->seen[target]);
    w->own[target] = next;
    w->seen[target] = before + 1;
    w->added[target] += add;
}

static void lock_all_body(struct worker *w)
{
    for (long round = 0; round < w->rounds; ++round) {
        const int target = below(w, w->t->size);

        ept_phase(w->t, "thread %d, round %ld, target %d", w->number, round, target);
        put_and_get(w, target, 1);
        atomics(w, target);
        if (0 == round % 4) {
            put_and_get(w, target, AREA - 1);
            get_with_gaps(w, target);
        }
    }
}

/** The words that all have changed.  @param[in] added  by this rank, by target */
static void check_sums(MPI_Comm comm, struct ept *t, const int64_t *words, const int64_t *added)
{
    const int64_t all = (int64_t) t->size * THREADS * ept_option_long("rounds", 30);
    int64_t sums[2] = {words[COUNTER], 0}, sum, counters;
    double halves = 0, here;

    memcpy(&here, &words[DOUBLES], sizeof(here));
    EPT_OK(t, MPI_Reduce_scatter_block(added, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
    EPT_EQ(t, sum, words[SUM]);
    EPT_OK(t, MPI_Allreduce(sums, &counters, 1, MPI_INT64_T, MPI_SUM, comm));
    EPT_EQ(t, all, counters);
    EPT_OK(t, MPI_Allreduce(&here, &halves, 1, MPI_DOUBLE, MPI_SUM, comm));
    EPT_EQ(t, all, (int64_t) (2 * halves));
}

static void case_lock_all(MPI_Comm comm, struct ept *t)
{
    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *added = calloc((size_t) t->size, sizeof(*added)), *words;
        MPI_Win win = window_new(comm, t, kind, &words);

        EPT_OK(t, MPI_Win_lock_all(0, win));
        run_workers(t, win, lock_all_body, added);
        EPT_OK(t, MPI_Win_unlock_all(win));
        EPT_OK(t, MPI_Barrier(comm));
        check_sums(comm, t, words, added);
        win_end(t, &win, kind, words);
        free(added);
    }
}

/* ---- MPI_Win_lock ----------------------------------------------------------------------------- */

/** A lock of a target that no other thread of this rank locks meanwhile. */
static void lock_one(struct worker *w, int target)
{
    const int how = below(w, 3), at = area(w) + 1 + below(w, AREA - 1);
    const int64_t one = 1, value = (int64_t) ept_random(&w->random);
    struct ept *t = w->t;
    int64_t there = -1, guarded = -1;

    EPT_OK(t, MPI_Win_lock(0 == how ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    EPT_OK(t, win_put(w->win, &value, 1, target, at));
    EPT_OK(t, win_add(w->win, &one, target, SUM));
    if (0 != how) {
        EPT_OK(t, win_get(w->win, &guarded, 1, target, GUARDED));
        EPT_OK(t, 1 == how ? MPI_Win_flush(target, w->win) : MPI_Win_flush_all(w->win));
        ++guarded;
        EPT_OK(t, win_put(w->win, &guarded, 1, target, GUARDED));
        ++w->added[target];
    }
    EPT_OK(t, MPI_Win_flush(target, w->win));
    EPT_OK(t, win_get(w->win, &there, 1, target, at));
    EPT_OK(t, MPI_Win_unlock(target, w->win));
    EPT_EQ(t, value, there);
}

/** Each thread has targets of its own, and now and then locks two of them, in their order. */
static void locks_body(struct worker *w)
{
    const int last = w->number + (w->t->size - 1 - w->number) / THREADS * THREADS;

    for (long round = 0; round < w->rounds && w->number < w->t->size; ++round) {
        const int target = w->number + THREADS * below(w, (last - w->number) / THREADS + 1);
        const bool nested = 0 == round % 5 && target < last;

        ept_phase(w->t, "thread %d, round %ld, target %d", w->number, round, target);
        if (nested) {
            EPT_OK(w->t, MPI_Win_lock(0 == round % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target,
                                      0, w->win));
        }
        lock_one(w, nested ? last : target);
        if (nested) {
            EPT_OK(w->t, MPI_Win_unlock(target, w->win));
        }
    }
}

static void case_locks(MPI_Comm comm, struct ept *t)
{
    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *added = calloc((size_t) t->size, sizeof(*added)), *words, sum;
        MPI_Win win = window_new(comm, t, kind, &words);

        run_workers(t, win, locks_body, added);
        EPT_OK(t, MPI_Barrier(comm));
        /* All locks have been released, those of domains as well: any other one can be taken. */
        EPT_OK(t, MPI_Win_lock_all(0, win));
        EPT_OK(t, MPI_Win_flush_all(win));
        EPT_OK(t, MPI_Win_unlock_all(win));
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (t->rank + 1) % t->size, 0, win));
        EPT_OK(t, MPI_Win_unlock((t->rank + 1) % t->size, win));
        EPT_OK(t, MPI_Reduce_scatter_block(added, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
        EPT_EQ(t, sum, words[GUARDED]);
        win_end(t, &win, kind, words);
        free(added);
    }
}

/* ---- other epochs ----------------------------------------------------------------------------- */

/** The first thread exposes the rank's memory to all, while the second one accesses that of all. */
static void pscw_body(struct worker *w)
{
    struct ept *t = w->t;
    MPI_Group all;

    EPT_OK(t, MPI_Win_get_group(w->win, &all));
    for (long round = 0; round < w->rounds && 2 > w->number; ++round) {
        if (0 == w->number) {
            EPT_OK(t, MPI_Win_post(all, 0, w->win));
            EPT_OK(t, MPI_Win_wait(w->win));
        } else {
            EPT_OK(t, MPI_Win_start(all, 0, w->win));
            for (int target = 0; target < t->size; ++target) {
                w->buffer[target] = 100 * round + target;
                EPT_OK(t, win_put(w->win, &w->buffer[target], 1, target, area(w)));
                EPT_OK(t, win_add(w->win, &w->buffer[target], target, SUM));
            }
            EPT_OK(t, MPI_Win_complete(w->win));
        }
    }
    EPT_OK(t, MPI_Group_free(&all));
}

static void case_pscw(MPI_Comm comm, struct ept *t)
{
    const int64_t rounds = ept_option_long("rounds", 30);

    for (int kind = 0; kind < WIN_KINDS; ++kind) {
        int64_t *words;
        MPI_Win win = window_new(comm, t, kind, &words);

        run_workers(t, win, pscw_body, NULL);
        EPT_OK(t, MPI_Barrier(comm));
        for (int rank = 0; rank < t->size; ++rank) {
            EPT_EQ(t, 100 * (rounds - 1) + t->rank, words[FIRST + (rank * THREADS + 1) * AREA]);
        }
        EPT_EQ(t, t->size * (100 * (rounds * (rounds - 1) / 2) + rounds * t->rank), words[SUM]);
        win_end(t, &win, kind, words);
    }
}

/** Attach memory, use it, and detach it. */
static void attach_body(struct worker *w)
{
    struct ept *t = w->t;
    MPI_Aint at;

    EPT_OK(t, MPI_Get_address(w->buffer, &at));
    for (long round = 0; round < w->rounds; ++round) {
        int64_t value = round + 1, there = -1;

        EPT_OK(t, MPI_Win_attach(w->win, w->buffer, AREA * (MPI_Aint) sizeof(int64_t)));
        EPT_OK(t, MPI_Put(&value, 1, MPI_INT64_T, t->rank, at, 1, MPI_INT64_T, w->win));
        EPT_OK(t, MPI_Win_flush(t->rank, w->win));
        EPT_OK(t, MPI_Get(&there, 1, MPI_INT64_T, t->rank, at, 1, MPI_INT64_T, w->win));
        EPT_OK(t, MPI_Win_flush(t->rank, w->win));
        EPT_EQ(t, value, there);
        EPT_OK(t, MPI_Win_detach(w->win, w->buffer));
    }
}

static void case_attach(MPI_Comm comm, struct ept *t)
{
    MPI_Win win;

    EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Win_lock_all(0, win));
    run_workers(t, win, attach_body, NULL);
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
}

/* ---- the info key mpix_thread_level ----------------------------------------------------------- */

/** A window of two words, with a level of threads. */
static MPI_Win window_of_level(MPI_Comm comm, struct ept *t, const char *level, int64_t *words)
{
    MPI_Info info;
    MPI_Win win;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, "mpix_thread_level", level));
    EPT_OK(t, MPI_Win_create(words, 2 * sizeof(*words), sizeof(*words), info, comm, &win));
    EPT_OK(t, MPI_Info_free(&info));
    return win;
}

struct locker {
    struct ept *t;
    MPI_Win win;
    int target, word;
    _Atomic bool has_lock;
};

static void *run_locker(void *arg)
{
    struct locker *locker = arg;
    const int64_t one = 1;
    struct ept *t = locker->t;

    EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, locker->target, 0, locker->win));
    atomic_store(&locker->has_lock, true);
    EPT_OK(t, win_put(locker->win, &one, 1, locker->target, locker->word));
    EPT_OK(t, MPI_Win_unlock(locker->target, locker->win));
    return NULL;
}

/** The last rank holds its own lock until the second thread of rank 0, whose first lock this is, has
 * had another one.  Meanwhile the first thread waits in MPI_Win_lock. */
static void case_multiple(MPI_Comm comm, struct ept *t)
{
    const int last = t->size - 1;
    int64_t words[2] = {0, 0};
    MPI_Win win;

    if (3 > t->size) {
        ept_skip(t, "case_multiple", "takes three ranks");
        return;
    }
    win = window_of_level(comm, t, "multiple", words);
    if (last == t->rank) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win));
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Win_unlock(last, win));
    } else {
        EPT_OK(t, MPI_Barrier(comm));
    }
    if (0 == t->rank) {
        struct locker first = {.t = t, .win = win, .target = last, .word = 0},
                      second = {.t = t, .win = win, .target = last - 1, .word = 1};
        pthread_t thread;

        pthread_create(&thread, NULL, run_locker, &first);
        for (int i = 0; i < 100 && !atomic_load(&first.has_lock); ++i) {
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* it asks for its lock */
        }
        if (!atomic_load(&first.has_lock)) {
            (void) run_locker(&second);
        }
        EPT_CHECK(t, !atomic_load(&first.has_lock), "a lock that another rank holds is taken");
        EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, last, 0, comm));
        pthread_join(thread, NULL);
    }
    EPT_OK(t, MPI_Win_free(&win));
    EPT_EQ(t, last == t->rank, words[0]);
    EPT_EQ(t, last - 1 == t->rank, words[1]);
}

/** Threads take turns. */
static void case_serialized(MPI_Comm comm, struct ept *t)
{
    int64_t words[2] = {0, 0};
    MPI_Win win = window_of_level(comm, t, "serialized", words);

    for (int i = 0; i < 4; ++i) {
        struct locker locker = {
            .t = t, .win = win, .target = (t->rank + 1) % t->size, .word = i % 2};
        pthread_t thread;

        pthread_create(&thread, NULL, run_locker, &locker);
        pthread_join(thread, NULL);
        (void) run_locker(&locker);
    }
    EPT_OK(t, MPI_Win_free(&win));
    EPT_EQ(t, 1, words[0]);
    EPT_EQ(t, 1, words[1]);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_lock_all);
    EPT_CASE(t, case_locks);
    EPT_CASE(t, case_pscw);
    EPT_CASE(t, case_attach);
    EPT_CASE(t, case_multiple);
    EPT_CASE(t, case_serialized);
    return 0;
}
