/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Runs one of MPICH's test programs on endpoints: a thread per rank, and in each a copy of its own
 * of the program, which is a shared object (see endpoint.h and rank.c).
 *
 *   driver [--alone] RANKS PROGRAM.so [ARGUMENT...]
 *
 * RANKS endpoints are spread over the processes of the job in blocks; --alone makes each of them a
 * world of its own, for programs that want a single process.  The exit status is
 * the first local rank's that is not 0.  Called by run-suite.
 */

#define _GNU_SOURCE /* memfd_create */

#include <mpi.h>
#include <mpi-ext.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoint.h"

/* endpoint.h gives these names to a rank's handles; here they are the process's. */
#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD OMPI_PREDEFINED_GLOBAL(MPI_Comm, ompi_mpi_comm_world)

#define STACK_SIZE ((size_t) 64 << 20) /* of a rank: tests keep large arrays there */

struct rank {
    MPI_Comm comm;
    bool alone;
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

/* A file without a name that holds the same bytes: the dynamic linker takes it for another file.
 * It stays open, and known by a path that debuggers can read, until the process ends. */
static void *load_copy(const char *program)
{
    char path[64];
    struct stat size;
    ssize_t n;
    void *handle;
    int from = open(program, O_RDONLY), to = memfd_create("program", 0);

    if (0 > from || 0 > to || 0 != fstat(from, &size)) {
        die("cannot copy %s", program);
    }
    for (off_t left = size.st_size; 0 < left; left -= n) {
        char bytes[65536];

        n = read(from, bytes, sizeof(bytes));
        if (0 >= n || n != write(to, bytes, (size_t) n)) {
            die("cannot copy %s", program);
        }
    }
    close(from);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) getpid(), to);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (NULL == handle) {
        die("%s", dlerror());
    }
    return handle;
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
    if (rank->alone) {
        /* An endpoint over an endpoint: a world also has the attributes of one. */
        MPIX_Comm_create_endpoints(self, 1, MPI_INFO_NULL, &world);
        MPI_Comm_free(&self);
        MPI_Comm_dup(world, &self);
    }
    MPI_Comm_set_name(world, "MPI_COMM_WORLD");
    MPI_Comm_set_name(self, "MPI_COMM_SELF");
    rank->status = rank->run(world, self, rank->argc, rank->argv);
    return NULL;
}

int main(int argc, char *argv[])
{
    int provided, process, processes, ranks, local, status = 0;
    bool alone = 1 < argc && 0 == strcmp(argv[1], "--alone");
    int first = alone ? 2 : 1;
    MPI_Comm *comms;
    struct rank *rank;
    pthread_attr_t attr;

    if (first + 2 > argc || 0 >= (ranks = atoi(argv[first]))) {
        die("usage: driver [--alone] RANKS PROGRAM.so [ARGUMENT...]");
    }
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (MPI_THREAD_MULTIPLE != provided) {
        die("no MPI_THREAD_MULTIPLE");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    local = ranks / processes + (process < ranks % processes);
    comms = calloc((size_t) local + 1, sizeof(*comms));
    rank = calloc((size_t) local + 1, sizeof(*rank));
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, local, MPI_INFO_NULL, comms);

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    for (int i = 0; i < local; ++i) {
        rank[i].comm = comms[i];
        rank[i].alone = alone;
        rank[i].argc = argc - first - 1;
        rank[i].argv = copy_arguments(rank[i].argc, argv + first + 1);
        *(void **) &rank[i].run = dlsym(load_copy(argv[first + 1]), EPT_RANK_MAIN);
        if (NULL == rank[i].run) {
            die("%s", dlerror());
        }
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
