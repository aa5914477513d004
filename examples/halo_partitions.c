/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * A team of threads hands out the edges of its domain block by block (partitioned communication).
 *
 * Every process has a strip of rows of a field that is averaged with its four neighbours again and
 * again; the strips form a ring.  A process has two endpoints, one for the edge above and one for
 * the edge below, each with a network context of its own, and a team of as many threads as you
 * like.  A thread that has a block of columns ready marks it (MPI_Pready), so it is on its way
 * while the others compute; before it computes a block next to an edge, it asks whether just that
 * block of the neighbour's has come (MPI_Parrived).  No thread owns an endpoint, and none waits for
 * more than its own blocks.
 *
 *     epmpicc -fopenmp halo_partitions.c -o halo_partitions
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./halo_partitions
 *
 * Any number of processes and threads will do.  Exit status 0: the same as a serial run.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ABOVE, BELOW, EDGES };
enum { ROWS = 6, BLOCKS = 16, WIDTH = 100, COLUMNS = BLOCKS * WIDTH, STEPS = 40 };

/* The field before the first step. */
static double at_first(int row, int column)
{
    return (row * 37 + column * 101) % 1009;
}

/* Average columns begin ... begin + WIDTH - 1 of a row; the field is a ring of columns, too. */
static void average(double *to, const double *up, const double *row, const double *down, int begin)
{
    for (int c = begin; c < begin + WIDTH; ++c) {
        to[c] = 0.25
                * (up[c] + down[c] + row[(c + 1) % COLUMNS] + row[(c + COLUMNS - 1) % COLUMNS]);
    }
}

/* All strips in one place: what the processes must come to.  @return the field, or NULL */
static double *serial(int rows)
{
    const size_t size = (size_t) rows * COLUMNS;
    double *now = malloc(2 * size * sizeof(double)), *next = now + size;

    for (int i = 0; NULL != now && i < rows * COLUMNS; ++i) {
        now[i] = at_first(i / COLUMNS, i % COLUMNS);
    }
    for (int step = 0; NULL != now && step < STEPS; ++step) {
        for (int r = 0; r < rows; ++r) {
            for (int b = 0; b < BLOCKS; ++b) {
                average(&next[r * COLUMNS], &now[(r + rows - 1) % rows * COLUMNS],
                        &now[r * COLUMNS], &now[(r + 1) % rows * COLUMNS], b * WIDTH);
            }
        }
        memcpy(now, next, size * sizeof(double));
    }
    return now;
}

static double field[2][ROWS][COLUMNS]; /* this step's and the next one's */
static double edge[EDGES][COLUMNS], halo[EDGES][COLUMNS];

/* What a thread does in a step. */
static void work(double now[ROWS][COLUMNS], double next[ROWS][COLUMNS], MPI_Request *sends,
                 MPI_Request *receives)
{
#pragma omp for schedule(static) nowait
    for (int b = 0; b < BLOCKS; ++b) {
        for (int e = 0; e < EDGES; ++e) {
            memcpy(&edge[e][b * WIDTH], &now[ABOVE == e ? 0 : ROWS - 1][b * WIDTH],
                   WIDTH * sizeof(double));
            MPI_Pready(b, sends[e]);
        }
    }
#pragma omp for schedule(static) nowait
    for (int b = 0; b < BLOCKS; ++b) {
        for (int r = 1; r < ROWS - 1; ++r) {
            average(next[r], now[r - 1], now[r], now[r + 1], b * WIDTH);
        }
    }
#pragma omp for schedule(static)
    for (int b = 0; b < BLOCKS; ++b) {
        for (int e = 0; e < EDGES; ++e) {
            int arrived = 0;

            while (!arrived) {
                MPI_Parrived(receives[e], b, &arrived);
            }
        }
        average(next[0], halo[ABOVE], now[0], now[1], b * WIDTH);
        average(next[ROWS - 1], now[ROWS - 2], now[ROWS - 1], halo[BELOW], b * WIDTH);
    }
}

int main(int argc, char **argv)
{
    int level, size, rank, right = 0, threads = 0;
    MPI_Comm ep[EDGES];
    MPI_Request requests[2 * EDGES]; /* sends, then receives */
    double *expected;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, EDGES, MPI_INFO_NULL, ep);

    /* Rank 2 p is the upper edge of process p, rank 2 p + 1 the lower one. */
    for (int e = 0; e < EDGES; ++e) {
        const int peer = ABOVE == e ? 2 * ((rank + size - 1) % size) + BELOW
                                    : 2 * ((rank + 1) % size) + ABOVE;

        MPI_Psend_init(edge[e], BLOCKS, WIDTH, MPI_DOUBLE, peer, 0, ep[e], MPI_INFO_NULL,
                       &requests[e]);
        MPI_Precv_init(halo[e], BLOCKS, WIDTH, MPI_DOUBLE, peer, 0, ep[e], MPI_INFO_NULL,
                       &requests[EDGES + e]);
    }
    for (int i = 0; i < ROWS * COLUMNS; ++i) {
        field[0][i / COLUMNS][i % COLUMNS] = at_first(rank * ROWS + i / COLUMNS, i % COLUMNS);
    }
    for (int step = 0; step < STEPS; ++step) {
        MPI_Startall(2 * EDGES, requests);
#pragma omp parallel
        {
#pragma omp single
            threads = omp_get_num_threads();
            work(field[step % 2], field[(step + 1) % 2], requests, requests + EDGES);
        }
        MPI_Waitall(2 * EDGES, requests, MPI_STATUSES_IGNORE);
    }

    expected = serial(size * ROWS);
    right = NULL != expected
            && 0
                   == memcmp(field[STEPS % 2], expected + (size_t) rank * ROWS * COLUMNS,
                             sizeof(field[0]));
    free(expected);
    for (int i = 0; i < 2 * EDGES; ++i) {
        MPI_Request_free(&requests[i]);
    }
    MPI_Comm_free(&ep[ABOVE]);
    MPI_Comm_free(&ep[BELOW]);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("halo_partitions: %d process%s, %d threads each, %d blocks an edge, %d steps: %s\n",
               size, 1 == size ? "" : "es", threads, BLOCKS, STEPS,
               right ? "the same as a serial run" : "WRONG");
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
