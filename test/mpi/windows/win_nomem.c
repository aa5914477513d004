/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One rank runs out of memory while windows are created: each allocation of ours in turn fails once
 * (test/lib/fail_alloc.c), at the first, the second and the last rank; or one rank's part is larger
 * than memory.  All ranks get the window or none does, nobody hangs, and windows can be created
 * afterwards.
 *
 * EPT-LIBS: -ldl
 *
 * Guards: osc_epwin_create.c, osc_epwin_data.c, osc_epwin_handle.c
 */

#define _GNU_SOURCE

#include "ept.h"

#include <dlfcn.h>

/** More allocations than any creation makes. */
#define MOST 300

enum flavor { CREATE, ALLOCATE, SHARED, DYNAMIC };

static void (*fail_alloc)(long n);
static int (*fail_alloc_done)(void);

void test_process_begin(void)
{
    *(void **) &fail_alloc = dlsym(RTLD_DEFAULT, "ept_fail_alloc");
    *(void **) &fail_alloc_done = dlsym(RTLD_DEFAULT, "ept_fail_alloc_done");
}

static int create(enum flavor flavor, MPI_Comm comm, MPI_Aint size, MPI_Win *win)
{
    static int memory[16];
    int *base;

    switch (flavor) {
    case CREATE:
        return MPI_Win_create(memory, (MPI_Aint) sizeof(memory), 1, MPI_INFO_NULL, comm, win);
    case ALLOCATE:
        return MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm, &base, win);
    case SHARED:
        return MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, comm, &base, win);
    default:
        return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
    }
}

/** A creation in which some members may have failed.  @return an allocation has failed */
static bool attempt(MPI_Comm comm, struct ept *t, enum flavor flavor, MPI_Aint size, int victim,
                    long n)
{
    MPI_Win win = MPI_WIN_NULL;
    int rc, mine[2] = {0, 0}, all[2] = {0, 0};

    ept_phase(t, "flavor %d, allocation %ld of rank %d", flavor, n, victim);
    EPT_OK(t, MPI_Barrier(comm));
    if (0 < n && t->rank == victim) {
        fail_alloc(n);
    }
    rc = create(flavor, comm, size, &win);
    if (0 < n && t->rank == victim) {
        mine[1] = fail_alloc_done();
    }
    mine[0] = MPI_SUCCESS == rc;
    EPT_CHECK(t, (MPI_SUCCESS == rc) == (MPI_WIN_NULL != win), "a handle, but %d", rc);
    EPT_OK(t, MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, comm));
    EPT_CHECK(t, 0 == all[0] || t->size == all[0], "%d of %d ranks have the window", all[0],
              t->size);
    if (MPI_SUCCESS == rc) {
        EPT_OK(t, MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        EPT_OK(t, MPI_Win_fence(0, win));
        EPT_OK(t, MPI_Win_free(&win));
    }
    return 0 != all[1];
}

static void check_usable(MPI_Comm comm, struct ept *t, enum flavor flavor)
{
    (void) attempt(comm, t, flavor, 64, 0, 0);
    ept_use_comm(t, comm, t->rank, t->size);
}

static void use_flavor(MPI_Comm comm, struct ept *t, enum flavor flavor)
{
    const int victims[] = {0, 1, t->size - 1};

    check_usable(comm, t, flavor);
    for (int i = 0; i < 3; ++i) {
        long n = 1;

        while (n < MOST && attempt(comm, t, flavor, 64, victims[i], n)) {
            ++n;
        }
        EPT_CHECK(t, 3 < n && n < MOST, "%ld allocations", n);
        check_usable(comm, t, flavor);
    }
}

static void case_create(MPI_Comm comm, struct ept *t)
{
    use_flavor(comm, t, CREATE);
}

static void case_allocate(MPI_Comm comm, struct ept *t)
{
    use_flavor(comm, t, ALLOCATE);
}

static void case_shared(MPI_Comm parent, struct ept *t)
{
    MPI_Comm comm;
    struct ept of = *t;

    EPT_OK(t, MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    EPT_OK(t, MPI_Comm_rank(comm, &of.rank));
    EPT_OK(t, MPI_Comm_size(comm, &of.size));
    if (of.size == t->size) {
        use_flavor(comm, t, SHARED);
    }
    EPT_OK(t, MPI_Comm_free(&comm));
}

static void case_dynamic(MPI_Comm comm, struct ept *t)
{
    use_flavor(comm, t, DYNAMIC);
}

/** One part is larger than any memory; or all are, so that their sum overflows. */
static void case_large(MPI_Comm comm, struct ept *t)
{
    static const MPI_Aint sizes[] = {(MPI_Aint) 1 << 50, (MPI_Aint) 1 << 62,
                                     INTPTR_MAX - 4096, INTPTR_MAX};

    for (int i = 0; i < 4; ++i) {
        for (int guilty = 0; guilty <= t->size; ++guilty) {
            for (enum flavor flavor = ALLOCATE; flavor <= SHARED; ++flavor) {
                const bool is_large = guilty == t->rank || guilty == t->size;
                MPI_Win win = MPI_WIN_NULL;
                int class;
                int rc;

                ept_phase(t, "size %d of rank %d, flavor %d", i, guilty, flavor);
                rc = create(flavor, comm, is_large ? sizes[i] : 64, &win);
                MPI_Error_class(rc, &class);
                EPT_CHECK(t, MPI_ERR_NO_MEM == class
                                 || (SHARED == flavor && MPI_ERR_RMA_SHARED == class),
                          "class %d of size %d", class, i);
            }
        }
    }
    check_usable(comm, t, ALLOCATE);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    if (!t->endpoints || NULL == fail_alloc) {
        ept_skip(t, "all", "needs endpoints, and fail_alloc in front of libc");
        return 0;
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    ept_meet(comm, t);
    EPT_CASE(t, case_create);
    EPT_CASE(t, case_allocate);
    EPT_CASE(t, case_shared);
    EPT_CASE(t, case_dynamic);
    EPT_CASE(t, case_large);
    return 0;
}
