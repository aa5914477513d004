/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One-sided communication: worker 0 accesses the window of its peer, each operation with its flush
 * or its epoch, while the peer waits for a message, so it is in MPI.  Fence, post-start-complete-wait
 * and the contended counter are of both.  With --created windows are of MPI_Win_create, else of
 * MPI_Win_allocate.  The bare measurements (copy, atomic) access the memory of a shared window
 * directly.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "epbench.h"
#include "epbench_ring.h"

/** Least bytes of a member's window: members do not share lines. */
#define WINDOW_BYTES 4096

/** Tag of the message that ends a block. */
#define TAG_BLOCK 21

/** A worker's window of the point. */
struct epbench_window_t {
    MPI_Win win;
    void *memory;     /**< of my part */
    void *own;        /**< memory, where it is not the library's, else NULL */
    void *direct;     /**< of a shared window: the target's part, else NULL */
    MPI_Group peer;   /**< for post and start */
    int target;       /**< rank */
    bool is_lock_all; /**< inside of lock_all and unlock_all */
};

typedef struct epbench_window_t window_t;

/* Blocks of worker 0 alone. */

/** Ends the block of the workers that wait. */
static void origin_done(epbench_worker_t *worker)
{
    for (int rank = 1; rank < worker->size; ++rank) {
        MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_BLOCK, worker->comm);
    }
}

/** Waits in MPI; with more workers than two the cores are left to worker 0. */
static void wait_for_origin(epbench_worker_t *worker)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    int arrived = 2 == worker->size;

    while (!arrived) {
        nanosleep(&nap, NULL);
        MPI_Iprobe(0, TAG_BLOCK, worker->comm, &arrived, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_BLOCK, worker->comm, MPI_STATUS_IGNORE);
}

/** Defines the block of a body, for the worker or workers for which acts is true. */
#define BLOCK(name, acts, ...)                                                               \
    static void block_##name(epbench_worker_t *worker, const epbench_point_t *point, long n) \
    {                                                                                        \
        const window_t *window = worker->window;                                             \
        const MPI_Win win = window->win;                                                     \
        const int target = window->target;                                                   \
        const int count = (int) (point->size / sizeof(double));                              \
        void *out = worker->send_buffer;                                                     \
        void *in = worker->recv_buffer;                                                      \
        const long first = worker->calls;                                                    \
                                                                                             \
        (void) win;                                                                          \
        (void) target;                                                                       \
        (void) count;                                                                        \
        (void) out;                                                                          \
        (void) in;                                                                           \
        if (acts) {                                                                          \
            for (long i = first; i < first + n; ++i) {                                       \
                __VA_ARGS__;                                                                 \
            }                                                                                \
        }                                                                                    \
        if (point->measure->origin_only) {                                                   \
            (0 == worker->rank ? origin_done : wait_for_origin)(worker);                     \
        }                                                                                    \
        worker->calls = first + n;                                                           \
    }

#define ORIGIN (0 == worker->rank)
#define ALL (NULL != window)

