/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A token travels around a ring of POSIX threads, from thread to thread and from process to
 * process.  Each rank adds its own number to it; rank 0 checks what has come together.
 *
 *     epmpicc -pthread ring.c -o ring
 *     epmpirun -n 2 ./ring [threads per process, default 4 [laps, default 10]]
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int laps = 10;

/* One rank.  The argument is its handle; returns NULL, or the handle if the token was wrong. */
static void *run_rank(void *argument)
{
    MPI_Comm *comm = argument;
    int rank, size, before, after;
    long long token = 0, expected;

    MPI_Comm_rank(*comm, &rank);
    MPI_Comm_size(*comm, &size);
    before = (rank + size - 1) % size;
    after = (rank + 1) % size;

    for (int lap = 0; lap < laps; ++lap) {
        if (0 == rank) {
            /* The receive first: in a ring of one, rank 0 sends to itself. */
            MPI_Request request;
            long long outgoing = token;

            MPI_Irecv(&token, 1, MPI_LONG_LONG, before, lap, *comm, &request);
            MPI_Send(&outgoing, 1, MPI_LONG_LONG, after, lap, *comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_LONG_LONG, before, lap, *comm, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG_LONG, after, lap, *comm);
        }
    }

    expected = (long long) laps * size * (size - 1) / 2;
    if (0 == rank) {
        printf("ring: %d ranks, %d laps: token %lld, %s\n", size, laps, token,
               expected == token ? "right" : "WRONG");
    }
    MPI_Comm_free(comm);
    return 0 == rank && expected != token ? argument : NULL;
}

int main(int argc, char **argv)
{
    int level, threads, wrong = 0;
    pthread_t *thread;
    MPI_Comm *ep;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    threads = 1 < argc ? atoi(argv[1]) : 4;
    laps = 2 < argc ? atoi(argv[2]) : laps;
    if (1 > threads || 0 > laps || MPI_THREAD_MULTIPLE != level) {
        fprintf(stderr, "usage: ring [threads [laps]]\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    ep = malloc((size_t) threads * sizeof(*ep));
    thread = malloc((size_t) threads * sizeof(*thread));
    if (NULL == ep || NULL == thread) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads, MPI_INFO_NULL, ep);
    for (int i = 0; i < threads; ++i) {
        if (0 != pthread_create(&thread[i], NULL, run_rank, &ep[i])) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < threads; ++i) {
        void *result;

        pthread_join(thread[i], &result);
        wrong |= NULL != result;
    }

    MPI_Finalize();
    free(thread);
    free(ep);
    return wrong;
}
