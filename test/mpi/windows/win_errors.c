/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Operations on windows with bad input: the standard's class, through the handler of the calling
 * endpoint's window and no other one, nothing written, and the window goes on.  Of all members as
 * targets, so in each way in which one is reached.
 *
 * Guards: osc_epwin_range.c, osc_epwin_place.c, osc_epwin_put_get.c, osc_epwin_accumulate.c,
 * osc_epwin_flush.c
 */

#include "ept.h"

enum { WORDS = 16, UNIT = 8 };

/** Calls of the error handler in this thread. */
static _Thread_local int handled;
static _Thread_local MPI_Win handled_win;

static void on_error(MPI_Win *win, int *code, ...)
{
    (void) code;
    ++handled;
    handled_win = *win;
}

struct target {
    MPI_Win win;
    int64_t *memory; /* of this member */
    struct ept *t;
    int rank;
};

static struct target window(MPI_Comm comm, struct ept *t)
{
    struct target target = {.t = t, .memory = calloc(WORDS, UNIT), .rank = (t->rank + 1) % t->size};
    MPI_Errhandler handler;

    EPT_OK(t, MPI_Win_create(target.memory, WORDS * UNIT, UNIT, MPI_INFO_NULL, comm, &target.win));
    EPT_OK(t, MPI_Win_create_errhandler(on_error, &handler));
    EPT_OK(t, MPI_Win_set_errhandler(target.win, handler));
    EPT_OK(t, MPI_Errhandler_free(&handler));
    handled = 0;
    return target;
}

/** Nothing has been written.  Then the window works. */
static void window_end(struct target *target, MPI_Comm comm)
{
    struct ept *t = target->t;
    const int64_t value = 1000 + t->rank;

    EPT_OK(t, MPI_Barrier(comm));
    for (int i = 0; i < WORDS; ++i) {
        EPT_EQ(t, 0, target->memory[i]);
    }
    EPT_OK(t, MPI_Win_fence(0, target->win));
    EPT_OK(t, MPI_Put(&value, 1, MPI_INT64_T, target->rank, 3, 1, MPI_INT64_T, target->win));
    EPT_OK(t, MPI_Win_fence(0, target->win));
    EPT_EQ(t, 1000 + (t->rank + t->size - 1) % t->size, target->memory[3]);
    EPT_OK(t, MPI_Win_free(&target->win));
    free(target->memory);
}

/** An error of a class has gone to this window's handler, once. */
static void expect(const struct target *target, int class, int rc, int line)
{
    struct ept *t = target->t;

    ept_check_class(t, __FILE__, line, "the class", class, rc);
    ept_check_int(t, __FILE__, line, "calls of the handler", 1, handled);
    EPT_CHECK(t, handled_win == target->win, "line %d: another window's handler", line);
    handled = 0;
}

#define EXPECT(target, class, rc) expect((target), (class), (rc), __LINE__)