BLOCK(put, ORIGIN, MPI_Put(out, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
      MPI_Win_flush(target, win))
BLOCK(get, ORIGIN, MPI_Get(in, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
      MPI_Win_flush(target, win))
BLOCK(accumulate, ORIGIN,
      MPI_Accumulate(out, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, MPI_SUM, win);
      MPI_Win_flush(target, win))
BLOCK(fetch, ORIGIN, MPI_Fetch_and_op(out, in, MPI_INT64_T, target, 0, MPI_SUM, win);
      MPI_Win_flush(target, win))
BLOCK(swap, ORIGIN, const int64_t old = i; const int64_t new = i + 1;
      MPI_Compare_and_swap(&new, &old, in, MPI_INT64_T, target, 0, win);
      MPI_Win_flush(target, win))
BLOCK(lock_shared, ORIGIN, MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
      MPI_Put(out, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
      MPI_Win_unlock(target, win))
BLOCK(lock_exclusive, ORIGIN, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      MPI_Put(out, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
      MPI_Win_unlock(target, win))
BLOCK(lock_all, ORIGIN, MPI_Win_lock_all(0, win); MPI_Win_unlock_all(win))
BLOCK(fence, ALL, MPI_Win_fence(0, win))
BLOCK(pscw, ALL, MPI_Win_post(window->peer, 0, win); MPI_Win_start(window->peer, 0, win);
      MPI_Put(out, count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, win);
      MPI_Win_complete(win);
      MPI_Win_wait(win))
BLOCK(contended, ALL, MPI_Fetch_and_op(out, in, MPI_INT64_T, target, 0, MPI_SUM, win);
      MPI_Win_flush(target, win))

/* Without the barrier for the compiler copies might be merged. */
BLOCK(copy_to, ORIGIN, memcpy(window->direct, out, point->size);
      __asm__ volatile("" : : "r"(window->direct) : "memory"))
BLOCK(copy_from, ORIGIN, memcpy(in, window->direct, point->size);
      __asm__ volatile("" : : "r"(in) : "memory"))

/* Sequentially consistent, as the flush of the measurement that it is compared with. */
BLOCK(atomic, ALL,
      *(int64_t *) in = atomic_fetch_add_explicit((_Atomic int64_t *) window->direct, 1,
                                                  memory_order_seq_cst))

/* Windows. */

static void *memory(size_t bytes)
{
    void *new = NULL;

    if (0 != posix_memalign(&new, 4096, bytes)) {
        epbench_fail("no memory for a window of %zu bytes", bytes);
    }
    return new;
}

/** Makes the window of the kind that the options say, or a shared one. */
static window_t *window_create(epbench_worker_t *worker, const epbench_point_t *point, int target,
                               bool is_shared)
{
    const size_t bytes = WINDOW_BYTES > point->size ? WINDOW_BYTES : point->size;
    const int unit = sizeof(double);
    window_t *window = memory(sizeof(*window));
    MPI_Group group;
    MPI_Aint size;
    int found;

    *window = (window_t){.target = target};
    if (is_shared) {
        MPI_Win_allocate_shared((MPI_Aint) bytes, unit, MPI_INFO_NULL, worker->comm,
                                &window->memory, &window->win);
        MPI_Win_shared_query(window->win, target, &size, &found, &window->direct);
    } else if (worker->team->options->created) {
        window->own = window->memory = memory(bytes);
        MPI_Win_create(window->memory, (MPI_Aint) bytes, unit, MPI_INFO_NULL, worker->comm,
                       &window->win);
    } else {
        MPI_Win_allocate((MPI_Aint) bytes, unit, MPI_INFO_NULL, worker->comm, &window->memory,
                         &window->win);
    }
    memset(window->memory, 0, bytes); /* each worker touches its own part first */
    MPI_Comm_group(worker->comm, &group);
    MPI_Group_incl(group, 1, &worker->peer, &window->peer);
    MPI_Group_free(&group);
    return window;
}

/** The window is as it was prepared; a library may have its public copy elsewhere. */
static void window_open(epbench_worker_t *worker, window_t *window, bool is_lock_all)
{
    worker->window = window;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window->win);
    window->is_lock_all = is_lock_all;
    if (is_lock_all) {
        MPI_Win_lock_all(0, window->win);
    }
}

static void prepare_bytes(epbench_worker_t *worker, const epbench_point_t *point)
{
    window_t *window = window_create(worker, point, worker->peer, false);

    epbench_fill(worker->send_buffer, point->size, worker->rank);
    memset(worker->recv_buffer, 0, point->size);
    if (0 != worker->rank) {
        epbench_fill(window->memory, point->size, worker->rank); /* what is got; put replaces it */
    }
    window_open(worker, window, true);
}

static void prepare_numbers(epbench_worker_t *worker, const epbench_point_t *point)
{
    double *out = (double *) worker->send_buffer;

    for (size_t i = 0; i < point->size / sizeof(double); ++i) {
        out[i] = 1.0;
    }
    window_open(worker, window_create(worker, point, worker->peer, false), true);
}

static void set_one(epbench_worker_t *worker)
{
    const int64_t one = 1;

    memcpy(worker->send_buffer, &one, sizeof(one));
}

static void prepare_counter(epbench_worker_t *worker, const epbench_point_t *point)
{
    set_one(worker);
    window_open(worker, window_create(worker, point, worker->peer, false), true);
}

static void prepare_contended(epbench_worker_t *worker, const epbench_point_t *point)
{
    set_one(worker);
    window_open(worker, window_create(worker, point, 0, false), true);
}

static void prepare_epochs(epbench_worker_t *worker, const epbench_point_t *point)
{
    window_t *window = window_create(worker, point, worker->peer, false);

    epbench_fill(worker->send_buffer, point->size, worker->rank);
    window_open(worker, window, false);
}

static void prepare_copy(epbench_worker_t *worker, const epbench_point_t *point)
{
    epbench_fill(worker->send_buffer, point->size, worker->rank);
    memset(worker->recv_buffer, 0, point->size);
    window_open(worker, window_create(worker, point, worker->peer, true), false);
}

static void prepare_atomic(epbench_worker_t *worker, const epbench_point_t *point)
{
    window_open(worker, window_create(worker, point, 0, true), false);
}

/** All accesses are complete; my own part may be read until window_end. */
static const void *window_begin(epbench_worker_t *worker)
{
    window_t *window = worker->window;

    if (window->is_lock_all) {
        MPI_Win_unlock_all(window->win);
    }
    epbench_team_sync(worker);
    MPI_Win_lock(MPI_LOCK_SHARED, worker->rank, 0, window->win);
    return window->memory;
}

static void window_end(epbench_worker_t *worker)
{
    window_t *window = worker->window;

    MPI_Win_unlock(worker->rank, window->win);
    MPI_Group_free(&window->peer);
    MPI_Win_free(&window->win);
    free(window->own);
    free(window);
    worker->window = NULL;
}

static size_t check_put(epbench_worker_t *worker, const epbench_point_t *point)
{
    const void *memory = window_begin(worker);
    size_t wrong = 0;

    if (0 == worker->peer) {
        wrong = epbench_compare(memory, point->size, 0);
    }
    window_end(worker);
    return wrong;
}

static size_t check_get(epbench_worker_t *worker, const epbench_point_t *point)
{
    size_t wrong = 0;

    (void) window_begin(worker);
    if (0 == worker->rank) {
        wrong = epbench_compare(worker->recv_buffer, point->size, worker->peer);
    }
    window_end(worker);
    return wrong;
}

static size_t check_numbers(epbench_worker_t *worker, const epbench_point_t *point)
{
    const double *memory = window_begin(worker);
    size_t wrong = 0;

    for (size_t i = 0; i < point->size / sizeof(double) && 0 == worker->peer; ++i) {
        wrong += (double) worker->calls != memory[i];
    }
    window_end(worker);
    return wrong;
}

/** The counter has all calls, and worker 0 has fetched the value before the last one. */
static size_t check_counter(epbench_worker_t *worker, const epbench_point_t *point)
{
    const int64_t *memory = window_begin(worker);
    const int64_t *in = (const int64_t *) worker->recv_buffer;
    size_t wrong = 0;

    (void) point;
    if (0 == worker->peer) {
        wrong += worker->calls != *memory;
    }
    if (0 == worker->rank) {
        wrong += worker->calls - 1 != *in;
    }
    window_end(worker);
    return wrong;
}

static size_t check_contended(epbench_worker_t *worker, const epbench_point_t *point)
{
    const int64_t *memory = window_begin(worker);
    size_t wrong = 0;

    (void) point;
    if (0 == worker->rank) {
        wrong = worker->calls * worker->size != *memory;
    }
    window_end(worker);
    return wrong;
}

static size_t check_pscw(epbench_worker_t *worker, const epbench_point_t *point)
{
    const void *memory = window_begin(worker);
    const size_t wrong = epbench_compare(memory, point->size, worker->peer);

    window_end(worker);
    return wrong;
}

static size_t check_nothing(epbench_worker_t *worker, const epbench_point_t *point)
{
    (void) point;
    (void) window_begin(worker);
    window_end(worker);
    return 0;
}

/** An entry of the table: of worker 0 alone, or of all. */
#define MEASURE(which, whose, does, prepares, checks)                                           \
    {                                                                                           \
        .name = "w" which, .unit = "us", .needs = EPBENCH_COLLECTIVE | EPBENCH_WINDOWS,         \
        .origin_only = (whose), .block = block_##does, .prepare = prepare_##prepares,           \
        .check = check_##checks, .value = epbench_value_call                                    \
    }

const epbench_measure_t epbench_rma_measures[] = {
    MEASURE("put", true, put, bytes, put),
    MEASURE("get", true, get, bytes, get),
    MEASURE("acc", true, accumulate, numbers, numbers),
    MEASURE("fop", true, fetch, counter, counter),
    MEASURE("cas", true, swap, counter, counter),
    MEASURE("lockshared", true, lock_shared, epochs, put),
    MEASURE("lockexcl", true, lock_exclusive, epochs, put),
    MEASURE("lockall", true, lock_all, epochs, nothing),
    MEASURE("fence", false, fence, epochs, nothing),
    MEASURE("pscw", false, pscw, epochs, pscw),
    MEASURE("fopboth", false, contended, contended, contended),
    MEASURE("atomicboth", false, atomic, atomic, contended),
    MEASURE("copyto", true, copy_to, copy, put),
    MEASURE("copyfrom", true, copy_from, copy, nothing),
    {.name = NULL},
};
