/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A small stand-in for applications that distribute tasks.  Rank 0 receives by MPI_ANY_SOURCE and sends
 * the next task to the rank that has answered.  Workers keep their state in globals.  The program uses
 * getopt and rand.  It prints the same with processes and with ranks as threads (kind "same").
 *
 * Guards: ranks/image, ranks/libc
 */

#include <mpi.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASK = 1, STOP, ANSWER };

typedef struct answer_t {
    int task;
    int steps;
    char words[24];
} answer_t;

static int tasks = 10;
static int seed = 1;
static answer_t answer; /* of the worker: the buffer that it sends from */
static MPI_Datatype answer_type;
static const MPI_Comm world = MPI_COMM_WORLD;

/* Steps of the Collatz sequence, which is what takes time, and a word that strtok has cut. */
static void work(int task)
{
    char text[64];
    unsigned long n = (unsigned long) task + (unsigned long) seed;

    answer.task = task;
    answer.steps = 0;
    for (int i = 0; i < 200; ++i) {
        for (n = (unsigned long) (task + seed + i); 1 < n; ++answer.steps) {
            n = n % 2 ? 3 * n + 1 : n / 2;
        }
    }
    snprintf(text, sizeof(text), "task %d of seed %d", task, seed);
    (void) strtok(text, " ");
    snprintf(answer.words, sizeof(answer.words), "%s", strtok(NULL, " "));
}

static void worker(void)
{
    MPI_Status status;
    int task;

    for (;;) {
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, world, &status);
        if (STOP == status.MPI_TAG) {
            return;
        }
        work(task);
        MPI_Send(&answer, 1, answer_type, 0, ANSWER, world);
    }
}

static void master(int workers)
{
    answer_t *all = calloc((size_t) tasks, sizeof(*all));
    int given = 0, sum = 0;

    for (int done = -workers; done < tasks; ++done) {
        int to = done + workers + 1;
        answer_t got;
        MPI_Status status;

        if (0 <= done) {
            MPI_Recv(&got, 1, answer_type, MPI_ANY_SOURCE, ANSWER, world, &status);
            all[got.task] = got;
            to = status.MPI_SOURCE;
        }
        if (given < tasks && 0 < workers) {
            MPI_Send(&given, 1, MPI_INT, to, TASK, world);
            ++given;
        }
    }
    for (int to = 1; to <= workers; ++to) {
        MPI_Send(NULL, 0, MPI_INT, to, STOP, world);
    }
    srand((unsigned) seed);
    for (int i = 0; i < tasks; ++i) {
        sum += all[i].steps;
        if (0 == i % 20) {
            printf("task %s: %d steps, %d\n", all[i].words, all[i].steps, rand() % 1000);
        }
    }
    printf("%d tasks, %d steps\n", tasks, sum);
    free(all);
}

int main(int argc, char **argv)
{
    const int lengths[] = {1, 1, sizeof(answer.words)};
    const MPI_Aint at[] = {offsetof(answer_t, task), offsetof(answer_t, steps),
                           offsetof(answer_t, words)};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_CHAR};
    int rank, size, option;

    MPI_Init(&argc, &argv);
    while (-1 != (option = getopt(argc, argv, "t:s:"))) {
        if ('t' == option) {
            tasks = atoi(optarg);
        } else if ('s' == option) {
            seed = atoi(optarg);
        } else {
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Type_create_struct(3, lengths, at, types, &answer_type);
    MPI_Type_commit(&answer_type);
    if (0 == rank) {
        master(size - 1);
    } else {
        worker();
    }
    MPI_Type_free(&answer_type);
    MPI_Finalize();
    return 0;
}
