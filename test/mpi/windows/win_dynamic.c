/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Attached memory of dynamic windows: what may be attached and detached, and which accesses are
 * within it.  Regions that touch each other serve one access together; regions by chance against a
 * model; a member attaches and detaches while others access what stays.  Of other processes' memory
 * it is checked by the origin (:copied, on one node) or by the target.
 *
 * Guards: osc_epwin_regions.c, osc_epwin_regions.h, osc_epwin_query.c, osc_epwin_place.c
 */

#include "ept.h"

enum { BYTES = 4096, REGIONS = 40 };

static MPI_Win window(MPI_Comm comm, struct ept *t)
{
    MPI_Win win;

    EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    return win;
}

static MPI_Aint address_of(const void *at)
{
    MPI_Aint address;

    (void) MPI_Get_address(at, &address);
    return address;
}

/** A put of bytes to oneself. */
static int put_self(MPI_Win win, struct ept *t, const unsigned char *at, size_t size)
{
    unsigned char data[BYTES];

    ept_fill(data, 0, size, 1);
    return MPI_Put(data, (int) size, MPI_BYTE, t->rank, address_of(at), (int) size, MPI_BYTE, win);
}

static void case_attach(MPI_Comm comm, struct ept *t)
{
    unsigned char *memory = calloc(1, BYTES);
    MPI_Win win = window(comm, t);

    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, memory));
    EPT_OK(t, MPI_Win_attach(win, memory + 100, 100));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 100, 100));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 150, 10));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 199, 10));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 50, 51));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 50, 500));
    EPT_CLASS(t, MPI_ERR_SIZE, MPI_Win_attach(win, memory + 50, -1));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, memory + 101));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, memory + 99));
    EPT_OK(t, MPI_Win_attach(win, memory + 200, 50));
    EPT_OK(t, MPI_Win_attach(win, memory + 50, 50));
    EPT_OK(t, MPI_Win_attach(win, memory + 300, 0));
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, win));
    EPT_OK(t, put_self(win, t, memory + 50, 200));
    EPT_OK(t, put_self(win, t, memory + 249, 1));
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, put_self(win, t, memory + 49, 1));
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, put_self(win, t, memory + 50, 201));
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, put_self(win, t, memory + 300, 1));
    EPT_OK(t, MPI_Win_unlock(t->rank, win));
    EPT_FILL(t, memory + 50, 199, 1);
    EPT_OK(t, MPI_Win_detach(win, memory + 100));
    EPT_OK(t, MPI_Win_detach(win, memory + 300));
    EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, memory + 100));
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, t->rank, 0, win));
    EPT_OK(t, put_self(win, t, memory + 60, 40));
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, put_self(win, t, memory + 60, 41));
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, put_self(win, t, memory + 150, 1));
    EPT_OK(t, MPI_Win_unlock(t->rank, win));
    EPT_OK(t, MPI_Win_free(&win)); /* with what is attached */
    free(memory);
}

/** Each byte attached or not, and where regions begin. */
struct model {
    bool attached[BYTES], begins[BYTES];
    int count;
};

static int model_end(const struct model *model, int at)
{
    do {
        ++at;
    } while (at < BYTES && model->attached[at] && !model->begins[at]);
    return at;
}

static bool model_free(const struct model *model, int at, int size)
{
    for (int i = at; i < at + size; ++i) {
        if (model->attached[i]) {
            return false;
        }
    }
    return true;
}

static bool model_covers(const struct model *model, int at, int size)
{
    for (int i = at; i < at + size; ++i) {
        if (!model->attached[i]) {
            return false;
        }
    }
    return true;
}

static void attach(MPI_Win win, struct ept *t, struct model *model, unsigned char *memory,
                   uint64_t *random)
{
    const int at = (int) ept_random_below(random, BYTES - 200);
    const int size = 1 + (int) ept_random_below(random, 200);

    if (!model_free(model, at, size)) {
        EPT_CLASS(t, MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + at, size));
        return;
    }
    EPT_OK(t, MPI_Win_attach(win, memory + at, size));
    model->begins[at] = true;
    memset(&model->attached[at], 1, (size_t) size);
}

