/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in windows of endpoints, of an accelerator that is not there (fake_accelerator), whose
 * memory the CPU cannot access: all operations, with buffers in host or device memory, on windows in
 * host memory, in device memory, in that of some members, and on attached device memory; by threads
 * that have not used the device before; the kinds of epochs; atomicity; errors.  Managed memory is
 * used as any other.
 *
 * Guards: osc_epwin_device.c, osc_epwin_device_memory.c, osc_epwin_walk.c, osc_epwin_peers.c,
 * osc_epwin_create.c, osc_epwin_query.c, osc_epwin_place.c, osc_epwin_put_get.c,
 * osc_epwin_accumulate.c, osc_epwin_am_execute.c, osc_epwin_am_long.c, osc_epwin_am_origin.c,
 * osc_epwin_am_result.c
 */

#include "device.h"

/** Ints of a member's window.  More than a piece of an accumulate, and than what goes by a message of
 * its own. */
#define LENGTH 40000

/** Where the window's memory is. */
enum kind { HOST, DEVICE, SOME, ATTACHED };

static const char *const kind_name[] = {"host", "device", "device of some", "attached device"};

struct window {
    struct ept *t;
    enum kind kind;
    MPI_Comm comm;
    MPI_Win win;
    int *memory;    /**< of LENGTH ints */
    bool is_device; /**< of operations' buffers */
    int next, before;
    MPI_Aint base; /**< displacement of int 0 of next's memory */
};

static void phase(const struct window *w, const char *what)
{
    ept_phase(w->t, "%s, window: %s, buffers: %s", what, kind_name[w->kind],
              kind_name[w->is_device ? DEVICE : HOST]);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/** Memory for a buffer, never given back by a device. */
static void *buffer_get(const struct window *w, size_t size)
{
    return w->is_device ? device_memory(w->t, size) : malloc(size);
}

static void buffer_put(const struct window *w, void *buffer)
{
    if (!w->is_device) {
        free(buffer);
    }
}

/** A value of a rank's data. */
static int value(int rank, int i)
{
    return rank * 100003 + 7 * i + 1;
}

static int *values_new(const struct window *w, int count)
{
    int *host = malloc((size_t) count * sizeof(int)), *buffer;

    for (int i = 0; i < count; ++i) {
        host[i] = value(w->t->rank, i);
    }
    buffer = buffer_get(w, (size_t) count * sizeof(int));
    device_copy(w->t, buffer, host, (size_t) count * sizeof(int));
    free(host);
    return buffer;
}

/** The window's memory of a member: int i is minus its number. */
static void window_fill(const struct window *w)
{
    int *host = malloc(LENGTH * sizeof(int));

    for (int i = 0; i < LENGTH; ++i) {
        host[i] = -i;
    }
    device_copy(w->t, w->memory, host, LENGTH * sizeof(int));
    free(host);
}

static int int_at(struct ept *t, const int *memory, int i)
{
    int host;

    device_copy(t, &host, memory + i, sizeof(host));
    return host;
}

/* ---- windows --------------------------------------------------------------------------------- */

static struct window window_new(MPI_Comm comm, struct ept *t, enum kind kind, bool is_device)
{
    struct window w = {.t = t,
                       .kind = kind,
                       .comm = comm,
                       .is_device = is_device,
                       .next = (t->rank + 1) % t->size,
                       .before = (t->rank + t->size - 1) % t->size};
    const size_t bytes = LENGTH * sizeof(int);
    MPI_Aint own;

    w.memory = HOST == kind || (SOME == kind && 0 != t->rank % 2) ? malloc(bytes)
                                                                  : device_memory(t, bytes);
    window_fill(&w);
    if (ATTACHED == kind) {
        EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w.win));
        EPT_OK(t, MPI_Win_attach(w.win, w.memory, (MPI_Aint) bytes));
        EPT_OK(t, MPI_Get_address(w.memory, &own));
        EPT_OK(t, MPI_Sendrecv(&own, 1, MPI_AINT, w.before, 1, &w.base, 1, MPI_AINT, w.next, 1,
                               comm, MPI_STATUS_IGNORE));
    } else {
        EPT_OK(t, MPI_Win_create(w.memory, (MPI_Aint) bytes, 1, MPI_INFO_NULL, comm, &w.win));
    }
    EPT_OK(t, MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    device_detach(t);
    return w;
}

