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
 * The user's part is plain MPI on MPI_COMM_WORLD: written for processes, and run by threads.  What
 * it means by that name is, from there on, the communicator of all UPC threads, of which each has
 * its own handle; libraries that were compiled before still mean the processes.
 *
 *     epmpicc -pthread upc_style.c -lm -o upc_style
 *     epmpirun -n 2 ./upc_style [threads per process, default 4]
 *
 * EPT-LIBS: -lm
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* What UPC's runtime has for each thread. */
struct upc_thread {
    pthread_t id;
    MPI_Comm comm; /* its handle */
    int status;    /* what the user's main() has returned */
};

static _Thread_local MPI_Comm upc_comm_world;
static _Thread_local int upc_mythread, upc_threads;

static int upc_main(void);

/* Registers the thread's handle where the user's part looks for it. */
static void *upc_thread_init(void *argument)
{
    struct upc_thread *self = argument;

    upc_comm_world = self->comm;
    MPI_Comm_rank(upc_comm_world, &upc_mythread);
    MPI_Comm_size(upc_comm_world, &upc_threads);
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

/* What the compiler puts in front of the user's part: UPC's words, and the substitution. */
#define THREADS upc_threads
#define MYTHREAD upc_mythread
/* Those iterations whose element is this thread's own. */
#define upc_forall(i, count) for (int i = MYTHREAD; i < (count); i += THREADS)
/* The part of an array of (count) elements, dealt out one by one, that is with this thread. */
#define upc_share(count) (((count) + THREADS - 1) / THREADS)

#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD upc_comm_world

/* Listing 2: data[i] becomes the square root of i + 1, by Newton's iteration, until all elements,
 * wherever they are, have what they need. */
#define ELEMENTS (100 * THREADS)
#define TOL 1e-12

static int upc_main(void)
{
    double *data = malloc(sizeof(*data) * (size_t) upc_share(ELEMENTS));
    double err, sum = 0.0, all;
    int rounds = 0, wrong;

    upc_forall(i, ELEMENTS)
    {
        data[i / THREADS] = i + 1.0;
    }
    do {
        err = 0.0;
        upc_forall(i, ELEMENTS)
        {
            const double before = data[i / THREADS];

            data[i / THREADS] = 0.5 * (before + (i + 1.0) / before);
            err = fmax(err, fabs(data[i / THREADS] - before) / before);
        }
        MPI_Allreduce(MPI_IN_PLACE, &err, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        ++rounds;
    } while (err > TOL && rounds < 100);

    /* The squares of all are 1, 2, … ELEMENTS. */
    upc_forall(i, ELEMENTS)
    {
        sum += data[i / THREADS] * data[i / THREADS];
    }
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong = err > TOL || fabs(all / (0.5 * ELEMENTS * (ELEMENTS + 1.0)) - 1.0) > 1e-9;
    if (0 == MYTHREAD) {
        printf("upc_style: %d threads, %d elements, %d rounds: %s\n", THREADS, ELEMENTS, rounds,
               wrong ? "WRONG" : "right");
    }
    free(data);
    return wrong;
}
