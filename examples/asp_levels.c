/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Threads of one process that are MPI processes of their own, made by MPI_Init_thread as the
 * launcher has said: examples 12.3 to 12.9 of the chapter that the MPI Forum's hybrid working group
 * drafted for MPI 3.  A static graph of work: an item that a rank receives is computed, and goes on
 * to the rank that follows from it, some hops long.  On the command line, the roles of the threads:
 *
 *   master   any thread of the team computes and sends, the main thread of one rank receives (12.3,
 *            and 12.7, 12.8 for threads that call a library): -asp 1
 *   masters  each rank has been given threads, of which the main one receives; the others, which MPI
 *            has assigned to the ranks as well, compute and send (12.4)
 *   roles    threads attach: to each rank one that receives and one that sends; others have no rank
 *            and compute (12.5; 12.6 is the same with POSIX threads)
 *   library  a thread for each rank calls MPI_Init_thread, a collective library, and MPI_Finalize, as
 *            UPC's do (12.9)
 *
 *     epmpicc -fopenmp asp_levels.c -o asp_levels
 *     epmpirun -asp 3 -n 6 ./asp_levels masters
 *
 * MPIX_COMM_ENDPOINTS is the communicator of all ranks, and each thread's own handle of it.  Exit
 * status 0: all ranks together have done the work that the graph has.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 24, HOPS = 6, WORKERS = 2 };

struct item {
    int id, hops, to;
};

static atomic_long work;           /* done by this process */
static atomic_int to_do;           /* items that this process is still to compute */
static struct item queue[2][ITEMS * HOPS]; /* what waits to be computed, and to be sent */
static int begin[2], end[2];       /* under the critical section */

/* The rank that item `id` goes to from `rank` with so many hops left. */
static int next(int rank, int id, int hops, int size)
{
    return (rank * 5 + id * 3 + hops * 7 + 1) % size;
}

/* How many items a rank receives, and, in *all, the work of the graph. */
static int items_of(int rank, int size, long *all)
{
    int count = 0;

    *all = 0;
    for (int id = 0; id < ITEMS; ++id) {
        for (int hops = HOPS, at = id % size; 0 < hops; --hops) {
            count += at == rank;
            *all += (long) id * hops;
            at = next(at, id, hops, size);
        }
    }
    return count;
}

static void compute(const struct item *item)
{
    atomic_fetch_add(&work, (long) item->id * item->hops);
}

/* By a thread of the rank that the item is at: any thread's own handle would do. */
static void send_on(const struct item *item, int at)
{
    int size;
    struct item out = {.id = item->id, .hops = item->hops - 1};

    if (0 < out.hops) {
        MPI_Comm_size(MPIX_COMM_ENDPOINTS, &size);
        out.to = next(at, item->id, item->hops, size);
        MPI_Send(&out, 3, MPI_INT, out.to, 0, MPIX_COMM_ENDPOINTS);
    }
}

/* The first hop of all items that begin at a rank; they go to itself. */
static void seed(int rank, int size, struct item *items, MPI_Request *requests, int *count)
{
    *count = 0;
    for (int id = rank; id < ITEMS; id += size) {
        items[*count] = (struct item){.id = id, .hops = HOPS, .to = rank};
        MPI_Isend(&items[*count], 3, MPI_INT, rank, 0, MPIX_COMM_ENDPOINTS, &requests[*count]);
        ++*count;
    }
}

/* Receive what comes to the thread's rank, and hand each item on. */
static void receive_all(void (*handle)(const struct item *item))
{
    struct item items[ITEMS], item;
    MPI_Request requests[ITEMS];
    int rank, size, seeds, count;
    long all;

    MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &rank);
    MPI_Comm_size(MPIX_COMM_ENDPOINTS, &size);
    count = items_of(rank, size, &all);
    seed(rank, size, items, requests, &seeds);
    for (int i = 0; i < count; ++i) {
        MPI_Recv(&item, 3, MPI_INT, MPI_ANY_SOURCE, 0, MPIX_COMM_ENDPOINTS, MPI_STATUS_IGNORE);
        handle(&item);
    }
    MPI_Waitall(seeds, requests, MPI_STATUSES_IGNORE);
}

/* ==== master, masters: a task for each item ================================================= */

