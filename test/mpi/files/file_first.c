/* EPT-CFLAGS: -pthread */
/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The first call of files is MPI_File_delete, by all threads of a process at once: libmpi sets its
 * part for files up then, once in a process, so each process of the job is one try.  One run of
 * twenty ends in a broken heap without our lock, and one of six of HDF5's t_mpi.
 *
 * Guards: handle.c, ompio_module.c, hook_file.c
 */

#include <mpi.h>
#include <mpi-ext.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4 };

static atomic_int waiting = THREADS;
static int results[THREADS];

static void *first(void *context)
{
    int *result = context, class, rc;

    /* All are on their way when the last one comes; no data goes with it. */
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
    while (0 < atomic_load_explicit(&waiting, memory_order_relaxed)) {
        sched_yield();
    }
    rc = MPI_File_delete("/nowhere/at all", MPI_INFO_NULL);
    MPI_Error_class(rc, &class);
    *result = class;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    MPI_Comm comms[2];
    MPI_File file;
    char name[64];
    int provided, rank, wrong = 0, rc, failed[2], any[2];

    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, comms);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    for (int i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, first, &results[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        wrong += MPI_ERR_NO_SUCH_FILE != results[i];
    }
    if (0 != wrong) {
        fprintf(stderr, "file_first.c: %d threads got another class, the first %d\n", wrong,
                results[0]);
    }
    failed[0] = 0 != wrong;

    /* What it set up works. */
    snprintf(name, sizeof(name), "/tmp/file_first.%d", (int) getpid());
    rc = MPI_File_open(MPI_COMM_SELF, name,
                       MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file);
    if (MPI_SUCCESS == rc) {
        rc = MPI_File_close(&file);
    }
    failed[1] = MPI_SUCCESS != rc;
    MPI_Comm_rank(comms[0], &rank);
    MPI_Reduce(failed, any, 2, MPI_INT, MPI_MAX, 0, comms[0]);
    if (0 == rank) {
        printf("1..2\n%sok 1 - each thread is told that there is no such file\n",
               0 == any[0] ? "" : "not ");
        printf("%sok 2 - a file can be opened and closed\n", 0 == any[1] ? "" : "not ");
    }
    MPI_Comm_free(&comms[0]);
    MPI_Finalize();
    return 0;
}
