/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Ranks that end, or fail, in all ways: ranks_exit HOW RANK WHEN.  RANK is a rank, N+ for N and all behind
 * it, or -1 for all; WHEN is
 * before, in or after MPI, or last, when all have come to MPI_Finalize; HOW is a name of deeds[], or with "t:" before it, what another thread of the
 * rank does.  What must be said, and the launcher's status, are in lib/Ept/Table/Ranks.pm.
 *
 * Guards: finish.c, start.c, exit.c, signals.c, err_calls.c, libc.c, environment.c, begin.c, end.c, ranks.c
 */

#define _GNU_SOURCE

#include "check.h"

#include <assert.h>
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank = -1;
static volatile int *volatile null, zero;

static void at_exit(void)
{
    printf("atexit of rank %d\n", rank);
}

static void at_quick_exit_of(void)
{
    fprintf(stderr, "# at_quick_exit of rank %d\n", rank);
}

static void on_exit_of(int status, void *argument)
{
    printf("on_exit of rank %d, %d, %s\n", rank, status, (char *) argument);
    if (21 == status) {
        exit(22); /* the rest is called, and this is the status */
    }
}

__attribute__((destructor)) static void destruct(void)
{
    printf("destructor of rank %d\n", rank);
}

static void five(void)
{
    exit(5);
}

static void well(void)
{
    exit(0);
}

static void again(void)
{
    exit(21);
}

static void now_five(void)
{
    _exit(5);
}

static void now_well(void)
{
    _Exit(0);
}

static void quick_five(void)
{
    quick_exit(5);
}

static void quick_well(void)
{
    quick_exit(0);
}

static void killed(void)
{
    (void) kill(getpid(), SIGKILL);
    for (;;) {
        (void) pause();
    }
}

static void mpi_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, 7);
}

static void comm_rank(void)
{
    int number;

    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    printf("still here\n");
}

static void irecv(void)
{
    MPI_Request request;

    MPI_Irecv(&rank, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    printf("still here\n");
}

static void fatal(void)
{
    MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_SELF);
    printf("still here\n");
}

static void *do_nothing(void *argument)
{
    return argument;
}

static void *start_threads(void *argument)
{
    pthread_t other;

    while (0 == pthread_create(&other, NULL, do_nothing, argument)) {
        pthread_join(other, NULL);
    }
    return NULL;
}

/* Threads of the rank begin also while the process ends. */
static void linger(void)
{
    pthread_t other;

    if (0 == pthread_create(&other, NULL, start_threads, NULL)) {
        pthread_detach(other);
    }
}

static void write_null(void)
{
    *null = 1;
}

static void divide(void)
{
    zero = 100 / zero;
}

static void fail_assertion(void)
{
    assert(0 != zero);
}

static void fail_err(void)
{
    errx(9, "errx of rank %d", rank);
}

static void leave_thread(void)
{
    pthread_exit(NULL);
}

static int deep(int depth)
{
    volatile char some[4096];

    some[0] = (char) depth;
    return 0 == zero ? deep(depth + 1) + some[0] : 0;
}

static void overflow(void)
{
    (void) deep(0);
}

static void mask(void)
{
    exit(256 + 11);
}

static const struct {
    const char *name;
    void (*call)(void);
} deeds[] = {
    {"exit5", five},          {"exit0", well},
    {"exit267", mask},        {"again", again},
    {"_exit5", now_five},     {"_exit0", now_well},
    {"quick5", quick_five},   {"quick0", quick_well},
    {"abort", abort},         {"killed", killed},
    {"mpi_abort", mpi_abort}, {"comm_rank", comm_rank},
    {"irecv", irecv},         {"fatal", fatal},
    {"linger", linger},       {"null", write_null},
    {"divide", divide},       {"assert", fail_assertion},
    {"err", fail_err},        {"pthread_exit", leave_thread},
    {"overflow", overflow},
};

static void *perform(void *how)
{
    for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); ++i) {
        if (0 == strcmp(how, deeds[i].name)) {
            deeds[i].call();
        }
    }
    return NULL;
}

static void maybe(char **arguments, const char *when)
{
    const int which = atoi(arguments[2]);
    const bool is_more = NULL != strchr(arguments[2], '+');
    char *how = arguments[1];
    pthread_t other;

    if (0 != strcmp(arguments[3], when) || (is_more ? which > rank : which >= 0 && which != rank)) {
        return;
    }
    if (0 != strncmp(how, "t:", 2)) {
        perform(how);
    } else if (0 == pthread_create(&other, NULL, perform, how + 2)) {
        pthread_join(other, NULL);
    }
}

int main(int argc, char **argv)
{
    rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    atexit(at_exit);
    on_exit(on_exit_of, "argument");
    setvbuf(stdout, NULL, _IOFBF, 0);
    printf("begin of rank %d\n", rank);
    fflush(stdout);
    if (-1 == atoi(argv[2])) { /* or another rank's exit might write it */
        printf("_exit and quick_exit of rank %d do not write this\n", rank);
    }
    at_quick_exit(at_quick_exit_of);
    maybe(argv, "before");
    MPI_Init(&argc, &argv);
    maybe(argv, "in");
    if (0 == strcmp(argv[1], "return4") && rank == atoi(argv[2])) {
        return 4;
    }
    /* One that dies behind it may be the reason why it fails at others. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    maybe(argv, "last");
    if (0 == strcmp(argv[3], "in") && -2 != atoi(argv[2])) {
        printf("still here\n");
    }
    MPI_Finalize();
    maybe(argv, "after");
    if (0 == strcmp(argv[3], "last") && rank == (0 == atoi(argv[2]) ? 1 : 0)) {
        printf("MPI has ended without the one that has died\n");
    }
    return 0;
}
