/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Checks and TAP output (check.h).
 */

#include "check.h"

#include <stdio.h>

static int failed_now; /* since the last case */
static int failed_all;
static int cases;

int ranks_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int ranks_size(void)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

void ranks_fail(const char *file, int line, const char *text)
{
    /* One call for a line: lines of ranks do not mix. */
    fprintf(stderr, "# %s:%d: rank %d: %s\n", file, line, ranks_rank(), text);
    ++failed_now;
}

void ranks_case(const char *name)
{
    int failed = 0;

    MPI_Allreduce(&failed_now, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ++cases;
    failed_all += failed;
    failed_now = 0;
    if (0 == ranks_rank()) {
        printf("%sok %d - %s\n", 0 == failed ? "" : "not ", cases, name);
        fflush(stdout);
    }
}

int ranks_end(void)
{
    if (0 == ranks_rank()) {
        printf("1..%d\n", cases);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0 == failed_all ? 0 : 1;
}
