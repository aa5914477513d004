/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows that cannot be created, or not be freed yet.  One member passes a bad argument to a
 * creation, each in turn: all members get the error of the standard's class, by the error handler of
 * the communicator, nobody is left waiting, and the communicator works on.  MPI_Win_free while one
 * member has an open epoch is an error at all; the window works on, and is freed afterwards.
 *
 * Guards: hook_win.c, win_create.c, reduce.c
 */

#include "ept.h"

#include <stdlib.h>

enum { UNIT = sizeof(int), BYTES = 4 * UNIT };

/** What the error handler of the communicator has seen, of the endpoint of this thread. */
static _Thread_local int handled, handled_class;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    ++handled;
    MPI_Error_class(*code, &handled_class);
}

static MPI_Comm watched_copy(struct ept *t, MPI_Comm comm)
{
    MPI_Errhandler handler;
    MPI_Comm copy;

    EPT_OK(t, MPI_Comm_dup(comm, &copy));
    EPT_OK(t, MPI_Comm_create_errhandler(on_error, &handler));
    EPT_OK(t, MPI_Comm_set_errhandler(copy, handler));
    EPT_OK(t, MPI_Errhandler_free(&handler));
    handled = 0;
    return copy;
}

enum flavor { CREATE, ALLOCATE, SHARED, DYNAMIC, FLAVORS };

static const char *const flavor_names[] = {"create", "allocate", "shared", "dynamic"};

/** Arguments of a creation. */
struct arguments {
    MPI_Aint size;
    int unit;
    MPI_Info info;
    void *memory; /**< of CREATE */
    void *base;   /**< of the others: where the address goes */
    MPI_Win *win;
};

static int create(enum flavor flavor, MPI_Comm comm, const struct arguments *a)
{
    switch (flavor) {
    case CREATE:
        return MPI_Win_create(a->memory, a->size, a->unit, a->info, comm, a->win);
    case ALLOCATE:
        return MPI_Win_allocate(a->size, a->unit, a->info, comm, a->base, a->win);
    case SHARED:
        return MPI_Win_allocate_shared(a->size, a->unit, a->info, comm, a->base, a->win);
    default:
        return MPI_Win_create_dynamic(a->info, comm, a->win);
    }
}

/** A window of each kind can be created, used and freed. */
static void check_usable(MPI_Comm comm, struct ept *t)
{
    int one = 1, sum = 0, memory[4] = {0};

    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EPT_EQ(t, t->size, sum);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; ++flavor) {
        MPI_Win win = MPI_WIN_NULL;
        int *base = memory;
        struct arguments a = {BYTES, UNIT, MPI_INFO_NULL, memory, &base, &win};

        if (SHARED == flavor && 0 != ept_option_long("apart", 0)) {
            continue; /* the processes cannot share memory */
        }
        ept_phase(t, "a window that works: %s", flavor_names[flavor]);
        EPT_OK(t, create(flavor, comm, &a));
        EPT_OK(t, MPI_Win_fence(0, win));
        if (DYNAMIC != flavor) {
            EPT_OK(t, MPI_Put(&t->rank, 1, MPI_INT, (t->rank + 1) % t->size, 1, 1, MPI_INT, win));
        }
        EPT_OK(t, MPI_Win_fence(0, win));
        EPT_EQ(t, DYNAMIC == flavor ? memory[1] : (t->rank + t->size - 1) % t->size, base[1]);
        EPT_OK(t, MPI_Win_free(&win));
    }
}

/** All members get an error of this class, of one of them. */
static void expect(MPI_Comm comm, struct ept *t, enum flavor flavor, const char *what, int expected,
                   struct arguments good, struct arguments bad)
{
    for (int guilty = 0; guilty < t->size; ++guilty) {
        MPI_Win win;
        struct arguments a = guilty == t->rank ? bad : good;

        memset(&win, 0, sizeof(win));
        a.win = NULL == a.win ? NULL : &win;
        ept_phase(t, "%s, %s, of rank %d", flavor_names[flavor], what, guilty);
        handled = handled_class = 0;
        EPT_CLASS(t, expected, create(flavor, comm, &a));
        EPT_EQ(t, 1, handled);
        EPT_EQ(t, expected, handled_class);
        EPT_CHECK(t, NULL == a.win || MPI_WIN_NULL == win, "the handle is not MPI_WIN_NULL");
    }
}

static MPI_Info bad_info(struct ept *t, const char *key, const char *value)
{
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, key, value));
    return info;
}

/** Files of the node's memory that this process has mapped, while nobody changes that. */
static int mapped_files(MPI_Comm comm, struct ept *t)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int count = 0;

    EPT_OK(t, MPI_Barrier(comm));
    while (NULL != maps && NULL != fgets(line, sizeof(line), maps)) {
        count += NULL != strstr(line, "/dev/shm/");
    }
    if (NULL != maps) {
        fclose(maps);
    }
    EPT_OK(t, MPI_Barrier(comm));
    return count;
}