static void as_task(const struct item *item)
{
    const struct item own = *item;

#pragma omp task firstprivate(own)
    {
        compute(&own);
        send_on(&own, own.to);
    }
}

static int masters(int asp)
{
    int found = 0;

#pragma omp parallel num_threads(asp + WORKERS) reduction(+ : found)
    {
        int is_mpi, is_main;

        MPI_Initialized(&is_mpi);
        if (is_mpi && (MPI_Is_thread_main(&is_main), is_main)) {
            ++found;
            receive_all(as_task);
        }
    }
    return found;
}

/* ==== roles: queues between threads ========================================================= */

static void put(int which, const struct item *item)
{
#pragma omp critical
    queue[which][end[which]++] = *item;
}

static int take(int which, struct item *item)
{
    int found;

#pragma omp critical
    {
        found = begin[which] < end[which];
        if (found) {
            *item = queue[which][begin[which]++];
        }
    }
    return found;
}

static void to_compute(const struct item *item)
{
    put(0, item);
}

static void send_or_compute(int sends)
{
    struct item item;

    while (0 < atomic_load(&to_do)) {
        if (!take(sends, &item)) {
            continue;
        }
        if (sends) {
            send_on(&item, item.to);
            atomic_fetch_sub(&to_do, 1);
        } else {
            compute(&item);
            put(1, &item);
        }
    }
}

static int roles(int asp)
{
    int size, rank, found = 0;
    long all;

    MPIX_Thread_attach_index(0);
    MPI_Comm_size(MPIX_COMM_ENDPOINTS, &size);
    MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &rank);
    for (int i = 0; i < asp; ++i) {
        atomic_fetch_add(&to_do, items_of(rank + i, size, &all));
    }
#pragma omp parallel num_threads(2 * asp + WORKERS) reduction(+ : found)
    {
        const int thread = omp_get_thread_num();

        if (2 * asp > thread) {
            MPIX_Thread_attach_index(thread % asp);
        }
        if (asp > thread) {
            ++found;
            receive_all(to_compute);
        } else {
            send_or_compute(2 * asp > thread);
        }
    }
    return found;
}

/* ==== library: a thread for each rank ======================================================= */

static int library(int asp)
{
    int right = 0;

#pragma omp parallel num_threads(asp) reduction(+ : right)
    {
        int level, rank, size, sum;

        MPI_Init_thread(NULL, NULL, MPIX_THREAD_ATTACH, &level);
        MPIX_Thread_attach_index(omp_get_thread_num());
        MPI_Comm_rank(MPIX_COMM_ENDPOINTS, &rank);
        MPI_Comm_size(MPIX_COMM_ENDPOINTS, &size);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPIX_COMM_ENDPOINTS);
        right += size * (size - 1) / 2 == sum;
        if (0 == rank) {
            printf("asp_levels: library, %d ranks: sum %d, %s\n", size, sum,
                   size * (size - 1) / 2 == sum ? "right" : "WRONG");
        }
        MPI_Finalize();
    }
    return asp == right ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *way = 1 < argc ? argv[1] : "masters";
    const int has_roles = 0 == strcmp("roles", way);
    int asp, level, flag, found, process;
    long mine, done, all;
    char text[16] = "1";

    MPIX_Query_endpoints_told(&asp, &level);
    asp = 0 < asp ? asp : 1;
    if (0 == strcmp("library", way)) {
        return library(asp);
    }
    MPI_Init_thread(&argc, &argv, has_roles ? MPIX_THREAD_REATTACH : MPI_THREAD_MULTIPLE, &level);
    MPI_Info_get(MPI_INFO_ENV, "asp", 15, text, &flag);
    found = has_roles ? roles(atoi(text)) : masters(atoi(text));

    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPIX_COMM_ENDPOINTS, &level);
    (void) items_of(0, level, &all);
    mine = atomic_load(&work);
    MPI_Allreduce(&mine, &done, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    flag = done == all && found == atoi(text);
    if (0 == process) {
        printf("asp_levels: %s, %d ranks, %s in a process: work %ld of %ld, %s\n", way, level, text,
               done, all, flag ? "right" : "WRONG");
    }
    MPI_Finalize();
    return flag ? 0 : 1;
}
