/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows in a process whose slots of libmpi's table of communicators are all used, or all but too few:
 * creation is an error at all members, nothing stays behind of it, and it works again when there are
 * slots.
 *
 * EPT-LIBS: -ldl
 *
 * Guards: osc_epwin_create.c, osc_epwin_handle.c
 */

#define _GNU_SOURCE

#include "ept.h"

#include <dlfcn.h>

/** Slots of the table under epml's base PML, ob1. */
enum { SLOTS = 65535 };

/** libmpi's table and its functions (opal_pointer_array_t). */
static struct {
    void *table, *nobody; /**< nobody: MPI_COMM_NULL, in slots that nobody has */
    int (*set)(void *table, int index, void *value);
    bool (*test_and_set)(void *table, int index, void *value);
    unsigned char taken[SLOTS];
} slots;

void test_process_begin(void)
{
    slots.table = dlsym(RTLD_DEFAULT, "ompi_mpi_communicators");
    slots.nobody = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_null");
    *(void **) &slots.set = dlsym(RTLD_DEFAULT, "opal_pointer_array_set_item");
    *(void **) &slots.test_and_set = dlsym(RTLD_DEFAULT, "opal_pointer_array_test_and_set_item");
}

/** Take all slots but some.  One thread of a process. */
static void slots_take(int but)
{
    for (int i = SLOTS - 1; 0 <= i; --i) {
        slots.taken[i] = slots.test_and_set(slots.table, i, slots.nobody);
    }
    for (int i = SLOTS - 1; 0 < but; --i) {
        if (slots.taken[i]) {
            slots.taken[i] = 0;
            (void) slots.set(slots.table, i, NULL);
            --but;
        }
    }
}

static void slots_return(void)
{
    for (int i = 0; i < SLOTS; ++i) {
        if (slots.taken[i]) {
            (void) slots.set(slots.table, i, NULL);
        }
    }
}

/** Is it a rank of the process that lacks slots? */
static bool is_last(const struct ept *t)
{
    return t->proc == t->nprocs - 1;
}

/** One of the two classes that a creation without slots may have. */
static int class_of(int rc)
{
    int error = MPI_SUCCESS;

    (void) MPI_Error_class(rc, &error);
    return MPI_ERR_INTERN == error ? MPI_ERR_INTERN : MPI_ERR_OTHER;
}

/** Create a window while the last process has so many slots. */
static int create(MPI_Comm comm, struct ept *t, int flavor, int free_slots, MPI_Win *win)
{
    static int memory[16];
    int *base, rc;

    ept_phase(t, "flavor %d, %d slots", flavor, free_slots);
    EPT_OK(t, MPI_Barrier(comm));
    if (is_last(t) && 0 == t->local) {
        slots_take(free_slots);
    }
    EPT_OK(t, MPI_Barrier(comm));
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE:
        rc = MPI_Win_create(memory, (MPI_Aint) sizeof(memory), 1, MPI_INFO_NULL, comm, win);
        break;
    case MPI_WIN_FLAVOR_ALLOCATE:
        rc = MPI_Win_allocate((MPI_Aint) sizeof(memory), 1, MPI_INFO_NULL, comm, &base, win);
        break;
    default:
        rc = MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
        break;
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (is_last(t) && 0 == t->local) {
        slots_return();
    }
    EPT_OK(t, MPI_Barrier(comm));
    return rc;
}

static void case_full(MPI_Comm comm, struct ept *t)
{
    static const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                                  MPI_WIN_FLAVOR_DYNAMIC};

    for (int i = 0; i < 3; ++i) {
        for (int free_slots = 0; free_slots <= t->nlocal; ++free_slots) {
            MPI_Win win = MPI_WIN_NULL;
            const int rc = create(comm, t, flavors[i], free_slots, &win);

            if (free_slots < t->nlocal) {
                EPT_CLASS(t, 0 == free_slots && is_last(t) ? MPI_ERR_INTERN : class_of(rc), rc);
                EPT_CHECK(t, MPI_SUCCESS != rc, "a window, but %d slots", free_slots);
                EPT_CHECK(t, MPI_WIN_NULL == win, "a handle, but an error");
                continue;
            }
            EPT_OK(t, rc);
            EPT_OK(t, MPI_Win_fence(0, win));
            EPT_OK(t, MPI_Win_free(&win));
        }
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (NULL == slots.table || NULL == slots.nobody || NULL == slots.set
        || NULL == slots.test_and_set) {
        ept_skip(t, "case_full", "libmpi's table is out of reach");
    } else {
        EPT_CASE(t, case_full);
    }
    return 0;
}