static void window_free(struct window *w)
{
    if (ATTACHED == w->kind) {
        EPT_OK(w->t, MPI_Barrier(w->comm));
        EPT_OK(w->t, MPI_Win_detach(w->win, w->memory));
        EPT_CLASS(w->t, MPI_ERR_RMA_ATTACH, MPI_Win_detach(w->win, w->memory));
    }
    EPT_OK(w->t, MPI_Win_free(&w->win));
    if (HOST == w->kind || (SOME == w->kind && 0 != w->t->rank % 2)) {
        free(w->memory);
    }
}

/** Displacement of an int of the next member's memory. */
static MPI_Aint at(const struct window *w, int i)
{
    return w->base + i * (MPI_Aint) sizeof(int);
}

/** All members' operations so far are complete, and seen by all. */
static void settle(const struct window *w)
{
    EPT_OK(w->t, MPI_Win_flush_all(w->win));
    EPT_OK(w->t, MPI_Barrier(w->comm));
    EPT_OK(w->t, MPI_Win_sync(w->win));
}

/** Ints of the own memory have values of the member before, from that one's int first on. */
static void memory_check(const struct window *w, int from, int step, int count, int first)
{
    int wrong = 0, *host = malloc(LENGTH * sizeof(int));

    device_copy(w->t, host, w->memory, LENGTH * sizeof(int));
    for (int i = 0; i < count; ++i) {
        wrong += value(w->before, first + i) != host[from + i * step];
        for (int gap = 1; gap < step && i + 1 < count; ++gap) {
            wrong += -(from + i * step + gap) != host[from + i * step + gap];
        }
    }
    EPT_EQ(w->t, 0, wrong);
    free(host);
    EPT_OK(w->t, MPI_Barrier(w->comm));
}

/* ---- operations ------------------------------------------------------------------------------ */

