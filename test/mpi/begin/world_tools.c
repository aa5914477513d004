/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A tool of the profiling interface (lib/world_tool.c), in front of libmpix_world or behind it, sees each
 * call of a thread with a world of its own once, also of a function that libmpix_endpoints stands before;
 * and the call does what it does without.
 *
 * Guards: world.c, abi_world.c
 */
/* EPT-LIBS: -world -ldl */

#define _GNU_SOURCE

#include "static.h"

#include <dlfcn.h>

#if defined(HAVE_EP)

int test_process_init(int *argc, char ***argv)
{
    static_code = static_begin(argc, argv);
    return MPI_THREAD_MULTIPLE;
}

static int (*tool_calls)(void);

static void on_world(struct ept *t, int index, void *context)
{
    const int n = static_first(t->nprocs);
    int rank = -1, one = 1, sum = 0, size = 0;
    MPI_Comm space;

    (void) context;
    (void) tool_calls();
    EPT_OK(t, MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    EPT_EQ(t, 1, tool_calls());
    EPT_EQ(t, static_first(t->proc) + index, rank);
    EPT_OK(t, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EPT_EQ(t, 1, tool_calls());
    EPT_EQ(t, n, sum);
    EPT_OK(t, MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_ADDRESS_SPACE, 0, MPI_INFO_NULL,
                                  &space));
    EPT_EQ(t, 1, tool_calls());
    EPT_OK(t, PMPI_Comm_size(space, &size));
    EPT_EQ(t, static_count(t->proc), size);
    EPT_OK(t, PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    EPT_EQ(t, static_first(t->proc) + index, rank);
    EPT_EQ(t, 0, tool_calls());
    EPT_OK(t, MPI_Comm_free(&space));
}

static void case_once(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    tool_calls = (int (*)(void)) dlsym(RTLD_DEFAULT, "world_tool_calls");
    EPT_CHECK(t, NULL != tool_calls, "no tool");
    if (NULL != tool_calls) {
        static_on_each(t, on_world, NULL);
    }
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, static_code);
    EPT_CASE(t, case_once);
#else
    ept_skip(t, "world_tools", "needs endpoints");
#endif
    return 0;
}
