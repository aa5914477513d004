/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One-sided operations for count-instructions: of one endpoint at the window of another one of its
 * process, 8 bytes each, with its flush or in an epoch of its own.  The other endpoint has a thread of its own only while
 * windows are created and freed, so the counts are the same in each run.
 */

#include "instructions.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

#define OPERATIONS 1024
#define WARM_UP 64

static MPI_Win windows[2];
static void *parts[2];

static void op_put(MPI_Win win)
{
    const double value = 1.5;

    MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
    MPI_Win_flush(1, win);
}

static void op_get(MPI_Win win)
{
    double value = 0.0;

    MPI_Get(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
    MPI_Win_flush(1, win);
    if (1.5 != value) {
        instructions_fail("a get came out wrong");
    }
}

static void op_fetch_and_op(MPI_Win win)
{
    const int64_t one = 1;
    int64_t before;

    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 1, 1, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void op_accumulate(MPI_Win win)
{
    const double one = 1.0;

    MPI_Accumulate(&one, 1, MPI_DOUBLE, 1, 2, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

/** Of the counter, to the value that it has. */
static void op_compare_and_swap(MPI_Win win)
{
    const int64_t value = WARM_UP + OPERATIONS;
    int64_t before;

    MPI_Compare_and_swap(&value, &value, &before, MPI_INT64_T, 1, 1, win);
    MPI_Win_flush(1, win);
    if (value != before) {
        instructions_fail("a compare-and-swap came out wrong");
    }
}

static void op_lock_shared(MPI_Win win)
{
    const double value = 1.5;

    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
    MPI_Win_unlock(1, win);
}

static void op_lock_exclusive(MPI_Win win)
{
    const double value = 1.5;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, win);
    MPI_Win_unlock(1, win);
}

static const struct {
    const char *name;
    void (*run)(MPI_Win win);
    bool is_epoch; /* by itself; others are inside of MPI_Win_lock_all */
} operations[] = {
    {"put", op_put, false}, /* before get, which expects what it leaves */
    {"get", op_get, false},
    {"fetch-and-op", op_fetch_and_op, false}, /* before compare-and-swap, likewise */
    {"compare-and-swap", op_compare_and_swap, false},
    {"accumulate", op_accumulate, false},
    {"lock-shared", op_lock_shared, true},
    {"lock-exclusive", op_lock_exclusive, true},
};

static void window_create(MPI_Comm comm, int own)
{
    MPI_Win_allocate(4096, sizeof(double), MPI_INFO_NULL, comm, &parts[own], &windows[own]);
    for (int i = 0; i < 3; ++i) {
        ((int64_t *) parts[own])[i] = 0; /* also the bits of 0.0 */
    }
    MPI_Barrier(comm);
}

static void *other_create(void *comm)
{
    window_create(*(MPI_Comm *) comm, 1);
    return NULL;
}

static void *other_free(void *unused)
{
    MPI_Win_free(&windows[1]);
    return unused;
}

/** What the window holds after all operations. */
static void check(void)
{
    const double *part = parts[1];
    const int64_t *counter = (const int64_t *) part + 1;

    if (WARM_UP + OPERATIONS != *counter || (double) (WARM_UP + OPERATIONS) != part[2]) {
        instructions_fail("a window came out wrong");
    }
}

void instructions_windows(const char *level)
{
    MPI_Comm endpoints[2];
    pthread_t other;
    char name[100];

    instructions_create(level, 2, endpoints);
    pthread_create(&other, NULL, other_create, &endpoints[1]);
    window_create(endpoints[0], 0);
    pthread_join(other, NULL);
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); ++i) {
        if (!operations[i].is_epoch) {
            MPI_Win_lock_all(0, windows[0]);
        }
        for (int n = 0; n < WARM_UP; ++n) {
            operations[i].run(windows[0]);
        }
        CALLGRIND_ZERO_STATS;
        CALLGRIND_TOGGLE_COLLECT;
        for (int n = 0; n < OPERATIONS; ++n) {
            operations[i].run(windows[0]);
        }
        CALLGRIND_TOGGLE_COLLECT;
        snprintf(name, sizeof(name), "%s %s %d", level, operations[i].name, OPERATIONS);
        CALLGRIND_DUMP_STATS_AT(name);
        if (!operations[i].is_epoch) {
            MPI_Win_unlock_all(windows[0]);
        }
    }
    check();
    pthread_create(&other, NULL, other_free, NULL);
    MPI_Win_free(&windows[0]);
    pthread_join(other, NULL);
    MPI_Comm_free(&endpoints[0]);
    MPI_Comm_free(&endpoints[1]);
}
