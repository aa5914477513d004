/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A thread for each endpoint that the process has had since it began MPI; each is attached to its
 * own.  The thread of rank 0 gathers the numbers of all threads.
 *
 * Listing 1 of the MPI Forum's hybrid working group, "Supporting Multiple Endpoints per Process",
 * in its versions of 2010 and 2011, made complete: the numbers are checked, and threads are joined.
 *
 *     epmpicc -pthread static_hello.c -o static_hello
 *     epmpirun -n 2 ./static_hello 4
 *
 * Processes may have different numbers of endpoints: give several, one for each process, the last
 * one for all others.  Exit status 0: all numbers were right.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ENDPOINTS 32 /* the program's own limit */

static MPIX_Endpoint endpoint[MAX_ENDPOINTS];
static int wrong;

/* A number that tells which process and which endpoint a thread is for. */
static long number_of(int process, int index)
{
    return 1000L * process + index;
}

/* Are these the numbers of all threads, in the order of processes and endpoints? */
static int are_right(const long *numbers, int size)
{
    int rank = 1;

    while (rank < size && (numbers[rank] == numbers[rank - 1] + 1 || 0 == numbers[rank] % 1000)
           && numbers[rank - 1] < numbers[rank]) {
        ++rank;
    }
    return rank == size && 0 == numbers[0];
}

/* What each thread does. */
static void *greet(void *arg)
{
    const int index = (int) (long) arg;
    int process, rank, size;
    long own, *numbers = NULL;

    /* A new thread is attached to the first endpoint. */
    MPIX_Thread_detach();
    MPIX_Thread_attach_level(endpoint[index], MPI_THREAD_FUNNELED);

    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPIX_COMM_ENDPOINTS, &size);
    MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &rank);
    own = number_of(process, index);
    if (0 == rank) {
        numbers = malloc((size_t) size * sizeof(*numbers));
    }
    MPI_Gather(&own, 1, MPI_LONG, numbers, 1, MPI_LONG, 0, MPIX_COMM_ENDPOINTS);
    if (0 == rank) {
        wrong = !are_right(numbers, size);
        printf("static_hello: the number of endpoints is %d; their threads are", size);
        for (int i = 0; i < size; ++i) {
            printf(" %ld", numbers[i]);
        }
        printf(", %s\n", wrong ? "WRONG" : "right");
        free(numbers);
    }
    MPIX_Thread_detach();
    return NULL;
}

int main(int argc, char **argv)
{
    int most, processes, process, word, count;
    pthread_t thread[MAX_ENDPOINTS];

    /* Which process this is decides how many endpoints it wants. */
    MPIX_Init_endpoint_begin(&argc, &argv, &most, &processes, &process);
    word = argc - 1 < process + 1 ? argc - 1 : process + 1;
    count = 0 < word ? atoi(argv[word]) : 4;
    most = MAX_ENDPOINTS < most ? MAX_ENDPOINTS : most;
    count = most < count ? most : count;
    MPIX_Endpoint_create(count, endpoint);

    for (int i = 0; i < count; ++i) {
        pthread_create(&thread[i], NULL, greet, (void *) (long) i);
    }
    for (int i = 0; i < count; ++i) {
        pthread_join(thread[i], NULL);
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
