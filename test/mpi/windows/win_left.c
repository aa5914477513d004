/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Windows that exist when MPI_Finalize is called: of all flavors, unused ones, used ones, in an epoch
 * or with operations under way.  MPI_Finalize must neither hang nor crash, and nothing may be left in
 * /dev/shm (which the runner checks).  With --keep 1 the endpoints are left, too.
 *
 * Guards: osc_epwin_free.c, osc_epwin_handle.c
 */

#include "ept.h"

static int memory[64];

static void leave(MPI_Comm comm, struct ept *t)
{
    const int next = (t->rank + 1) % t->size;
    MPI_Win created, allocated, dynamic;
    MPI_Comm duplicate;
    int *base;

    EPT_OK(t, MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, comm, &created));
    EPT_OK(t, MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &dynamic));
    EPT_OK(t, MPI_Win_attach(dynamic, memory, sizeof(memory)));
    EPT_OK(t, MPI_Comm_dup(comm, &duplicate));
    EPT_OK(t, MPI_Win_allocate(1000 * (MPI_Aint) sizeof(int), sizeof(int), MPI_INFO_NULL, duplicate,
                               &base, &allocated));
    EPT_OK(t, MPI_Comm_free(&duplicate));
    EPT_OK(t, MPI_Win_fence(0, created));
    EPT_OK(t, MPI_Put(&t->rank, 1, MPI_INT, next, 1 + t->rank % 60, 1, MPI_INT, created));
    EPT_OK(t, MPI_Win_fence(0, created));
    EPT_EQ(t, (t->rank + t->size - 1) % t->size,
           memory[1 + (t->rank + t->size - 1) % t->size % 60]);
    /* An epoch that is left with operations in it. */
    EPT_OK(t, MPI_Win_lock(MPI_LOCK_SHARED, next, 0, allocated));
    EPT_OK(t, MPI_Put(&t->rank, 1, MPI_INT, next, 3, 1, MPI_INT, allocated));
    EPT_OK(t, MPI_Win_flush(next, allocated));
    EPT_OK(t, MPI_Put(&t->rank, 1, MPI_INT, next, 4, 1, MPI_INT, allocated));
}

static void case_left(MPI_Comm comm, struct ept *t)
{
    leave(comm, t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_left);
    return 0;
}
