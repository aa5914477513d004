/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * For tsan.t: a program with a race in each of the functions whose names begin with race_.  What MPI
 * is called for in between orders nothing of it, or the other way round.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static MPI_Comm ep[2];
/* Each race has a cache line of its own: ThreadSanitizer keeps few accesses of one. */
static struct {
    _Alignas(64) int word;
} lines[4];
/* Not static: nobody reads them, so compilers would leave them out. */
extern char from[64], to[64];
char from[64];
_Alignas(64) char to[64];

/* Nothing is said in between. */
static void race_silence(int me)
{
    MPI_Barrier(ep[me]);
    ++lines[0].word;
}

/* What the first thread writes behind its message. */
static void race_behind(int me)
{
    if (0 == me) {
        MPI_Send(NULL, 0, MPI_INT, 1, 0, ep[me]);
        lines[1].word = 1;
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, ep[me], MPI_STATUS_IGNORE);
        ++lines[1].word;
    }
}

/* A broadcast's root knows nothing of the others. */
static void race_root(int me)
{
    int value = 0;

    if (0 != me) {
        lines[2].word = 1;
    }
    MPI_Bcast(&value, 1, MPI_INT, 0, ep[me]);
    if (0 == me) {
        ++lines[2].word;
    }
}

/* What the target does behind its post. */
static void race_post(int me)
{
    const int other = 1 - me;
    int64_t *base;
    MPI_Win win;
    MPI_Group all, group;

    MPI_Win_allocate(sizeof(*base), 1, MPI_INFO_NULL, ep[me], &base, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &other, &group);
    if (0 == me) {
        MPI_Win_post(group, 0, win);
        lines[3].word = 1;
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(group, 0, win);
        ++lines[3].word;
        MPI_Win_complete(win);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

/* By a function that ThreadSanitizer stands in front of, as of libraries' calls. */
static void race_copy(int me)
{
    memcpy(to, from, sizeof(to) - (size_t) me);
}

static void *run(void *argument)
{
    const int me = (int) (size_t) argument;

    race_silence(me);
    race_behind(me);
    race_root(me);
    race_post(me);
    race_copy(me);
    MPI_Comm_free(&ep[me]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 2, MPI_INFO_NULL, ep);
    for (size_t i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, run, (void *) i);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    MPI_Finalize();
    return 0;
}
