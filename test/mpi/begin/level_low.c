/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Two threads that wait in MPI at the same time, which was initialized by MPI_Init: the job is told
 * so, and MPIX_Query_endpoints_support does not promise endpoints.  It has a main() of its own,
 * because the harness initializes MPI with MPI_THREAD_MULTIPLE.
 *
 * They have been told when both have waited for long.  The library gives up the core every 16 turns
 * then (pml_epml_yield is "always"), so calls of sched_yield are counted.
 *
 * Guards: pml_epml_waiting.c, query_endpoints_support.c
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 2
#define YIELDS 64 /* of each thread: some 1000 turns */

int sched_yield(void);

static MPI_Comm ep_comms[THREADS + 1];
static _Atomic int yields[THREADS];
static _Thread_local int mine = -1;

/* In place of the C library's. */
int sched_yield(void)
{
    if (0 <= mine) {
        atomic_fetch_add(&yields[mine], 1);
    }
    return 0;
}

static void *wait_for_main(void *index)
{
    mine = *(const int *) index;
    MPI_Recv(NULL, 0, MPI_INT, THREADS, 0, ep_comms[mine], MPI_STATUS_IGNORE);
    mine = -1;
    return NULL;
}

int main(int argc, char **argv)
{
    const int index[THREADS] = {0, 1};
    pthread_t threads[THREADS];
    int supported = -1;

    MPI_Init(&argc, &argv);
    MPIX_Query_endpoints_support(&supported);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, THREADS + 1, MPI_INFO_NULL, ep_comms);
    for (int i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, wait_for_main, (void *) &index[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        while (YIELDS > atomic_load(&yields[i])) {
        }
    }
    for (int i = 0; i < THREADS; ++i) {
        MPI_Send(NULL, 0, MPI_INT, i, 0, ep_comms[THREADS]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i <= THREADS; ++i) {
        MPI_Comm_free(&ep_comms[i]);
    }
    MPI_Finalize();
    printf("%sok 1 - no support is promised\n1..1\n", 0 == supported ? "" : "not ");
    return 0 != supported;
}
