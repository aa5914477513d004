/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */

/*
 * A program that starts workers, each of them a process with several endpoints, and has them
 * integrate 4 / (1 + x * x), which is pi.  It tells them how finely, by the intercommunicator;
 * among themselves all their threads are ranks, which add up what they have.
 *
 *     epmpicc -pthread static_workers.c -o static_workers
 *     epmpirun --oversubscribe ./static_workers 2 4
 *
 * starts 2 workers with 4 endpoints each.  Exit status 0: the result was right.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENDPOINTS 32
#define STEPS 1000000

static MPIX_Endpoint endpoint[MAX_ENDPOINTS];
static MPI_Comm parent;

/* What each thread of a worker does. */
static void *integrate(void *arg)
{
    double part = 0, sum;
    int rank, size, steps = 0;

    MPIX_Thread_detach();
    MPIX_Thread_attach(endpoint[(long) arg]);
    MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &rank);
    MPI_Comm_size(MPIX_COMM_ENDPOINTS, &size);
    if (0 == rank) {
        MPI_Recv(&steps, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&steps, 1, MPI_INT, 0, MPIX_COMM_ENDPOINTS);
    for (int i = rank; i < steps; i += size) {
        const double x = (i + 0.5) / steps;

        part += 4 / (1 + x * x) / steps;
    }
    MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPIX_COMM_ENDPOINTS);
    if (0 == rank) {
        MPI_Send(&sum, 1, MPI_DOUBLE, 0, 0, parent);
        MPI_Send(&size, 1, MPI_INT, 0, 0, parent);
    }
    MPIX_Thread_detach();
    return NULL;
}

static int worker(int count)
{
    pthread_t thread[MAX_ENDPOINTS];

    MPIX_Init_endpoint(NULL, NULL, count, MPI_THREAD_FUNNELED, endpoint);
    MPI_Comm_get_parent(&parent);
    for (long i = 0; i < count; ++i) {
        pthread_create(&thread[i], NULL, integrate, (void *) i);
    }
    for (int i = 0; i < count; ++i) {
        pthread_join(thread[i], NULL);
    }
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

static int start_workers(char *program, int processes, const char *endpoints)
{
    char *argv[] = {"worker", NULL};
    int steps = STEPS, size, wrong;
    MPI_Comm workers;
    MPI_Info info;
    double pi;

    MPI_Init(NULL, NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "num_endpoints", endpoints);
    MPI_Comm_spawn(program, argv, processes, info, 0, MPI_COMM_SELF, &workers, MPI_ERRCODES_IGNORE);
    MPI_Info_free(&info);

    /* Rank 0 over there is the first worker's first endpoint. */
    MPI_Send(&steps, 1, MPI_INT, 0, 0, workers);
    MPI_Recv(&pi, 1, MPI_DOUBLE, 0, 0, workers, MPI_STATUS_IGNORE);
    MPI_Recv(&size, 1, MPI_INT, 0, 0, workers, MPI_STATUS_IGNORE);
    wrong = processes * atoi(endpoints) != size || 1e-9 < fabs(pi - acos(-1));
    printf("static_workers: %d processes, %d endpoints: pi is %.9f, %s\n", processes, size, pi,
           wrong ? "WRONG" : "right");
    MPI_Comm_disconnect(&workers);
    MPI_Finalize();
    return wrong;
}

int main(int argc, char **argv)
{
    int count, level;

    /* A program of one process is told nothing, unless by its launcher: workers have an
     * argument. */
    if (2 == argc && 0 == strcmp("worker", argv[1])) {
        MPIX_Query_endpoints_told(&count, &level);
        return worker(0 < count && MAX_ENDPOINTS >= count ? count : 1);
    }
    return start_workers(argv[0], 2 < argc ? atoi(argv[1]) : 2, 2 < argc ? argv[2] : "4");
}
