/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A UPC program whose threads are ranks, and what a UPC compiler has to do for it, with POSIX
 * threads for those of UPC: Listings 2 and 3 of Dinan et al., "Enabling communication concurrency
 * through flexible MPI endpoints", 2014, complete and correct.
 *
 * The user's part, upc_style_user.c, is plain MPI on MPI_COMM_WORLD, compiled without endpoints.  In
 * each thread that name is the thread's handle of the communicator of all UPC threads, as the runtime
 * says here by MPIX_Comm_world_set; so it is in libraries that were compiled before.
 *
 *     mpicc -c upc_style_user.c
 *     epmpicc -world -pthread upc_style.c upc_style_user.o -lm -o upc_style
 *     epmpirun -n 2 ./upc_style [threads per process, default 4]
 *
 * EPT-LIBS: -world -lm
 * EPT-PARTS: upc_style_user.c
 */

#include "upc_style.h"

#include <mpi.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* What UPC's runtime has for each thread. */
struct upc_thread {
    pthread_t id;
    MPI_Comm comm; /* its handle */
    int status;    /* what the user's main() has returned */
};

_Thread_local int upc_mythread, upc_threads;

/* The handle becomes the thread's MPI_COMM_WORLD. */
static void *upc_thread_init(void *argument)
{
    struct upc_thread *self = argument;

    MPIX_Comm_world_set(self->comm);
    MPI_Comm_rank(self->comm, &upc_mythread);
    MPI_Comm_size(self->comm, &upc_threads);
    self->status = upc_main();
    MPI_Comm_free(&self->comm);
    return NULL;
}

/* Listing 3: MPI starts the threads of UPC.  (The listing ends MPI without waiting for them.) */
int main(int argc, char **argv)
{
    const int threads_per_node = 1 < argc ? atoi(argv[1]) : 4;
    struct upc_thread *thread;
    MPI_Comm *comm;
    int level, bad = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (1 > threads_per_node) {
        fprintf(stderr, "upc_style: at least one thread in each process\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    thread = calloc((size_t) threads_per_node, sizeof(*thread));
    comm = malloc((size_t) threads_per_node * sizeof(*comm));
    if (NULL == thread || NULL == comm) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads_per_node, MPI_INFO_NULL, comm);

    for (int i = 0; i < threads_per_node; ++i) {
        thread[i].comm = comm[i];
        if (0 != pthread_create(&thread[i].id, NULL, upc_thread_init, &thread[i])) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < threads_per_node; ++i) {
        pthread_join(thread[i].id, NULL);
        bad |= thread[i].status;
    }
    free(thread);
    free(comm);
    MPI_Finalize();
    return bad;
}
