/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Query_thread tells what MPI_Init_thread has provided, and that counts for threads that are
 * attached, whatever MPI_T_init_thread was asked for since.
 *
 * Guards: init_libmpi.c, init_mpi.c, process.c
 */

#include "ept.h"

static int before = -1;

void test_process_begin(void)
{
    int level;

    (void) MPI_Query_thread(&before);
    (void) MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
}

static void case_level(MPI_Comm comm, struct ept *t)
{
    int level = -1;

    (void) comm;
    EPT_EQ(t, MPI_THREAD_MULTIPLE, before);
    EPT_OK(t, MPI_Query_thread(&level));
    EPT_EQ(t, before, level);
}

#if defined(HAVE_EP)
/* All threads of the process to what stands for it, at once. */
static void case_attach(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPIX_Thread_attach_index(0));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPIX_Thread_detach());
}
#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE_STOCK_DEFECT(t, case_level, "MPI_T_init_thread changes MPI's level");
#if defined(HAVE_EP)
    EPT_CASE(t, case_attach);
#endif
    return 0;
}