static void detach(MPI_Win win, struct ept *t, struct model *model, unsigned char *memory,
                   uint64_t *random)
{
    int at = (int) ept_random_below(random, BYTES);

    for (int i = 0; i < BYTES && !model->begins[at]; ++i) {
        at = (at + 1) % BYTES;
    }
    if (!model->begins[at]) {
        return;
    }
    EPT_OK(t, MPI_Win_detach(win, memory + at));
    memset(&model->attached[at], 0, (size_t) (model_end(model, at) - at));
    model->begins[at] = false;
}

static void case_chance(MPI_Comm comm, struct ept *t)
{
    unsigned char *memory = calloc(1, BYTES);
    struct model *model = calloc(1, sizeof(*model));
    uint64_t random = ept_mix(t->seed, (uint64_t) t->rank, 5, 5);
    MPI_Win win = window(comm, t);

    EPT_OK(t, MPI_Win_lock_all(0, win));
    for (int i = 0; i < 3000; ++i) {
        const int at = (int) ept_random_below(&random, BYTES - 300);
        const int size = 1 + (int) ept_random_below(&random, 300);

        if (0 == ept_random_below(&random, 2)) {
            attach(win, t, model, memory, &random);
        } else {
            detach(win, t, model, memory, &random);
        }
        EPT_CLASS(t, model_covers(model, at, size) ? MPI_SUCCESS : MPI_ERR_RMA_RANGE,
                  put_self(win, t, memory + at, (size_t) size));
    }
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
    free(model);
    free(memory);
}

/** Rank 0's list changes all the time; the others access the one region that stays. */
static void case_changing(MPI_Comm comm, struct ept *t)
{
    static unsigned char memory[BYTES];
    unsigned char *stays = memory + BYTES / 2;
    MPI_Win win = window(comm, t);
    MPI_Aint address = address_of(stays);
    int value = t->rank, got;

    if (0 == t->rank) {
        EPT_OK(t, MPI_Win_attach(win, stays, 64 * (MPI_Aint) sizeof(int)));
    }
    EPT_OK(t, MPI_Bcast(&address, 1, MPI_AINT, 0, comm));
    EPT_OK(t, MPI_Win_lock_all(0, win));
    for (int i = 0; i < 2000; ++i) {
        if (0 == t->rank) {
            /* Below the region and above it, there and gone in turn. */
            const int place = i % REGIONS;
            unsigned char *at = memory + place % 2 * (BYTES - 512) + place / 2 * 8;

            if (0 == i / REGIONS % 2) {
                EPT_OK(t, MPI_Win_attach(win, at, 8));
            } else {
                EPT_OK(t, MPI_Win_detach(win, at));
            }
        } else if (64 > t->rank) {
            const MPI_Aint at = address + t->rank * (MPI_Aint) sizeof(int);

            value = i;
            EPT_OK(t, MPI_Put(&value, 1, MPI_INT, 0, at, 1, MPI_INT, win));
            EPT_OK(t, MPI_Win_flush(0, win));
            EPT_OK(t, MPI_Get(&got, 1, MPI_INT, 0, at, 1, MPI_INT, win));
            EPT_OK(t, MPI_Win_flush(0, win));
            EPT_EQ(t, i, got);
        }
    }
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
}

enum { LONG = 40000, BEGIN = 1000, MIDDLE = 20000, END = 39000 };

/** Long data to and from another member: an error of the operation or of its flush. */
static int far_access(MPI_Win win, unsigned char *data, MPI_Aint base, int from, int to, int target,
                      bool is_put)
{
    const int size = to - from;
    const MPI_Aint at = MPI_Aint_add(base, from);
    int rc = is_put ? MPI_Put(data, size, MPI_BYTE, target, at, size, MPI_BYTE, win)
                    : MPI_Get(data, size, MPI_BYTE, target, at, size, MPI_BYTE, win);
    const int flushed = MPI_Win_flush(target, win);

    return MPI_SUCCESS == rc ? flushed : rc;
}