static void case_arguments(MPI_Comm parent, struct ept *t)
{
    MPI_Comm comm = watched_copy(t, parent);
    int memory[4] = {0}, *base;
    MPI_Win any;
    const struct arguments good = {BYTES, UNIT, MPI_INFO_NULL, memory, &base, &any};
    int mapped;

    check_usable(comm, t); /* collectives have got their memory */
    mapped = mapped_files(comm, t);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; ++flavor) {
        struct arguments bad = good;

        if (DYNAMIC != flavor) {
            bad.size = -1;
            expect(comm, t, flavor, "size", MPI_ERR_SIZE, good, bad);
            bad = good;
            bad.unit = 0;
            expect(comm, t, flavor, "unit", MPI_ERR_DISP, good, bad);
            bad.unit = -8;
            expect(comm, t, flavor, "unit", MPI_ERR_DISP, good, bad);
            bad = good;
        }
        if (ALLOCATE == flavor || SHARED == flavor) {
            bad.base = NULL;
            expect(comm, t, flavor, "base", MPI_ERR_ARG, good, bad);
            bad = good;
        }
#if defined(OPEN_MPI)
        memset(&bad.info, 0, sizeof(bad.info)); /* no handle at all */
        expect(comm, t, flavor, "info", MPI_ERR_INFO, good, bad);
        bad = good;
#endif
        bad.win = NULL;
        expect(comm, t, flavor, "handle", MPI_ERR_ARG, good, bad);
    }
    check_usable(comm, t);
    EPT_EQ(t, mapped, mapped_files(comm, t));
    EPT_OK(t, MPI_Comm_free(&comm));
}

/** libmpi parses these two itself. */
static void case_infos(MPI_Comm parent, struct ept *t)
{
    static const char *const pairs[][2] = {{"accumulate_ops", "all"},
                                           {"accumulate_order", "rar,sideways"},
                                           {"accumulate_order", "none,rar"}};
    MPI_Comm comm = watched_copy(t, parent);
    int memory[4] = {0}, *base;
    MPI_Win any;
    const struct arguments good = {BYTES, UNIT, MPI_INFO_NULL, memory, &base, &any};

    for (enum flavor flavor = CREATE; flavor < FLAVORS; ++flavor) {
        for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
            struct arguments bad = good;

            bad.info = bad_info(t, pairs[i][0], pairs[i][1]);
            expect(comm, t, flavor, pairs[i][1], MPI_ERR_INFO_VALUE, good, bad);
            EPT_OK(t, MPI_Info_free(&bad.info));
        }
    }
    check_usable(comm, t);
    EPT_OK(t, MPI_Comm_free(&comm));
}

/** What libmpi parses, and takes. */
static void case_good_infos(MPI_Comm comm, struct ept *t)
{
    static const char *const pairs[][2] = {{"accumulate_ops", "same_op"},
                                           {"accumulate_ops", "same_op_no_op"},
                                           {"accumulate_order", "none"},
                                           {"accumulate_order", "rar,waw"},
                                           {"no_locks", "true"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        MPI_Win win = MPI_WIN_NULL;
        int memory[4] = {0};
        struct arguments a = {BYTES, UNIT, bad_info(t, pairs[i][0], pairs[i][1]), memory, NULL,
                              &win};

        ept_phase(t, "%s", pairs[i][1]);
        EPT_OK(t, create(CREATE, comm, &a));
        EPT_OK(t, MPI_Win_free(&win));
        EPT_OK(t, MPI_Info_free(&a.info));
    }
}

/** MPI_Win_free with an open epoch at one member. */
static void case_free(MPI_Comm comm, struct ept *t)
{
    static const char name[] = "still there";
    char got[MPI_MAX_OBJECT_NAME];
    int memory[4] = {0}, length;
    MPI_Info info;

    for (int guilty = 0; guilty < t->size; ++guilty) {
        MPI_Win win = MPI_WIN_NULL;
        MPI_Fint number;

        EPT_OK(t, MPI_Win_create(memory, BYTES, UNIT, MPI_INFO_NULL, comm, &win));
        EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        EPT_OK(t, MPI_Win_set_name(win, name));
        number = MPI_Win_c2f(win);
        if (guilty == t->rank) {
            EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, guilty, 0, win));
        }
        for (int i = 0; i < 2; ++i) {
            ept_phase(t, "an epoch of rank %d, %d", guilty, i);
            EPT_CLASS(t, MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
            EPT_CHECK(t, MPI_WIN_NULL != win && win == MPI_Win_f2c(number), "not the window");
            EPT_OK(t, MPI_Win_get_name(win, got, &length));
            EPT_STREQ(t, name, got);
            EPT_OK(t, MPI_Win_get_info(win, &info));
            EPT_OK(t, MPI_Info_free(&info));
        }
        if (guilty == t->rank) {
            EPT_OK(t, MPI_Put(&t->rank, 1, MPI_INT, guilty, 0, 1, MPI_INT, win));
            EPT_OK(t, MPI_Win_unlock(guilty, win));
            EPT_EQ(t, guilty, memory[0]);
        }
        EPT_OK(t, MPI_Win_free(&win));
        EPT_CHECK(t, MPI_WIN_NULL == win, "the handle is not MPI_WIN_NULL");
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    if (!t->endpoints) {
        ept_skip(t, "all", "libmpi returns at one member alone");
        return 0;
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_arguments);
    EPT_CASE(t, case_infos);
    EPT_CASE(t, case_good_infos);
    EPT_CASE(t, case_free);
    return 0;
}
