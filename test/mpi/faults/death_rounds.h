/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Shared by programs that lose one process in each round, the last one first, and go on with a
 * communicator of those that are left: options, endpoints and their threads.
 *
 * A program calls rounds_begin, rounds_run, and rounds_end.
 */

#ifndef EPT_DEATH_ROUNDS_H
#define EPT_DEATH_ROUNDS_H

#include <mpi.h>
#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MOST_EP = 8 };

static int endpoints = 2, first; /**< the options --ep and --first */
static int processes, process;
static const char *_Atomic doing = "begins"; /**< in the process's last round, for the time-out */

static inline void sleep_ms(int ms)
{
    const struct timespec nap = {ms / 1000, ms % 1000 * 1000000L};

    (void) nanosleep(&nap, NULL);
}

static inline int class_of(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return class;
}

/** A communicator of a world's first members. */
static inline MPI_Comm rounds_comm(MPI_Comm world, int members, int round)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group all, group;
    int range[] = {0, members - 1, 1};

    MPI_Comm_group(world, &all);
    MPI_Group_range_incl(all, 1, &range, &group);
    if (MPI_SUCCESS != MPI_Comm_create_group(world, group, 40 + round, &comm)) {
        printf("not ok - process %d, round %d: no communicator of those that are left\n", process,
               round);
        exit(1);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static void rounds_alarm(int number)
{
    (void) number;
    printf("not ok - process %d waits in round of %s\n", process, atomic_load(&doing));
    fflush(stdout);
    _exit(1);
}

/** Read the options, and begin MPI. */
static inline void rounds_begin(int argc, char **argv)
{
    int provided;

    for (int i = 1; i < argc - 1; i += 2) {
        endpoints = 0 == strcmp(argv[i], "--ep") ? atoi(argv[i + 1]) : endpoints;
        first = 0 == strcmp(argv[i], "--first") ? atoi(argv[i + 1]) : first;
    }
    (void) signal(SIGALRM, rounds_alarm);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
}

/**
 * All rounds: in round i the last but i process dies.
 *
 * @param[in] members   of this process
 * @param[in] endpoint  a member's thread; its argument is the member's communicator
 * @param[in] die       ends this process in a round
 */
static inline void rounds_run(int members, void *(*endpoint)(void *), void (*die)(int round))
{
    MPI_Comm comms[ROUNDS_MOST_EP];
    pthread_t threads[ROUNDS_MOST_EP];

#if defined(HAVE_EP)
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, members, MPI_INFO_NULL, comms);
#endif
    for (int i = 0; i < members; ++i) {
        pthread_create(&threads[i], NULL, endpoint, &comms[i]);
    }
    if (0 < process) {
        die(processes - 1 - process);
    }
    for (int i = 0; i < members; ++i) {
        pthread_join(threads[i], NULL);
    }
}

/** The process that is left prints the plan. */
static inline void rounds_end(void)
{
    printf("1..%d\n", processes - 1);
    fflush(stdout);
    _exit(0);
}

#endif /* EPT_DEATH_ROUNDS_H */