/** Each has two regions that touch each other; the member before accesses them. */
static void case_far(MPI_Comm comm, struct ept *t)
{
    const int target = (t->rank + 1) % t->size, origin = (t->rank + t->size - 1) % t->size;
    unsigned char *memory = calloc(1, LONG), *data = malloc(LONG);
    MPI_Aint own = address_of(memory), base;
    MPI_Win win = window(comm, t);

    EPT_OK(t, MPI_Win_attach(win, memory + BEGIN, MIDDLE - BEGIN));
    EPT_OK(t, MPI_Win_attach(win, memory + MIDDLE, END - MIDDLE));
    EPT_OK(t, MPI_Sendrecv(&own, 1, MPI_AINT, origin, 0, &base, 1, MPI_AINT, target, 0, comm,
                           MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Win_lock_all(0, win));
    ept_fill(data, 0, LONG, 9);
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, far_access(win, data, base, BEGIN - 1, END, target, true));
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, far_access(win, data, base, BEGIN, END + 1, target, true));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_EQ(t, 0, memory[BEGIN - 1] | memory[END]);
    ept_fill(data, 0, END - BEGIN, (uint64_t) t->rank);
    EPT_OK(t, far_access(win, data, base, BEGIN, END, target, true));
    memset(data, 0, LONG);
    EPT_OK(t, far_access(win, data, base, BEGIN, END, target, false));
    EPT_FILL(t, data, END - BEGIN, (uint64_t) t->rank);
    EPT_OK(t, MPI_Barrier(comm));
    EPT_FILL(t, memory + BEGIN, END - BEGIN, (uint64_t) origin);
    EPT_OK(t, MPI_Win_detach(win, memory + BEGIN));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_CLASS(t, MPI_ERR_RMA_RANGE, far_access(win, data, base, BEGIN, END, target, false));
    EPT_OK(t, far_access(win, data, base, MIDDLE, END, target, false));
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
    free(memory);
    free(data);
}

/** More regions than are read of another process. */
static void case_many(MPI_Comm comm, struct ept *t)
{
    enum { MANY = 200, EACH = 64 };
    const int target = (t->rank + 1) % t->size, origin = (t->rank + t->size - 1) % t->size;
    unsigned char *memory = calloc(MANY, EACH), data[EACH], got[EACH];
    MPI_Aint own = address_of(memory), base;
    MPI_Win win = window(comm, t);

    for (int i = 0; i < MANY; ++i) {
        EPT_OK(t, MPI_Win_attach(win, memory + i * EACH, EACH));
    }
    EPT_OK(t, MPI_Sendrecv(&own, 1, MPI_AINT, origin, 0, &base, 1, MPI_AINT, target, 0, comm,
                           MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Win_lock_all(0, win));
    for (int i = 0; i < MANY; i += 9) {
        ept_fill(data, 0, EACH, (uint64_t) i);
        EPT_OK(t, far_access(win, data, base, i * EACH, (i + 1) * EACH, target, true));
        EPT_OK(t, far_access(win, got, base, i * EACH, (i + 1) * EACH, target, false));
        EPT_FILL(t, got, EACH, (uint64_t) i);
    }
    EPT_OK(t, MPI_Win_unlock_all(win));
    EPT_OK(t, MPI_Win_free(&win));
    free(memory);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (!t->endpoints) {
        ept_skip(t, "all", "Open MPI's components do not check it");
        return 0;
    }
    EPT_CASE(t, case_attach);
    EPT_CASE(t, case_chance);
    EPT_CASE(t, case_changing);
    EPT_CASE(t, case_far);
    EPT_CASE(t, case_many);
    return 0;
}
