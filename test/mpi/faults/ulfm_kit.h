/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the programs about fault tolerance on endpoints have in common: a thread for each endpoint,
 * processes that die, and TAP of sums of failures.
 *
 * A program defines TOPICS, topics[] and member_run, and calls kit_main.
 */

#ifndef EPT_ULFM_KIT_H
#define EPT_ULFM_KIT_H

#include <mpi.h>
#include <mpi-ext.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIT_MOST_EP = 16, KIT_MOST_TOPICS = 16 };

typedef struct member_t {
    MPI_Comm comm;        /**< of all endpoints, errors are returned; the kit frees it */
    int rank, size;       /**< in it */
    int index;            /**< of the endpoint in its process */
    unsigned int seed;    /**< of its own */
} member_t;

static int kit_processes, kit_process, kit_endpoints = 2;
static unsigned int kit_seed = 1;
static atomic_int kit_failures[KIT_MOST_TOPICS];
static pthread_barrier_t kit_barrier; /**< of the endpoints of a process */

static void kit_check(int topic, bool right, const char *what, int line)
{
    if (!right) {
        atomic_fetch_add(&kit_failures[topic], 1);
        printf("# process %d, line %d: %s\n", kit_process, line, what);
        fflush(stdout);
    }
}

#define CHECK(topic, condition) kit_check((topic), (condition), #condition, __LINE__)

/** Of class expected, or say what it was. */
static inline void kit_class(int topic, int expected, int rc, const char *what, int line)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    if (expected != class) {
        atomic_fetch_add(&kit_failures[topic], 1);
        printf("# process %d, line %d: %s: class %d, not %d\n", kit_process, line, what, class,
               expected);
        fflush(stdout);
    }
}

#define CLASS(topic, expected, call) kit_class((topic), (expected), (call), #call, __LINE__)
#define OK(topic, call) CLASS((topic), MPI_SUCCESS, (call))

/** Process of a rank in the kit's communicator. */
static inline int kit_process_of(int rank)
{
    return rank / kit_endpoints;
}

/** This process dies, with all its endpoints; the call does not return. */
static inline void kit_die(void)
{
    (void) kill(getpid(), SIGKILL);
    for (;;) {
        (void) pause();
    }
}

/** Defined by the program: what an endpoint does.  Those of one process run at the same time. */
static void member_run(member_t *m);

static void *kit_thread(void *argument)
{
    member_t *m = argument;

    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->size);
    m->seed = kit_seed * 7919u + (unsigned int) m->rank;
    member_run(m);
    MPI_Comm_free(&m->comm);
    return NULL;
}

/** Called, if set, with the surviving processes, before they report. */
static void (*kit_compare)(MPI_Comm survivors);

/** The first survivor says for all how they have fared. */
static void kit_report(const char *const topics[], int count)
{
    MPI_Comm shrunk = MPI_COMM_NULL;
    int sums[KIT_MOST_TOPICS] = {0}, mine[KIT_MOST_TOPICS], rank;

    if (MPI_SUCCESS != MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk)) {
        printf("Bail out! the survivors' processes do not find each other\n");
        exit(1);
    }
    if (NULL != kit_compare) {
        kit_compare(shrunk);
    }
    for (int i = 0; i < count; ++i) {
        mine[i] = atomic_load(&kit_failures[i]);
    }
    MPI_Reduce(mine, sums, count, MPI_INT, MPI_SUM, 0, shrunk);
    MPI_Comm_rank(shrunk, &rank);
    for (int i = 0; i < count && 0 == rank; ++i) {
        printf("%s %d - %s\n", 0 == sums[i] ? "ok" : "not ok", i + 1, topics[i]);
    }
    MPI_Comm_free(&shrunk);
    MPI_Finalize();
    if (0 == rank) {
        printf("ok %d - MPI_Finalize ends\n1..%d\n", count + 1, count + 1);
    }
}

/** @param[in] more  reads an argument of the program's own, and the value behind it; or NULL */
static int kit_main(int argc, char **argv, const char *const topics[], int count,
                    void (*more)(const char *name, const char *value))
{
    MPI_Comm comms[KIT_MOST_EP];
    member_t members[KIT_MOST_EP];
    pthread_t threads[KIT_MOST_EP];
    int provided;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (0 == strcmp(argv[i], "--ep")) {
            kit_endpoints = atoi(argv[i + 1]);
        } else if (0 == strcmp(argv[i], "--seed")) {
            kit_seed = (unsigned int) strtoul(argv[i + 1], NULL, 0);
        } else if (NULL != more) {
            more(argv[i], argv[i + 1]);
        }
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &kit_process);
    MPI_Comm_size(MPI_COMM_WORLD, &kit_processes);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    pthread_barrier_init(&kit_barrier, NULL, (unsigned int) kit_endpoints);
    if (MPI_SUCCESS
        != MPIX_Comm_create_endpoints(MPI_COMM_WORLD, kit_endpoints, MPI_INFO_NULL, comms)) {
        printf("Bail out! no endpoints\n");
        return 1;
    }
    for (int i = 0; i < kit_endpoints; ++i) {
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
        members[i] = (member_t){.comm = comms[i], .index = i};
        pthread_create(&threads[i], NULL, kit_thread, &members[i]);
    }
    for (int i = 0; i < kit_endpoints; ++i) {
        pthread_join(threads[i], NULL);
    }
    kit_report(topics, count);
    return 0;
}

#endif /* EPT_ULFM_KIT_H */
