/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * From the program's start to its end: MPI with an endpoint for each rank, copies of the program,
 * a thread for each rank, which calls main.
 *
 * __libc_start_main is what the program's first instructions call, with the address of main.  Ours
 * gives libc another main in its place.
 *
 * Tests: ranks_basic, ranks_cxx, ranks_threads, ranks_exit
 */

#define _GNU_SOURCE

#include "finish.h"
#include "start.h"

#include "../image/image.h"
#include "../libc/libc.h"
#include "../mpi/mpi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/** Bytes of a rank's stack where a process's has no bound; and the fewest that it is tried with. */
#define UNBOUND_STACK ((size_t) 256 << 20)
#define LEAST_STACK ((size_t) 1 << 20)

static mpix_ranks_main_t *program_main;
static pthread_barrier_t all_constructed;

static void *start_run(void *argument)
{
    mpix_rank_t *rank = argument;
    struct mpix_rank_start_t *start = rank->start;
    volatile int status = 0;

    mpix_ranks_self = rank;
    mpix_ranks_start_cores_enter(rank);
    mpix_ranks_start_memory_enter();
    mpix_ranks_mpi_enter(rank);
    mpix_ranks_libc_enter(rank);
    mpix_ranks_image_enter(rank);
    pthread_cleanup_push(mpix_ranks_finish_thread, rank);
    if (0 == _setjmp(start->end)) { /* a constructor may call exit as well */
        mpix_ranks_image_construct(rank, start->argc, start->argv, start->envp);
        (void) pthread_barrier_wait(&all_constructed);
        status = start->main(start->argc, start->argv, start->envp);
    }
    mpix_ranks_finish_main(rank, status);
    pthread_cleanup_pop(0);
    mpix_ranks_self = NULL;
    return NULL;
}

static char **own_arguments(int argc, char **argv)
{
    char **own = calloc((size_t) argc + 1, sizeof(*own));

    for (int i = 0; NULL != own && i < argc; ++i) {
        own[i] = strdup(argv[i]);
        if (NULL == own[i]) {
            return NULL;
        }
    }
    return own;
}

static size_t limit_of(int resource)
{
    struct rlimit limit;

    return 0 == getrlimit(resource, &limit) && RLIM_INFINITY != limit.rlim_cur
               ? (size_t) limit.rlim_cur
               : SIZE_MAX;
}

/** What a process would have, or as much as nothing but addresses are taken for; all together no
 * more than a quarter of the addresses that there may be. */
static size_t stack_size(void)
{
    const size_t own = limit_of(RLIMIT_STACK), all = limit_of(RLIMIT_AS);
    const size_t most = SIZE_MAX == all ? all : all / 4 / (size_t) mpix_ranks_count;
    const size_t size = UNBOUND_STACK > own ? own : UNBOUND_STACK;

    return size < most ? size : LEAST_STACK < most ? most : LEAST_STACK;
}

static void start_ranks(void)
{
    pthread_attr_t attributes;
    int rc = pthread_attr_init(&attributes);

    if (0 == rc) {
        rc = pthread_attr_setstacksize(&attributes, stack_size());
    }
    if (0 == rc) {
        rc = pthread_barrier_init(&all_constructed, NULL, (unsigned) mpix_ranks_count);
    }
    mpix_ranks_all[0].thread = pthread_self();
    for (int i = 1; i < mpix_ranks_count; ++i) {
        if (0 == rc) {
            rc = pthread_create(&mpix_ranks_all[i].thread, &attributes, start_run,
                                &mpix_ranks_all[i]);
        }
        if (0 != rc) {
            mpix_ranks_refuse(
                "rank %d of this process cannot have a thread: %s (limits of threads: "
                "ulimit -u, pids.max of the control group; of memory: ulimit -v; the size of each "
                "stack: ulimit -s)",
                i, strerror(rc));
        }
    }
    (void) pthread_attr_destroy(&attributes);
    (void) start_run(&mpix_ranks_all[0]);
    mpix_ranks_finish_process();
}

/** All that a rank has before its thread. */
static void start_prepare(mpix_rank_t *rank, int argc, char **argv)
{
    struct mpix_rank_start_t *start = calloc(1, sizeof(*start));
    char **own = own_arguments(argc, argv);
    int rc;

    if (NULL == start || NULL == own) {
        mpix_ranks_refuse("no memory for %d ranks", mpix_ranks_count);
    }
    mpix_ranks_image_load(rank);
    rc = mpix_ranks_libc_begin(rank, mpix_ranks_image_variable);
    if (0 != rc) {
        mpix_ranks_refuse("rank %d of this process cannot begin: %s", rank->index, strerror(rc));
    }
    *start = (struct mpix_rank_start_t){
        .main = mpix_ranks_image_main(rank, program_main), .argc = argc, .argv = own,
        .envp = mpix_ranks_libc_environment(rank)};
    rank->start = start;
}

static int ranks_main(int argc, char **argv, char **envp)
{
    (void) envp;
    mpix_ranks_count = mpix_ranks_start_count();
    mpix_ranks_image_check(mpix_ranks_count, argv);
    mpix_ranks_all = calloc((size_t) mpix_ranks_count + 1, sizeof(*mpix_ranks_all));
    if (NULL == mpix_ranks_all) {
        mpix_ranks_refuse("no memory for %d ranks", mpix_ranks_count);
    }
    for (int i = 0; i < mpix_ranks_count; ++i) {
        mpix_ranks_all[i].index = i;
    }
    mpix_ranks_start_cores_begin(mpix_ranks_count);
    mpix_ranks_start_memory_begin(mpix_ranks_count);
    mpix_ranks_mpi_begin(&argc, &argv, mpix_ranks_all, mpix_ranks_count);
    mpix_ranks_libc_on_exit = mpix_ranks_finish_exit;
    for (int i = 0; i < mpix_ranks_count; ++i) {
        start_prepare(&mpix_ranks_all[i], argc, argv);
    }
    if (0 < mpix_ranks_count) {
        start_ranks();
    } else {
        mpix_ranks_mpi_end();
    }
    return 0;
}

MPIX_RANKS_EXPORT int __libc_start_main(mpix_ranks_main_t *main, int argc, char **argv,
                                        void (*init)(void), void (*fini)(void),
                                        void (*loader_fini)(void), void *stack_end);

int __libc_start_main(mpix_ranks_main_t *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    program_main = main;
    if (mpix_ranks_start_is_asked() && mpix_ranks_image_is_mpi()) {
        mpix_ranks_image_defer();
        main = ranks_main;
    } else if (mpix_ranks_start_is_asked()) {
        mpix_ranks_left_out = mpix_ranks_start_count();
    }
    return MPIX_RANKS_NEXT(__libc_start_main)(main, argc, argv, init, fini, loader_fini, stack_end);
}
