/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Runs one of a library's test programs on endpoints: a thread per rank, and in each a copy of its own
 * of the program, which is a shared object (see endpoint.h and rank.c).
 *
 *   driver [--alone] [--private LIBRARY]... RANKS PROGRAM.so [ARGUMENT...]
 *
 * RANKS endpoints are spread over the processes of the job in blocks; --alone makes each of them a
 * world of its own, for programs that want a single process; --private gives each a copy of its own
 * of a library, too, one behind those that it needs.  The exit status is the first local rank's
 * that is not 0.  Called by run-suite, and by library-suite's.
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"
#include "private_copy.h"

/* endpoint.h gives these names to a rank's handles; here they are the process's. */
#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD OMPI_PREDEFINED_GLOBAL(MPI_Comm, ompi_mpi_comm_world)

#define STACK_SIZE ((size_t) 64 << 20) /* of a rank: tests keep large arrays there */

enum { MOST_LIBRARIES = 8 /* private ones */ };

/* What the command line says. */
static struct {
    bool alone;
    const char *libraries[MOST_LIBRARIES];
    int count; /* of libraries */
    int ranks;
    int argc; /* the program's, from its name on */
    char **argv;
} options;

struct rank {
    MPI_Comm comm;
    void *copies[MOST_LIBRARIES + 1]; /* the last is the program */
    ept_rank_main_fn_t run;
    int argc;
    char **argv;
    pthread_t thread;
    int status;
};

static _Noreturn void die(const char *format, ...)
{
    va_list list;

    fprintf(stderr, "driver: ");
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n");
    exit(2);
}

/* Programs may write to their arguments. */
static char **copy_arguments(int argc, char *argv[])
{
    char **copy = calloc((size_t) argc + 1, sizeof(*copy));

    for (int i = 0; i < argc; ++i) {
        copy[i] = strdup(argv[i]);
    }
    return copy;
}

static void *rank_thread(void *context)
{
    struct rank *rank = context;
    MPI_Comm world = rank->comm, self;
    int me;

    MPI_Comm_rank(rank->comm, &me);
    MPI_Comm_split(rank->comm, me, 0, &self);
    if (options.alone) {
        /* An endpoint over an endpoint: a world also has the attributes of one. */
        MPIX_Comm_create_endpoints(self, 1, MPI_INFO_NULL, &world);
        MPI_Comm_free(&self);
        MPI_Comm_dup(world, &self);
    }
    MPI_Comm_set_name(world, "MPI_COMM_WORLD");
    MPI_Comm_set_name(self, "MPI_COMM_SELF");
    for (int i = 0; i <= options.count; ++i) {
        const char *why = private_copy_worlds(rank->copies[i], world, self);

        if (NULL != why) {
            die("%s: %s", options.argv[0], why);
        }
    }
    rank->status = rank->run(world, self, rank->argc, rank->argv);
    return NULL;
}

static void parse(int argc, char *argv[])
{
    int i = 1;

    for (; i < argc && 0 == strncmp(argv[i], "--", 2); ++i) {
        if (0 == strcmp(argv[i], "--alone")) {
            options.alone = true;
        } else if (0 == strcmp(argv[i], "--private") && i + 1 < argc
                   && MOST_LIBRARIES > options.count) {
            options.libraries[options.count++] = argv[++i];
        } else {
            break;
        }
    }
    if (i + 2 > argc || 0 >= (options.ranks = atoi(argv[i]))) {
        die("usage: driver [--alone] [--private LIBRARY]... RANKS PROGRAM.so [ARGUMENT...]");
    }
    options.argc = argc - i - 1;
    options.argv = argv + i + 1;
}

/* Everything that a rank needs before its thread begins; `number` tells it from others here. */
static void prepare(struct rank *rank, int number, MPI_Comm comm)
{
    const char *why = private_copy(options.argv[0], options.libraries, options.count, number,
                                   rank->copies);

    if (NULL != why) {
        die("%s: %s", options.argv[0], why);
    }
    rank->comm = comm;
    rank->argc = options.argc;
    rank->argv = copy_arguments(options.argc, options.argv);
    *(void **) &rank->run = dlsym(rank->copies[options.count], EPT_RANK_MAIN);
    if (NULL == rank->run) {
        die("%s", dlerror());
    }
}

int main(int argc, char *argv[])
{
    int provided, process, processes, local, status = 0;
    MPI_Comm *comms;
    struct rank *rank;
    pthread_attr_t attr;

    parse(argc, argv);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (MPI_THREAD_MULTIPLE != provided) {
        die("no MPI_THREAD_MULTIPLE");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    local = options.ranks / processes + (process < options.ranks % processes);
    comms = calloc((size_t) local + 1, sizeof(*comms));
    rank = calloc((size_t) local + 1, sizeof(*rank));
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, local, MPI_INFO_NULL, comms);

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    for (int i = 0; i < local; ++i) {
        prepare(&rank[i], i, comms[i]);
    }
    for (int i = 0; i < local; ++i) {
        if (0 != pthread_create(&rank[i].thread, &attr, rank_thread, &rank[i])) {
            die("cannot make a thread");
        }
    }
    for (int i = 0; i < local; ++i) {
        pthread_join(rank[i].thread, NULL);
        status = 0 != status ? status : rank[i].status;
    }
    pthread_attr_destroy(&attr);
    MPI_Finalize();
    return status;
}
