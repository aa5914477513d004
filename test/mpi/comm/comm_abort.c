/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One endpoint ends the job, whatever the others are at: MPI_Abort with its code, and error
 * handlers that end it.  The runner expects this program to fail and looks at its status and at
 * what it prints (test/lib/Ept/Kinds.pm); so it has a main() of its own and no TAP.
 *
 *   --way abort | fatal | errors_abort | kill | all | all_abort | world
 *
 * all: every endpoint makes the same refused call at the same time; one error ends the job and is
 * explained, and no call returns.  all_abort: likewise MPI_Abort.  world: that on MPI_COMM_WORLD,
 * by as many threads.
 *
 * kill: its process is killed, after a message of every endpoint to every other, so that there is
 * all that endpoints ever leave behind.
 *
 * Guards: hook_abort.c, end.c
 */

#include <mpi.h>
#if defined(HAVE_EP)
#    include <mpi-ext.h>
#endif

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NUM_EP 3 /* the table's, too */

static const char *way = "abort";
static pthread_barrier_t together;

static int is_way(const char *name)
{
    return 0 == strcmp(way, name);
}

/* A message of every endpoint to every other. */
static void talk(MPI_Comm comm)
{
    int size, values[64];

    MPI_Comm_size(comm, &size);
    memset(values, 0, sizeof(values));
    if (size <= (int) (sizeof(values) / sizeof(values[0]))) {
        MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, values, 1, MPI_INT, comm);
    }
}

/* All threads at once.  Not one of these calls may come back. */
static void end_together(MPI_Comm comm)
{
    MPI_Comm other;

    pthread_barrier_wait(&together);
    if (is_way("all")) {
        MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, comm, &other); /* refused */
    } else {
        MPI_Abort(is_way("world") ? MPI_COMM_WORLD : comm, 42);
    }
    fprintf(stderr, "still here: a call has returned\n");
}

/* The endpoint of rank 1 ends it all; the others wait for a message that nobody sends. */
static void *endpoint(void *context)
{
    MPI_Comm comm = *(MPI_Comm *) context;
    int rank, value = 0;

    MPI_Comm_rank(comm, &rank);
    if (is_way("errors_abort")) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT);
    }
    MPI_Barrier(comm);
    if (is_way("all") || is_way("all_abort") || is_way("world")) {
        end_together(comm);
    }
    if (is_way("kill")) {
        talk(comm);
    }
    if (1 == rank && is_way("kill")) {
        raise(SIGKILL);
    } else if (1 == rank && is_way("abort")) {
        MPI_Abort(comm, 42);
    } else if (1 == rank) {
        MPI_Send(&value, 1, MPI_INT, 1000, 0, comm);
    }
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
    printf("still here after the end\n");
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[NUM_EP];
    pthread_t threads[NUM_EP];
    int provided;

    for (int i = 1; i < argc - 1; ++i) {
        if (0 == strcmp(argv[i], "--way")) {
            way = argv[i + 1];
        }
    }
    pthread_barrier_init(&together, NULL, NUM_EP);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#if defined(HAVE_EP)
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, NUM_EP, MPI_INFO_NULL, comms);
    for (int i = 0; i < NUM_EP; ++i) {
        pthread_create(&threads[i], NULL, endpoint, &comms[i]);
    }
    for (int i = 0; i < NUM_EP; ++i) {
        pthread_join(threads[i], NULL);
    }
#endif
    MPI_Finalize();
    return 0;
}
