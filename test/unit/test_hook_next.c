/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Threads that call a function of MPI's for the first time at the same moment: each gets the answer
 * to the search for a tool, none the value under which the answer is kept.  Real tools:
 * install/tools.
 *
 * Guards: next_function.c, mpiext_endpoints_next.h
 */
/* EPT-LIBS: -ldl */

#define _GNU_SOURCE 1

#include "ompi/mpiext/endpoints/c/calls/next_function.c"

#include "tap.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS 4000

static _Atomic(void *) found[ROUNDS];
static atomic_uint arrived[ROUNDS];

/** All threads search in one round, as nearly at once as they come. */
static void *search(void *arg)
{
    (void) arg;
    for (int i = 0; i < ROUNDS; ++i) {
        atomic_fetch_add(&arrived[i], 1);
        while (THREADS > atomic_load(&arrived[i])) {
            sched_yield();
        }
        TAP_CHECK(NULL == mpix_endpoints_tool_function("MPI_Comm_free", &found[i]),
                  "round %d: an address where there is no function", i);
    }
    return NULL;
}

static void case_at_once(void)
{
    pthread_t thread[THREADS];

    tap_case("%d threads search for a tool that there is not, %d times", THREADS, ROUNDS);
    for (int i = 0; i < THREADS; ++i) {
        TAP_EQ(0, pthread_create(&thread[i], NULL, search, NULL));
    }
    for (int i = 0; i < THREADS; ++i) {
        TAP_EQ(0, pthread_join(thread[i], NULL));
    }
    for (int i = 0; i < ROUNDS; ++i) {
        TAP_CHECK(MPIX_ENDPOINTS_NO_TOOL == atomic_load(&found[i]), "round %d: nothing is kept", i);
    }
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_hook_next", 60);
    case_at_once();
    return tap_end();
}
