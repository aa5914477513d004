/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI that begins by a call of each thread of a process, with an endpoint for each that wants one:
 * ranks follow the threads' numbers, in any order of arrival.  Threads come after random times.
 *
 *   --threads N     of each process, as the launcher was told
 *   --every N       which ones want an endpoint, by their number in the job; 0: the first of process 0
 *   --upc 1         by MPIX_Init_UPCMPI, which has no numbers
 *   --twice 1       two threads of each process have the same number: an error
 *   --later 1       MPI has begun by MPI_Init_thread
 *   --seed N        of the times
 *
 * Guards: init_thread.c, query_programs.c
 */

#include "static.h"

#if defined(HAVE_EP)

#    include <time.h>

#    define THREADS_MAX 16

static struct {
    int index, code, rank, size, sum, programs, program, all;
    pthread_t thread;
} threads[THREADS_MAX];

static int count_of_threads(void)
{
    return (int) ept_option_long("threads", 4);
}

static bool wants(int global)
{
    const long every = ept_option_long("every", 1);

    return 0 < every ? 0 == global % every : 0 == global;
}

/* Endpoints of threads below this one, in the job. */
static int wanted_below(int global)
{
    int count = 0;

    for (int i = 0; i < global; ++i) {
        count += wants(i);
    }
    return count;
}

static void wait_at_random(int index)
{
    unsigned int state = (unsigned int) (ept_option_long("seed", 1) * 7919 + static_proc() * 31
                                         + index);
    const struct timespec time = {.tv_nsec = rand_r(&state) % 20 * 1000000L};

    (void) nanosleep(&time, NULL);
}

static void *thread_main(void *arg)
{
    const int index = *(const int *) arg, global = static_proc() * count_of_threads() + index;
    const int number = 0 != ept_option_long("twice", 0) && 0 < index ? index - 1 : index;
    int one = 1, config[8] = {0};

    (void) MPIX_Get_UPC_numprogs(&threads[index].programs);
    if (8 >= threads[index].programs) {
        (void) MPIX_Get_UPC_config(threads[index].programs, &threads[index].program, config);
    }
    threads[index].all = config[0];
    wait_at_random(index);
    threads[index].code = 0 != ept_option_long("upc", 0)
                              ? MPIX_Init_UPCMPI(NULL, NULL, wants(global))
                              : MPIX_Init_endpoint_thread(number, wants(global));
    threads[index].rank = -1;
    if (MPI_SUCCESS == threads[index].code && MPI_COMM_NULL != MPIX_COMM_ENDPOINTS) {
        MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &threads[index].rank);
        MPI_Comm_size(MPIX_COMM_ENDPOINTS, &threads[index].size);
        MPI_Allreduce(&one, &threads[index].sum, 1, MPI_INT, MPI_SUM, MPIX_COMM_ENDPOINTS);
    }
    return NULL;
}

int test_process_init(int *argc, char ***argv)
{
    int provided;

    if (0 != ept_option_long("later", 0)) {
        static_code = MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    }
    for (int i = 0; i < count_of_threads(); ++i) {
        threads[i].index = i;
        if (0 != pthread_create(&threads[i].thread, NULL, thread_main, &threads[i].index)) {
            abort();
        }
    }
    for (int i = 0; i < count_of_threads(); ++i) {
        (void) pthread_join(threads[i].thread, NULL);
    }
    return MPI_THREAD_MULTIPLE;
}

static void case_config(MPI_Comm comm, struct ept *t)
{
    int own, all[8];

    (void) comm;
    for (int i = 0; i < count_of_threads(); ++i) {
        EPT_EQ(t, 1, threads[i].programs);
        EPT_EQ(t, 0, threads[i].program);
        EPT_EQ(t, t->nprocs * count_of_threads(), threads[i].all);
    }
    EPT_EQ(t, MPI_ERR_ARG, MPIX_Get_UPC_numprogs(NULL));
    EPT_EQ(t, MPI_ERR_ARG, MPIX_Get_UPC_config(2, &own, all));
    EPT_EQ(t, MPI_ERR_ARG, MPIX_Get_UPC_config(1, NULL, all));
    EPT_EQ(t, MPI_ERR_ARG, MPIX_Get_UPC_config(1, &own, NULL));
}

static void case_ranks(MPI_Comm comm, struct ept *t)
{
    const int n = count_of_threads(), all = wanted_below(t->nprocs * n);

    (void) comm;
    for (int i = 0; i < n; ++i) {
        const int global = t->proc * n + i;

        EPT_OK(t, threads[i].code);
        EPT_EQ(t, wants(global) ? wanted_below(global) : -1, threads[i].rank);
        EPT_EQ(t, wants(global) ? all : 0, threads[i].size);
        EPT_EQ(t, wants(global) ? all : 0, threads[i].sum);
    }
    EPT_OK(t, static_code);
    EPT_CLASS(t, MPIX_ERR_ENDPOINTS, MPIX_Init_endpoint_thread(0, 1));
}

static void case_twice(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    for (int i = 0; i < count_of_threads(); ++i) {
        EPT_CLASS(t, MPIX_ERR_ENDPOINTS, threads[i].code);
    }
}

#endif

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
#if defined(HAVE_EP)
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (0 != ept_option_long("twice", 0)) {
        EPT_CASE(t, case_twice);
        return 0;
    }
    EPT_CASE(t, case_config);
    EPT_CASE(t, case_ranks);
#else
    ept_skip(t, "static", "needs endpoints");
#endif
    return 0;
}