static void ops_put(struct window *w)
{
    int *data = values_new(w, 64);
    MPI_Datatype every_second, every_third, absolute;
    MPI_Aint address;
    const int one = 5;

    EPT_OK(w->t, MPI_Type_vector(8, 1, 2, MPI_INT, &every_second));
    EPT_OK(w->t, MPI_Type_vector(8, 1, 3, MPI_INT, &every_third));
    EPT_OK(w->t, MPI_Get_address(data + 20, &address));
    EPT_OK(w->t, MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute));
    EPT_OK(w->t, MPI_Type_commit(&every_second));
    EPT_OK(w->t, MPI_Type_commit(&every_third));
    EPT_OK(w->t, MPI_Type_commit(&absolute));
    phase(w, "put");
    EPT_OK(w->t, MPI_Put(data, 1, MPI_INT, w->next, at(w, 0), 1, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Put(data + 1, 2, MPI_INT, w->next, at(w, 1), 2, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Put(data + 3, 5, MPI_INT, w->next, at(w, 3), 5, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Put(data, 8, MPI_INT, w->next, at(w, 20), 1, every_third, w->win));
    EPT_OK(w->t, MPI_Put(MPI_BOTTOM, 1, absolute, w->next, at(w, 50), 5, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Put(data, 1, every_second, w->next, at(w, 60), 8, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Type_free(&every_second));
    EPT_OK(w->t, MPI_Type_free(&every_third));
    EPT_OK(w->t, MPI_Type_free(&absolute));
    settle(w);
    memory_check(w, 0, 1, 8, 0);
    memory_check(w, 20, 3, 8, 0);
    memory_check(w, 50, 1, 5, 20);
    for (int i = 0; i < 8; ++i) {
        EPT_EQ(w->t, value(w->before, 2 * i), int_at(w->t, w->memory, 60 + i));
    }
    buffer_put(w, data);
    EPT_OK(w->t, MPI_Barrier(w->comm));
}

static void ops_get(struct window *w)
{
    int *data = values_new(w, 64);
    MPI_Datatype every_second, every_third;
    MPI_Request request;

    window_fill(w);
    EPT_OK(w->t, MPI_Type_vector(8, 1, 2, MPI_INT, &every_second));
    EPT_OK(w->t, MPI_Type_vector(8, 1, 3, MPI_INT, &every_third));
    EPT_OK(w->t, MPI_Type_commit(&every_second));
    EPT_OK(w->t, MPI_Type_commit(&every_third));
    phase(w, "get");
    settle(w);
    EPT_OK(w->t, MPI_Get(data, 1, MPI_INT, w->next, at(w, 3), 1, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Get(data + 1, 5, MPI_INT, w->next, at(w, 4), 5, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Get(data + 6, 1, every_second, w->next, at(w, 9), 8, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Get(data + 30, 8, MPI_INT, w->next, at(w, 30), 1, every_third, w->win));
    EPT_OK(w->t, MPI_Type_free(&every_second));
    EPT_OK(w->t, MPI_Type_free(&every_third));
    EPT_OK(w->t, MPI_Win_flush_local(w->next, w->win));
    for (int i = 0; i < 6; ++i) {
        EPT_EQ(w->t, -3 - i, int_at(w->t, data, i));
    }
    for (int i = 0; i < 8; ++i) {
        EPT_EQ(w->t, -9 - i, int_at(w->t, data, 6 + 2 * i));
        EPT_EQ(w->t, -30 - 3 * i, int_at(w->t, data, 30 + i));
        if (i < 7) {
            EPT_EQ(w->t, value(w->t->rank, 7 + 2 * i), int_at(w->t, data, 7 + 2 * i));
        }
    }
    phase(w, "requests");
    EPT_OK(w->t, MPI_Rget(data, 3, MPI_INT, w->next, at(w, 11), 3, MPI_INT, w->win, &request));
    EPT_OK(w->t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_EQ(w->t, -13, int_at(w->t, data, 2));
    EPT_OK(w->t, MPI_Rget(data, 3, MPI_INT, w->next, at(w, 17), 3, MPI_INT, w->win, &request));
    EPT_OK(w->t, MPI_Win_flush(w->next, w->win));
    EPT_EQ(w->t, -19, int_at(w->t, data, 2));
    EPT_OK(w->t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    buffer_put(w, data);
    EPT_OK(w->t, MPI_Barrier(w->comm));
}

static void ops_accumulate(struct window *w)
{
    int *data = values_new(w, 64), *result = values_new(w, 64);
    MPI_Datatype every_third;
    MPI_Request request;

    window_fill(w);
    EPT_OK(w->t, MPI_Type_vector(8, 1, 3, MPI_INT, &every_third));
    EPT_OK(w->t, MPI_Type_commit(&every_third));
    settle(w);
    phase(w, "accumulate");
    EPT_OK(w->t, MPI_Accumulate(data, 1, MPI_INT, w->next, at(w, 0), 1, MPI_INT, MPI_SUM, w->win));
    EPT_OK(w->t,
           MPI_Accumulate(data, 5, MPI_INT, w->next, at(w, 1), 5, MPI_INT, MPI_REPLACE, w->win));
    EPT_OK(w->t,
           MPI_Accumulate(data, 8, MPI_INT, w->next, at(w, 10), 1, every_third, MPI_SUM, w->win));
    EPT_OK(w->t, MPI_Raccumulate(data, 1, every_third, w->next, at(w, 40), 8, MPI_INT, MPI_SUM,
                                 w->win, &request));
    EPT_OK(w->t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(w->t, MPI_Get_accumulate(data, 2, MPI_INT, result, 2, MPI_INT, w->next, at(w, 50), 2,
                                    MPI_INT, MPI_SUM, w->win));
    EPT_OK(w->t, MPI_Rget_accumulate(data, 8, MPI_INT, result + 2, 8, MPI_INT, w->next, at(w, 60),
                                     1, every_third, MPI_REPLACE, w->win, &request));
    EPT_OK(w->t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(w->t, MPI_Get_accumulate(NULL, 0, MPI_INT, result + 10, 3, MPI_INT, w->next, at(w, 1), 3,
                                    MPI_INT, MPI_NO_OP, w->win));
    EPT_OK(w->t, MPI_Type_free(&every_third));
    settle(w);
    for (int i = 0; i < 2; ++i) {
        EPT_EQ(w->t, -50 - i, int_at(w->t, result, i));
        EPT_EQ(w->t, -50 - i + value(w->before, i), int_at(w->t, w->memory, 50 + i));
    }
    for (int i = 0; i < 8; ++i) {
        EPT_EQ(w->t, -60 - 3 * i, int_at(w->t, result, 2 + i));
        EPT_EQ(w->t, value(w->before, i), int_at(w->t, w->memory, 60 + 3 * i));
        EPT_EQ(w->t, -10 - 3 * i + value(w->before, i), int_at(w->t, w->memory, 10 + 3 * i));
        EPT_EQ(w->t, -11 - 3 * i, int_at(w->t, w->memory, 11 + 3 * i));
        EPT_EQ(w->t, -40 - i + value(w->before, 3 * i), int_at(w->t, w->memory, 40 + i));
    }
    for (int i = 0; i < 3; ++i) {
        EPT_EQ(w->t, value(w->t->rank, i), int_at(w->t, result, 10 + i));
    }
    EPT_EQ(w->t, value(w->before, 0), int_at(w->t, w->memory, 0));
    memory_check(w, 1, 1, 5, 0);
    buffer_put(w, data);
    buffer_put(w, result);
}

/** Pairs with padding, which are packed on their way. */
static void ops_pairs(struct window *w)
{
    struct {
        double value;
        int index;
    } host[3] = {{1.5, 10}, {8, 11}, {-2, 12}}, pair;
    char *data = buffer_get(w, sizeof(host)), *result = buffer_get(w, sizeof(host));

    device_copy(w->t, w->memory, host, sizeof(host));
    host[0].value += 1;
    host[1].value -= 1;
    host[0].index = host[1].index = host[2].index = w->t->rank;
    device_copy(w->t, data, host, sizeof(host));
    phase(w, "pairs");
    settle(w);
    EPT_OK(w->t, MPI_Get_accumulate(data, 3, MPI_DOUBLE_INT, result, 3, MPI_DOUBLE_INT, w->next,
                                    at(w, 0), 3, MPI_DOUBLE_INT, MPI_MAXLOC, w->win));
    settle(w);
    for (int i = 0; i < 3; ++i) {
        device_copy(w->t, &pair, result + i * (int) sizeof(pair), sizeof(pair));
        EPT_EQ(w->t, 10 + i, pair.index);
        device_copy(w->t, &pair, (char *) w->memory + i * (int) sizeof(pair), sizeof(pair));
        EPT_EQ(w->t, 1 == i ? 11 : w->before, pair.index);
        EPT_EQ(w->t, 0 == i ? 25 : 1 == i ? 80 : -20, (int) (10 * pair.value));
    }
    buffer_put(w, data);
    buffer_put(w, result);
    EPT_OK(w->t, MPI_Barrier(w->comm));
}

static void ops_element(struct window *w)
{
    int *data = values_new(w, 8), *result = values_new(w, 8);
    const int compare[2] = {-3, 77};

    window_fill(w);
    device_copy(w->t, data + 4, compare, sizeof(compare));
    phase(w, "element");
    settle(w);
    EPT_OK(w->t, MPI_Fetch_and_op(data, result, MPI_INT, w->next, at(w, 2), MPI_SUM, w->win));
    EPT_OK(w->t,
           MPI_Compare_and_swap(data, data + 4, result + 1, MPI_INT, w->next, at(w, 3), w->win));
    EPT_OK(w->t,
           MPI_Compare_and_swap(data, data + 5, result + 2, MPI_INT, w->next, at(w, 4), w->win));
    EPT_OK(w->t, MPI_Fetch_and_op(NULL, result + 3, MPI_INT, w->next, at(w, 5), MPI_NO_OP, w->win));
    settle(w);
    for (int i = 0; i < 4; ++i) {
        EPT_EQ(w->t, -2 - i, int_at(w->t, result, i));
    }
    EPT_EQ(w->t, value(w->before, 0) - 2, int_at(w->t, w->memory, 2));
    EPT_EQ(w->t, value(w->before, 0), int_at(w->t, w->memory, 3));
    EPT_EQ(w->t, -4, int_at(w->t, w->memory, 4));
    EPT_EQ(w->t, -5, int_at(w->t, w->memory, 5));
    buffer_put(w, data);
    buffer_put(w, result);
    EPT_OK(w->t, MPI_Barrier(w->comm));
}

static void ops_long(struct window *w)
{
    int *data = values_new(w, LENGTH), wrong = 0, *host = malloc(LENGTH * sizeof(int));
    MPI_Datatype every_second;

    phase(w, "long");
    EPT_OK(w->t, MPI_Put(data, LENGTH, MPI_INT, w->next, at(w, 0), LENGTH, MPI_INT, w->win));
    settle(w);
    memory_check(w, 0, 1, LENGTH, 0);
    EPT_OK(w->t, MPI_Get(data, LENGTH, MPI_INT, w->next, at(w, 0), LENGTH, MPI_INT, w->win));
    settle(w);
    device_copy(w->t, host, data, LENGTH * sizeof(int));
    for (int i = 0; i < LENGTH; ++i) {
        wrong += value(w->t->rank, i) != host[i];
    }
    EPT_EQ(w->t, 0, wrong);
    EPT_OK(w->t, MPI_Accumulate(data, LENGTH, MPI_INT, w->next, at(w, 0), LENGTH, MPI_INT, MPI_SUM,
                                w->win));
    settle(w);
    device_copy(w->t, host, w->memory, LENGTH * sizeof(int));
    for (int i = 0; i < LENGTH; ++i) {
        wrong += 2 * value(w->before, i) != host[i];
    }
    EPT_EQ(w->t, 0, wrong);
    EPT_OK(w->t, MPI_Type_vector(LENGTH / 4, 1, 2, MPI_INT, &every_second));
    EPT_OK(w->t, MPI_Type_commit(&every_second));
    EPT_OK(w->t, MPI_Barrier(w->comm));
    EPT_OK(w->t, MPI_Put(data, 1, every_second, w->next, at(w, 0), LENGTH / 4, MPI_INT, w->win));
    EPT_OK(w->t, MPI_Type_free(&every_second));
    settle(w);
    device_copy(w->t, host, w->memory, LENGTH * sizeof(int));
    for (int i = 0; i < LENGTH / 4; ++i) {
        wrong += value(w->before, 2 * i) != host[i];
    }
    EPT_EQ(w->t, 0, wrong);
    free(host);
    buffer_put(w, data);
    EPT_OK(w->t, MPI_Barrier(w->comm));
}

/** What is wrong is refused as elsewhere, and what is not used may lie anywhere. */
static void ops_errors(struct window *w)
{
    int *data = values_new(w, 4);

    phase(w, "errors");
    EPT_OK(w->t, MPI_Put(data, 0, MPI_INT, w->next, at(w, 0), 0, MPI_INT, w->win));
    EPT_CLASS(w->t, MPI_ERR_TRUNCATE,
              MPI_Put(data, 2, MPI_INT, w->next, at(w, 0), 1, MPI_INT, w->win));
    EPT_CLASS(w->t, MPI_ERR_TRUNCATE,
              MPI_Get(data, 1, MPI_INT, w->next, at(w, 0), 2, MPI_INT, w->win));
    EPT_CLASS(w->t, MPI_ERR_TYPE,
              MPI_Compare_and_swap(data, data, data, MPI_DOUBLE_INT, w->next, at(w, 0), w->win));
    if (ATTACHED != w->kind) {
        EPT_CLASS(w->t, MPI_ERR_RMA_RANGE,
                  MPI_Put(data, 2, MPI_INT, w->next, at(w, LENGTH - 1), 2, MPI_INT, w->win));
        EPT_CLASS(w->t, MPI_ERR_RMA_RANGE,
                  MPI_Fetch_and_op(data, data, MPI_INT, w->next, at(w, LENGTH), MPI_SUM, w->win));
    }
    settle(w);
    buffer_put(w, data);
}

static void case_operations(MPI_Comm comm, struct ept *t)
{
    for (enum kind kind = HOST; kind <= ATTACHED; ++kind) {
        for (int is_device = HOST == kind; is_device < 2; ++is_device) {
            struct window w = window_new(comm, t, kind, 0 != is_device);

            EPT_OK(t, MPI_Win_lock_all(0, w.win));
            ops_put(&w);
            ops_get(&w);
            ops_accumulate(&w);
            ops_pairs(&w);
            ops_element(&w);
            ops_long(&w);
            ops_errors(&w);
            EPT_OK(t, MPI_Win_unlock_all(w.win));
            window_free(&w);
        }
    }
}

/* ---- epochs ---------------------------------------------------------------------------------- */

/** Begin or end an epoch in which all members address the next one. */
static void epoch(const struct window *w, int which, bool begin)
{
    MPI_Group all, one;

    if (0 == which) {
        EPT_OK(w->t, MPI_Win_fence(0, w->win));
    } else if (1 == which) {
        EPT_OK(w->t, begin ? MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->next, 0, w->win)
                           : MPI_Win_unlock(w->next, w->win));
    } else if (begin) {
        EPT_OK(w->t, MPI_Comm_group(w->comm, &all));
        EPT_OK(w->t, MPI_Group_incl(all, 1, &w->before, &one));
        EPT_OK(w->t, MPI_Win_post(one, 0, w->win));
        EPT_OK(w->t, MPI_Group_free(&one));
        EPT_OK(w->t, MPI_Group_incl(all, 1, &w->next, &one));
        EPT_OK(w->t, MPI_Win_start(one, 0, w->win));
        EPT_OK(w->t, MPI_Group_free(&one));
        EPT_OK(w->t, MPI_Group_free(&all));
    } else {
        EPT_OK(w->t, MPI_Win_complete(w->win));
        EPT_OK(w->t, MPI_Win_wait(w->win));
    }
}

/** What the end of an epoch completes is there, of messages of all sizes. */
static void case_epochs(MPI_Comm comm, struct ept *t)
{
    static const char *const name[] = {"fence", "lock", "post and start"};

    for (int which = 0; which < 3; ++which) {
        struct window w = window_new(comm, t, DEVICE, true);
        int *data = values_new(&w, LENGTH / 2), *result = values_new(&w, LENGTH);

        ept_phase(t, "%s", name[which]);
        epoch(&w, which, true);
        EPT_OK(t, MPI_Get(result, 3, MPI_INT, w.next, at(&w, 4), 3, MPI_INT, w.win));
        EPT_OK(t, MPI_Get(result + 3, LENGTH / 2, MPI_INT, w.next, at(&w, 0), LENGTH / 2, MPI_INT,
                          w.win));
        epoch(&w, which, false);
        EPT_EQ(t, -6, int_at(t, result, 2));
        EPT_EQ(t, -(LENGTH / 2 - 1), int_at(t, result, LENGTH / 2 + 2));
        EPT_OK(t, MPI_Barrier(comm));
        epoch(&w, which, true);
        EPT_OK(t,
               MPI_Put(data, LENGTH / 2, MPI_INT, w.next, at(&w, 100), LENGTH / 2, MPI_INT, w.win));
        EPT_OK(t, MPI_Put(data, 1, MPI_INT, w.next, at(&w, 0), 1, MPI_INT, w.win));
        epoch(&w, which, false);
        EPT_OK(t, MPI_Barrier(comm));
        memory_check(&w, 100, 1, LENGTH / 2, 0);
        memory_check(&w, 0, 1, 1, 0);
        window_free(&w);
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

/** All members operate on one place of the device, in all ways. */
static void case_atomicity(MPI_Comm comm, struct ept *t)
{
    enum { ROUNDS = 50 };
    struct window w = window_new(comm, t, DEVICE, false);
    int one = 1, before, now = 0, want;
    int64_t none = 0, sum;

    device_copy(t, w.memory, &none, sizeof(none));
    device_copy(t, w.memory + 2, &none, sizeof(none));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < ROUNDS; ++i) {
        EPT_OK(t, MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w.win));
        EPT_OK(t, MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, w.win));
        EPT_OK(t, MPI_Win_flush(0, w.win));
        do {
            want = now + 1;
            EPT_OK(t,
                   MPI_Compare_and_swap(&want, &now, &before, MPI_INT, 0, 2 * sizeof(int), w.win));
            EPT_OK(t, MPI_Win_flush(0, w.win));
            want = now;
            now = before;
        } while (before != want);
    }
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Get(&sum, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, w.win));
    EPT_OK(t, MPI_Win_flush(0, w.win));
    EPT_EQ(t, 2 * ROUNDS * t->size, (int) sum);
    EPT_OK(t, MPI_Get(&sum, 1, MPI_INT64_T, 0, 2 * sizeof(int), 1, MPI_INT64_T, w.win));
    EPT_OK(t, MPI_Win_unlock_all(w.win));
    EPT_EQ(t, ROUNDS * t->size, (int) sum);
    window_free(&w);
}

/** The CPU cannot access it: a query says so. */
static void case_query(MPI_Comm comm, struct ept *t)
{
    struct window w = window_new(comm, t, DEVICE, false);
    MPI_Aint size = -1;
    int unit, *base = &unit;

    EPT_OK(t, MPI_Win_shared_query(w.win, t->rank, &size, &unit, &base));
    EPT_EQ(t, 0, (int) size);
    EPT_CHECK(t, NULL == base, "an address that the CPU cannot use");
    window_free(&w);
}

static void case_managed(MPI_Comm comm, struct ept *t)
{
    int *memory = managed_memory(t, 4 * sizeof(int)), *origin = managed_memory(t, sizeof(int));
    const int next = (t->rank + 1) % t->size, before = (t->rank + t->size - 1) % t->size;
    MPI_Win win;

    memset(memory, 0, 4 * sizeof(int));
    EPT_OK(t, MPI_Win_create(memory, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_lock_all(0, win));
    *origin = 100 + t->rank;
    EPT_OK(t, MPI_Put(origin, 1, MPI_INT, next, 1, 1, MPI_INT, win));
    EPT_OK(t, MPI_Win_flush(next, win));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Win_sync(win));
    EPT_EQ(t, 100 + before, memory[1]);
    EPT_EQ(t, 0, memory[0]);
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_operations);
    EPT_CASE(t, case_epochs);
    EPT_CASE(t, case_atomicity);
    EPT_CASE(t, case_query);
    EPT_CASE(t, case_managed);
    return 0;
}
