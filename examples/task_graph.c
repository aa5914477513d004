/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A graph of tasks over all processes: receive an item, see which tasks it enables, run them, send
 * what they make.  The graph is that of a Cholesky factorization by tiles; each rank has some.
 *
 * Three ways to divide the work among the threads of a process, of which each can run any task; on
 * the command line:
 *
 *   process  the process is one rank; a thread receives for all, tasks send
 *   masters  half of the threads have an endpoint each, for which they receive; tasks of that rank
 *            send by its handle, whichever thread runs them
 *   roles    a third of the threads receive, a third send, by the same endpoints; the others work
 *
 * They are those of examples 12.3, 12.4 and 12.5 of the chapter that the MPI Forum's hybrid working
 * group drafted for MPI 3, which have their endpoints from the launcher.
 *
 *     epmpicc -fopenmp task_graph.c -lm -o task_graph
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./task_graph [process | masters | roles]
 *
 * Any number of processes and threads will do (roles: 2 threads at least are made).  Exit status 0:
 * the factor is the one that the matrix was made of; all are whole numbers, so it is exact.
 *
 * EPT-LIBS: -lm
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <math.h>
#include <omp.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 8, SIDE = 16, ALL = TILES * TILES };

typedef double tile_t[SIDE][SIDE];

/* A rank: an endpoint, or a process that has none. */
struct rank {
    MPI_Comm comm;
    int me, size;
    tile_t *tile;            /* of the factor: own ones, and those that have come */
    atomic_int missing[ALL]; /* of each own tile: items that it still waits for */
    MPI_Request *requests;
    atomic_int started;
    int output[ALL], outputs; /* "roles": tiles to be sent, under a critical section */
    sem_t queued;             /* how many of them there are that have not been taken */
};

static int workers; /* threads of this process that do nothing but tasks */
static int roles;

/* ==== the graph: tile t is that in row t / TILES, column t % TILES ========================== */

static int owner(int t, int size)
{
    return (t / TILES * (t / TILES + 1) / 2 + t % TILES) % size;
}

/* Is there such a tile: on the diagonal or below it? */
static int exists(int t)
{
    return t % TILES <= t / TILES;
}

/* Is the finished tile `item` needed to make t? */
static int uses(int t, int item)
{
    const int i = t / TILES, j = t % TILES, row = item / TILES, column = item % TILES;

    return exists(t) && exists(item) && t != item && (row == i || row == j) && column <= j
           && (column < j || row == j);
}

/* Does a rank make a tile that uses this one? */
static int wants(int rank, int item, int size)
{
    for (int t = 0; t < ALL; ++t) {
        if (rank == owner(t, size) && uses(t, item)) {
            return 1;
        }
    }
    return 0;
}

/* ==== the matrix: the product of a factor of small whole numbers with itself ================ */

static double factor(int row, int column)
{
    return row < column ? 0 : row == column ? 1 + row % 3 : (row * 7 + column * 5) % 5 - 2;
}

static double matrix(int row, int column)
{
    double sum = 0;

    for (int k = 0; k <= row && k <= column; ++k) {
        sum += factor(row, k) * factor(column, k);
    }
    return sum;
}

/* The tile of the factor, from the matrix and the tiles that it uses. */
static void make(tile_t *tile, int t)
{
    const int i = t / TILES, j = t % TILES;
    double(*a)[SIDE] = tile[t], (*diagonal)[SIDE] = tile[j * TILES + j];

    for (int r = 0; r < SIDE; ++r) {
        for (int c = 0; c < SIDE; ++c) {
            a[r][c] = matrix(i * SIDE + r, j * SIDE + c);
            for (int k = 0; k < j * SIDE; ++k) {
                a[r][c] -= tile[i * TILES + k / SIDE][r][k % SIDE]
                           * tile[j * TILES + k / SIDE][c][k % SIDE];
            }
        }
    }
    for (int c = 0; c < SIDE; ++c) {
        for (int r = 0; r < SIDE; ++r) {
            for (int k = 0; k < c; ++k) {
                a[r][c] -= a[r][k] * diagonal[c][k];
            }
            if (i == j && r == c) {
                a[r][c] = sqrt(a[r][c]);
            } else if (i == j && r < c) {
                a[r][c] = 0;
            } else {
                a[r][c] /= diagonal[c][c];
            }
        }
    }
}

/* ==== what a rank does ====================================================================== */

static void enable(struct rank *rank, int t);

/* An item is there: of a task that has ended, or received. */
static void deliver(struct rank *rank, int item)
{
    for (int t = 0; t < ALL; ++t) {
        /* The thread that counts to zero sees the items of all threads. */
        if (rank->me == owner(t, rank->size) && uses(t, item)
            && 1 == atomic_fetch_sub(&rank->missing[t], 1)) {
            enable(rank, t);
        }
    }
}

/* To all that want it.  Nobody writes the tile any more, so it is sent from where it lies. */
static void send(struct rank *rank, int item)
{
    for (int to = 0; to < rank->size; ++to) {
        if (to != rank->me && wants(to, item, rank->size)) {
            MPI_Isend(rank->tile[item], SIDE * SIDE, MPI_DOUBLE, to, item, rank->comm,
                      &rank->requests[atomic_fetch_add(&rank->started, 1)]);
        }
    }
}