static void case_range(MPI_Comm comm, struct ept *t)
{
    struct target target = window(comm, t);
    int64_t data[WORDS + 1], result[WORDS + 1];
    MPI_Datatype behind, before;
    const int rank = target.rank;
    const int lengths[] = {1, 1}, low[] = {-1, 1}, high[] = {0, WORDS};

    memset(data, 7, sizeof(data));
    EPT_OK(t, MPI_Type_indexed(2, lengths, high, MPI_INT64_T, &behind));
    EPT_OK(t, MPI_Type_commit(&behind));
    EPT_OK(t, MPI_Type_indexed(2, lengths, low, MPI_INT64_T, &before));
    EPT_OK(t, MPI_Type_commit(&before));
    EPT_OK(t, MPI_Win_lock_all(0, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Put(data, 1, MPI_INT64_T, rank, WORDS, 1, MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE, MPI_Put(data, WORDS + 1, MPI_INT64_T, rank, 0, WORDS + 1,
                                               MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Put(data, 9, MPI_BYTE, rank, WORDS - 1, 9, MPI_BYTE, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE, MPI_Put(data, 1, MPI_INT64_T, rank, PTRDIFF_MAX / UNIT, 1,
                                               MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Put(data, 1, MPI_INT64_T, rank, PTRDIFF_MAX, 1, MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_DISP,
           MPI_Put(data, 1, MPI_INT64_T, rank, -1, 1, MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Put(data, 2, MPI_INT64_T, rank, 0, 1, behind, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Put(data, 2, MPI_INT64_T, rank, 0, 1, before, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Get(result, 1, MPI_INT64_T, rank, WORDS, 1, MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE, MPI_Accumulate(data, 1, MPI_INT64_T, rank, WORDS, 1,
                                                      MPI_INT64_T, MPI_SUM, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Accumulate(data, 2, MPI_INT64_T, rank, 0, 1, behind, MPI_SUM, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(data, result, MPI_INT64_T, rank, WORDS,
                                                        MPI_SUM, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE, MPI_Compare_and_swap(data, data, result, MPI_INT64_T, rank,
                                                            WORDS, target.win));
    EXPECT(&target, MPI_ERR_RMA_RANGE,
           MPI_Get_accumulate(data, 1, MPI_INT64_T, result, 1, MPI_INT64_T, rank, WORDS, 1,
                              MPI_INT64_T, MPI_REPLACE, target.win));
    /* No bytes are nowhere. */
    EPT_OK(t, MPI_Put(data, 0, MPI_INT64_T, rank, WORDS + 5, 0, MPI_INT64_T, target.win));
    EPT_OK(t, MPI_Win_unlock_all(target.win));
    EPT_EQ(t, 0, handled);
    EPT_OK(t, MPI_Type_free(&behind));
    EPT_OK(t, MPI_Type_free(&before));
    window_end(&target, comm);
}

static void user_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) in;
    (void) inout;
    (void) count;
    (void) type;
}

static void case_types(MPI_Comm comm, struct ept *t)
{
    struct target target = window(comm, t);
    double real[2] = {1, 2}, got[2];
    int64_t word = 1, result;
    MPI_Datatype mixed, two;
    MPI_Op op;
    const int lengths[] = {1, 1}, rank = target.rank;
    const MPI_Aint places[] = {0, 8};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT64_T};

    EPT_OK(t, MPI_Type_create_struct(2, lengths, places, types, &mixed));
    EPT_OK(t, MPI_Type_commit(&mixed));
    EPT_OK(t, MPI_Type_contiguous(2, MPI_DOUBLE, &two));
    EPT_OK(t, MPI_Type_commit(&two));
    EPT_OK(t, MPI_Op_create(user_op, 1, &op));
    EPT_OK(t, MPI_Win_lock_all(0, target.win));
    EXPECT(&target, MPI_ERR_OP,
           MPI_Fetch_and_op(real, got, MPI_DOUBLE, rank, 0, MPI_BAND, target.win));
    EXPECT(&target, MPI_ERR_OP,
           MPI_Fetch_and_op(&word, &result, MPI_INT64_T, rank, 0, op, target.win));
    EXPECT(&target, MPI_ERR_OP,
           MPI_Accumulate(real, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, MPI_BAND, target.win));
    EXPECT(&target, MPI_ERR_OP,
           MPI_Accumulate(&word, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, op, target.win));
    EXPECT(&target, MPI_ERR_TYPE, MPI_Fetch_and_op(real, got, two, rank, 0, MPI_SUM, target.win));
    EXPECT(&target, MPI_ERR_TYPE,
           MPI_Compare_and_swap(real, real, got, MPI_DOUBLE, rank, 0, target.win));
    EXPECT(&target, MPI_ERR_TYPE, MPI_Get_accumulate(real, 1, mixed, got, 1, mixed, rank, 0, 1,
                                                     mixed, MPI_REPLACE, target.win));
    EXPECT(&target, MPI_ERR_TRUNCATE,
           MPI_Put(real, 2, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, target.win));
    EXPECT(&target, MPI_ERR_TRUNCATE,
           MPI_Get(real, 1, MPI_DOUBLE, rank, 0, 2, MPI_DOUBLE, target.win));
    EXPECT(&target, MPI_ERR_RANK,
           MPI_Put(real, 1, MPI_DOUBLE, t->size, 0, 1, MPI_DOUBLE, target.win));
    EXPECT(&target, MPI_ERR_COUNT,
           MPI_Put(real, -1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, target.win));
    EXPECT(&target, MPI_ERR_RANK, MPI_Win_flush(t->size, target.win));
    EXPECT(&target, MPI_ERR_RANK, MPI_Win_flush_local(-7, target.win));
    EPT_OK(t, MPI_Win_unlock_all(target.win));
    EPT_EQ(t, 0, handled);
    EPT_OK(t, MPI_Op_free(&op));
    EPT_OK(t, MPI_Type_free(&mixed));
    EPT_OK(t, MPI_Type_free(&two));
    window_end(&target, comm);
}

/** Operations outside an access epoch, and to a target that it does not have. */
static void case_epochs(MPI_Comm comm, struct ept *t)
{
    struct target target = window(comm, t);
    int64_t word = 1, result;
    const int rank = target.rank;
    MPI_Request request;

    EXPECT(&target, MPI_ERR_RMA_SYNC,
           MPI_Put(&word, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_RMA_SYNC,
           MPI_Get(&result, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, target.win));
    EXPECT(&target, MPI_ERR_RMA_SYNC, MPI_Accumulate(&word, 1, MPI_INT64_T, rank, 0, 1,
                                                     MPI_INT64_T, MPI_SUM, target.win));
    EXPECT(&target, MPI_ERR_RMA_SYNC,
           MPI_Fetch_and_op(&word, &result, MPI_INT64_T, rank, 0, MPI_SUM, target.win));
    EXPECT(&target, MPI_ERR_RMA_SYNC, MPI_Compare_and_swap(&word, &word, &result, MPI_INT64_T, rank,
                                                           0, target.win));
    EXPECT(&target, MPI_ERR_RMA_SYNC,
           MPI_Rput(&word, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, target.win, &request));
    if (1 < t->size) {
        EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, target.win));
        EXPECT(&target, MPI_ERR_RMA_SYNC,
               MPI_Put(&word, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, target.win));
        EPT_OK(t, MPI_Win_unlock(t->rank, target.win));
    }
    EPT_EQ(t, 0, handled);
    window_end(&target, comm);
}

/** Of a dynamic window: what is attached, and accesses of what is not.  Of other processes the flush
 * returns these. */
static void case_dynamic(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size;
    int64_t *memory = calloc(WORDS, UNIT), word = 7;
    struct target target = {.t = t, .memory = memory, .rank = next};
    MPI_Errhandler handler;
    MPI_Aint own, other, size;
    void *base;
    int unit, rc;

    EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &target.win));
    EPT_OK(t, MPI_Win_create_errhandler(on_error, &handler));
    EPT_OK(t, MPI_Win_set_errhandler(target.win, handler));
    EPT_OK(t, MPI_Errhandler_free(&handler));
    handled = 0;
    EXPECT(&target, MPI_ERR_RMA_ATTACH, MPI_Win_detach(target.win, memory));
    EPT_OK(t, MPI_Win_attach(target.win, memory, (WORDS / 2) * UNIT));
    EXPECT(&target, MPI_ERR_RMA_ATTACH, MPI_Win_attach(target.win, memory + 1, UNIT));
    EXPECT(&target, MPI_ERR_SIZE, MPI_Win_attach(target.win, memory + WORDS / 2, -1));
    EXPECT(&target, MPI_ERR_RMA_FLAVOR,
           MPI_Win_shared_query(target.win, t->rank, &size, &unit, &base));
    EPT_OK(t, MPI_Get_address(memory, &own));
    EPT_OK(t, MPI_Sendrecv(&own, 1, MPI_AINT, (t->rank + t->size - 1) % t->size, 0, &other, 1,
                           MPI_AINT, next, 0, comm, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Win_lock_all(0, target.win));
    for (int at = WORDS / 2 - 1; at <= WORDS; ++at) {
        rc = MPI_Put(&word, 1, MPI_INT64_T, next, other + at * UNIT + UNIT / 2, 1, MPI_INT64_T,
                     target.win);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Win_flush(next, target.win);
        }
        EXPECT(&target, MPI_ERR_RMA_RANGE, rc);
    }
    EPT_OK(t, MPI_Win_flush_all(target.win));
    EPT_OK(t, MPI_Put(&word, 1, MPI_INT64_T, next, other, 1, MPI_INT64_T, target.win));
    EPT_OK(t, MPI_Win_unlock_all(target.win));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, 7, memory[0]);
    for (int i = 1; i < WORDS; ++i) {
        EPT_EQ(t, 0, memory[i]);
    }
    EPT_EQ(t, 0, handled);
    EPT_OK(t, MPI_Win_free(&target.win));
    free(memory);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_range);
    EPT_CASE(t, case_types);
    EPT_CASE(t, case_epochs);
    EPT_CASE(t, case_dynamic);
    return 0;
}
