/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process that is bound to fewer cores than it has endpoints, while the node has one for each: a line says
 * what to add, once its threads wait for each other.
 *
 *   --cores N  so many (default 1)
 *
 * Guards: pml_epml_oversubscription.c
 */

#define _GNU_SOURCE
#include "ept.h"

#include <sched.h>
#include <unistd.h>

/* Before there are other threads, of Open MPI's. */
int test_process_init(int *argc, char ***argv)
{
    long cores = ept_option_long("cores", 1);
    cpu_set_t allowed, some;
    int level;

    CPU_ZERO(&some);
    (void) sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < cores; ++cpu) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, &some);
        }
    }
    (void) sched_setaffinity(0, sizeof(some), &some);
    return MPI_SUCCESS == MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level) ? level : -1;
}

/* Each waits while the other one is busy: in some round at least for a while. */
static void case_wait(MPI_Comm comm, struct ept *t)
{
    int value = 0;

    for (int round = 0; round < 100; ++round) {
        ept_phase(t, "round %d", round);
        if (round % 2 == t->rank) {
            usleep(1000);
            EPT_OK(t, MPI_Send(&round, 1, MPI_INT, 1 - t->rank, 1, comm));
        } else {
            EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, 1 - t->rank, 1, comm, MPI_STATUS_IGNORE));
            EPT_EQ(t, round, value);
        }
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_wait);
    return 0;
}
