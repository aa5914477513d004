/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Checks and TAP output for programs that are compiled with plain mpicc or mpicxx and know nothing of
 * endpoints.  A rank is one of MPI_COMM_WORLD, be it a process or a thread: check.c keeps its counts in
 * static variables, as any program would.
 *
 *     CHECK(1 == x);           any number of them, in the thread of main
 *     ranks_case("globals");   collective: "ok" if no rank has failed since the last case
 *     return ranks_end();      collective: the plan, MPI_Finalize, the status for main
 */

#ifndef RANKS_CHECK_H
#define RANKS_CHECK_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

int ranks_rank(void);
int ranks_size(void);
void ranks_fail(const char *file, int line, const char *text);
void ranks_case(const char *name);
int ranks_end(void);

#ifdef __cplusplus
}
#endif

#define CHECK(condition)                                \
    do {                                                \
        if (!(condition)) {                             \
            ranks_fail(__FILE__, __LINE__, #condition); \
        }                                               \
    } while (0)

#endif /* RANKS_CHECK_H */