/* A task for a tile; if nobody is there to run it, it is run at once. */
static void enable(struct rank *rank, int t)
{
#pragma omp task if (0 < workers)
    {
        make(rank->tile, t);
        if (roles) {
#pragma omp critical(queue)
            rank->output[rank->outputs++] = t;
            sem_post(&rank->queued);
        } else {
            send(rank, t);
        }
        deliver(rank, t);
    }
}

static void receive_all(struct rank *rank)
{
    if (rank->me == owner(0, rank->size)) {
        enable(rank, 0); /* which uses none */
    }
    for (int item = 0; item < ALL; ++item) {
        MPI_Status status;

        if (rank->me == owner(item, rank->size) || !wants(rank->me, item, rank->size)) {
            continue;
        }
        /* As many as it wants, in the order in which they come. */
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, rank->comm, &status);
        MPI_Recv(rank->tile[status.MPI_TAG], SIDE * SIDE, MPI_DOUBLE, status.MPI_SOURCE,
                 status.MPI_TAG, rank->comm, MPI_STATUS_IGNORE);
        deliver(rank, status.MPI_TAG);
    }
}

/* "roles": sends all that the rank makes. */
static void send_all(struct rank *rank)
{
    int next = 0;

    for (int t = 0; t < ALL; ++t) {
        if (exists(t) && rank->me == owner(t, rank->size)) {
            int item;

            sem_wait(&rank->queued);
#pragma omp critical(queue)
            item = rank->output[next++];
            send(rank, item);
        }
    }
}

static void rank_begin(struct rank *rank, MPI_Comm comm)
{
    rank->comm = comm;
    MPI_Comm_rank(comm, &rank->me);
    MPI_Comm_size(comm, &rank->size);
    rank->tile = calloc(ALL, sizeof(tile_t));
    rank->requests = calloc((size_t) ALL * rank->size, sizeof(MPI_Request));
    if (NULL == rank->tile || NULL == rank->requests) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int t = 0; t < ALL; ++t) {
        for (int item = 0; item < ALL; ++item) {
            rank->missing[t] += uses(t, item);
        }
    }
    sem_init(&rank->queued, 0, 0);
}

/* @return how many of its tiles are right */
static int rank_end(struct rank *rank)
{
    int right = 0;

    MPI_Waitall(rank->started, rank->requests, MPI_STATUSES_IGNORE);
    for (int t = 0; t < ALL; ++t) {
        int same = exists(t) && rank->me == owner(t, rank->size);

        for (int i = 0; i < SIDE * SIDE; ++i) {
            const int r = i / SIDE, c = i % SIDE;

            same = same
                   && rank->tile[t][r][c] == factor(t / TILES * SIDE + r, t % TILES * SIDE + c);
        }
        right += same;
    }
    sem_destroy(&rank->queued);
    free(rank->requests);
    free(rank->tile);
    return right;
}

/* All tasks of this process, which has so many ranks. */
static void run(struct rank *ranks, int count, int threads)
{
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
    {
        const int thread = omp_get_thread_num();

        if (thread < count) {
            receive_all(&ranks[thread]);
        } else if (roles && thread < 2 * count) {
            send_all(&ranks[thread - count]);
        }
        /* Here all run tasks, until there are no more. */
    }
}

int main(int argc, char **argv)
{
    const char *way = 1 < argc ? argv[1] : "masters";
    const int process = 0 == strcmp(way, "process");
    int level, me, size, threads = omp_get_max_threads(), count, right = 0, wanted = 0;
    struct rank *ranks;
    MPI_Comm *comms;

    roles = 0 == strcmp(way, "roles");
    if (!process && !roles && 0 != strcmp(way, "masters")) {
        fprintf(stderr, "usage: task_graph [process | masters | roles]\n");
        return 2;
    }
    count = process ? 1 : threads / (roles ? 3 : 2);
    count = 1 > count ? 1 : count;
    threads = roles && 2 > threads ? 2 : threads;
    workers = threads - (roles ? 2 : 1) * count;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    ranks = calloc((size_t) count, sizeof(*ranks));
    comms = calloc((size_t) count, sizeof(*comms));
    if (NULL == ranks || NULL == comms || MPI_THREAD_MULTIPLE != level) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (process) {
        MPI_Comm_dup(MPI_COMM_WORLD, comms);
    } else {
        MPIX_Comm_create_endpoints(MPI_COMM_WORLD, count, MPI_INFO_NULL, comms);
    }
    MPI_Comm_size(comms[0], &size);
    for (int i = 0; i < count; ++i) {
        rank_begin(&ranks[i], comms[i]);
    }
    run(ranks, count, threads);
    for (int i = 0; i < count; ++i) {
        right += rank_end(&ranks[i]);
    }
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    free(comms);
    free(ranks);

    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int t = 0; t < ALL; ++t) {
        wanted += exists(t);
    }
    if (0 == me) {
        printf("task_graph: %s: %d rank%s, %d threads each process: %d of %d tiles right\n", way,
               size, 1 == size ? "" : "s", threads, right, wanted);
    }
    MPI_Finalize();
    return right == wanted ? 0 : 1;
}
