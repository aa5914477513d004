/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A library with thread-local variables at fixed places of each thread's block, more than the dynamic
 * linker has room for: the process is started once more.  The user's tunables stay.
 *
 * EPT-LIBRARY: ranks_static_tls_own.c
 *
 * Guards: private_libraries.c, static_tls.c
 */

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern __thread int own_values[300];
int own_step(int by);

static void *run(void *result)
{
    *(int *) result = own_step(5);
    return NULL;
}

static void check_values(void)
{
    const int rank = ranks_rank();
    pthread_t thread;
    int last = 0, other = 0;

    for (int i = 0; i <= rank; ++i) {
        last = own_step(1);
    }
    CHECK(0 == pthread_create(&thread, NULL, run, &other) && 0 == pthread_join(thread, NULL));
    CHECK(7 + rank + 1 == last && rank + 8 == own_values[0]);
    CHECK(12 == other);
    ranks_case("thread-local variables of a library");
}

static void check_environment(void)
{
    const char *tunables = getenv("GLIBC_TUNABLES"), *wanted = getenv("RANKS_TUNABLE");

    CHECK(NULL == wanted || (NULL != tunables && NULL != strstr(tunables, wanted)));
    CHECK(NULL == getenv("MPIX_RANKS_STARTED_AGAIN"));
    ranks_case("the environment");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_values();
    check_environment();
    return ranks_end();
}
