/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Red-black relaxation: an endpoint for each neighbour that a process has, tasks for the tiles.
 *
 * The processes are a grid, each with a block of the field, and each block is a grid of tiles.  A
 * process has as many endpoints as neighbours, so 2 in a corner, 3 at a side, 4 within (and none if
 * it is alone), with a thread for each that does nothing but exchange.  The tiles are tasks of
 * OpenMP: the red points of a tile may be done as soon as the black ones are of it and of the four
 * around it, whatever the others do.  Exchanges are tasks, too, that are not over before their
 * event comes, from the endpoint's thread (detached tasks).
 *
 * So how many endpoints a process wants depends on its place in the grid: MPI begins in two phases,
 * the first of which tells the place.
 *
 * After section 0.9 of the MPI Forum's hybrid working group, "Supporting Multiple Endpoints per
 * Process", 2010, which has counters in place of dependences.
 *
 *     epmpicc -fopenmp red_black.c -o red_black
 *     OMP_NUM_THREADS=4 epmpirun -n 2 ./red_black
 *
 * Any number of processes and threads will do; where they are more than cores, OpenMP's idle
 * threads leave these to the others with OMP_WAIT_POLICY=passive.  Exit status 0: each point is,
 * bit by bit, what one thread alone comes to, after as many sweeps.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { UP, DOWN, LEFT, RIGHT, DIRECTIONS };
enum { RED, BLACK };
/* Sides of a block in tiles, of a tile and a block in points: even, so that blocks begin alike. */
enum { TILES = 4, SIDE = 12, POINTS = TILES * SIDE };

static const double TOLERANCE = 1e-3, OVER = 1.9;
static const int across[DIRECTIONS] = {[LEFT] = -1, [RIGHT] = 1};
static const int along[DIRECTIONS] = {[UP] = -1, [DOWN] = 1};

static double field[POINTS + 2][POINTS + 2]; /* with the neighbours' next points around it */
static double change[TILES + 2][TILES + 2];  /* the largest of a point in this sweep */
static char done[2][TILES + 2][TILES + 2];   /* names for the dependences; nobody writes them */
static int grid[2];                          /* the processes, in rows and columns */

/* Of the n points, or tiles, of a block that are next to a neighbour, the k-th. */
static int row_of(int direction, int n, int k)
{
    return UP == direction ? 1 : DOWN == direction ? n : k;
}

static int column_of(int direction, int n, int k)
{
    return LEFT == direction ? 1 : RIGHT == direction ? n : k;
}

/* @return the process next to one in a direction, or MPI_PROC_NULL */
static int neighbour(int process, int direction)
{
    const int row = process / grid[1] + along[direction];
    const int column = process % grid[1] + across[direction];

    return 0 > row || grid[0] <= row || 0 > column || grid[1] <= column ? MPI_PROC_NULL
                                                                        : row * grid[1] + column;
}

/* The rank of a process's endpoint for a direction: they follow by process, then direction. */
static int rank_of(int process, int direction)
{
    int rank = 0;

    for (int p = 0; p <= process; ++p) {
        for (int d = 0; d < (p == process ? direction : DIRECTIONS); ++d) {
            rank += MPI_PROC_NULL != neighbour(p, d);
        }
    }
    return rank;
}

/* As square as it can be; MPI_Dims_create may not be called yet. */
static void set_grid(int processes)
{
    grid[1] = 1;
    for (int i = 2; i * i <= processes; ++i) {
        grid[1] = 0 == processes % i ? i : grid[1];
    }
    grid[0] = processes / grid[1];
}

/* ==== the threads that exchange, with an endpoint each ====================================== */

struct link {
    MPIX_Endpoint endpoint;
    pthread_t thread;
    int direction, peer;      /* where to, and that endpoint's rank */
    int colour;               /* what to exchange; -1: no more */
    omp_event_handle_t event; /* that it is done */
    sem_t posted;             /* there is something to do */
};

static void *exchange(void *argument)
{
    struct link *link = argument;
    const int d = link->direction, stride = 0 != along[d] ? 1 : POINTS + 2;
    MPI_Datatype points; /* of one colour: every second one of an edge */

    MPIX_Thread_detach(); /* from the first endpoint, where new threads are */
    MPIX_Thread_attach_level(link->endpoint, MPI_THREAD_FUNNELED);
    MPI_Type_vector(POINTS / 2, 1, 2 * stride, MPI_DOUBLE, &points);
    MPI_Type_commit(&points);
    for (;;) {
        int row, column, k;

        sem_wait(&link->posted);
        if (0 > link->colour) {
            break;
        }
        /* The first of the colour in my edge is the first or the second one; in the neighbour's, it
         * is the other. */
        k = (row_of(d, POINTS, 1) + column_of(d, POINTS, 1)) % 2 == link->colour ? 1 : 2;
        row = row_of(d, POINTS, 3 - k) + along[d];
        column = column_of(d, POINTS, 3 - k) + across[d];
        MPI_Sendrecv(&field[row_of(d, POINTS, k)][column_of(d, POINTS, k)], 1, points, link->peer,
                     link->colour, &field[row][column], 1, points, link->peer, link->colour,
                     MPIX_COMM_ENDPOINTS, MPI_STATUS_IGNORE);
        omp_fulfill_event(link->event); /* the tiles at this edge may go on */
    }
    MPI_Type_free(&points);
    MPIX_Thread_detach();
    return NULL;
}

static int links_begin(struct link *links, int process)
{
    MPIX_Endpoint ep[DIRECTIONS];
    int count = 0;

    for (int d = 0; d < DIRECTIONS; ++d) {
        if (MPI_PROC_NULL != neighbour(process, d)) {
            links[count].direction = d;
            links[count++].peer = rank_of(neighbour(process, d), d ^ 1); /* the opposite one */
        }
    }
    MPIX_Endpoint_create(0 < count ? count : 1, ep); /* one for a process that is alone */
    for (int i = 0; i < count; ++i) {
        links[i].endpoint = ep[i];
        sem_init(&links[i].posted, 0, 0);
        pthread_create(&links[i].thread, NULL, exchange, &links[i]);
    }
    return count;
}

static void links_end(struct link *links, int count)
{
    for (int i = 0; i < count; ++i) {
        links[i].colour = -1;
        sem_post(&links[i].posted);
        pthread_join(links[i].thread, NULL);
        sem_destroy(&links[i].posted);
    }
}

/* ==== the tiles ============================================================================= */

static double larger(double a, double b)
{
    return a < b ? b : a;
}

/* Points of one colour, of so many rows and columns; a row of the field has `width`.
 * @return the largest change */
static double relax(double *f, int width, int colour, int row, int column, int rows, int columns)
{
    double largest = 0;

    for (int r = row; r < row + rows; ++r) {
        for (int c = column + (r + column + colour) % 2; c < column + columns; c += 2) {
            double *p = &f[r * width + c];
            const double by = OVER * (0.25 * (p[-width] + p[width] + p[-1] + p[1]) - *p);

            *p += by;
            largest = larger(largest, fabs(by));
        }
    }
    return largest;
}

/* Makes the tasks of half a sweep: all tiles, then all exchanges of what they come to. */
static void half_sweep(int colour, struct link *links, int count)
{
    const int other = RED + BLACK - colour;

    for (int i = 1; i <= TILES; ++i) {
        for (int j = 1; j <= TILES; ++j) {
/* clang-format off */
#pragma omp task depend(out : done[colour][i][j]) depend(in : done[other][i][j], \
        done[other][i - 1][j], done[other][i + 1][j], done[other][i][j - 1], done[other][i][j + 1])
            /* clang-format on */
            {
                const double by = relax(field[0], POINTS + 2, colour, (i - 1) * SIDE + 1,
                                        (j - 1) * SIDE + 1, SIDE, SIDE);

                change[i][j] = RED == colour ? by : larger(by, change[i][j]);
            }
        }
    }
    for (int l = 0; l < count; ++l) {
        struct link *link = &links[l];
        const int d = link->direction;
        omp_event_handle_t event;

        /* It reads the tiles at this edge, and writes what is beyond. */
/* clang-format off */
#pragma omp task detach(event) depend(iterator(int k = 1 : TILES + 1), \
        in : done[colour][row_of(d, TILES, k)][column_of(d, TILES, k)]) \
        depend(iterator(int k = 1 : TILES + 1), \
        out : done[colour][row_of(d, TILES, k) + along[d]][column_of(d, TILES, k) + across[d]])
        /* clang-format on */
        {
            link->colour = colour;
            link->event = event;
            sem_post(&link->posted);
        }
    }
}

/* @return the number of sweeps until all processes agree that little changes */
static int solve(struct link *links, int count)
{
    double largest = 2 * TOLERANCE;
    int sweeps = 0;

#pragma omp parallel
#pragma omp single
    while (TOLERANCE < largest) {
        half_sweep(RED, links, count);
        half_sweep(BLACK, links, count);
        ++sweeps;
#pragma omp taskwait
        largest = 0;
        for (int i = 0; i < TILES * TILES; ++i) {
            largest = larger(largest, change[i / TILES + 1][i % TILES + 1]);
        }
        MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    return sweeps;
}

/* The field at first, of the given size: 0, but for what is around it. */
static void begin(double *f, int width, int rows, int columns, int row, int column)
{
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
            const int at = row + r, by = column + c;

            f[r * width + c] = 0 == at || 0 == by || grid[0] * POINTS < at || grid[1] * POINTS < by
                                   ? (at * 37 + by * 101) % 1009
                                   : 0;
        }
    }
}

/* All of it by one thread.  @return are there as many sweeps, and is my block the same? */
static int same_as_serial(int sweeps, int row, int column)
{
    const int rows = grid[0] * POINTS, columns = grid[1] * POINTS, width = columns + 2;
    double *f = malloc((size_t) (rows + 2) * width * sizeof(double)), by = 2 * TOLERANCE;
    int same = NULL != f;

    if (same) {
        begin(f, width, rows + 2, width, 0, 0);
        while (TOLERANCE < by) {
            by = relax(f, width, RED, 1, 1, rows, columns);
            by = larger(by, relax(f, width, BLACK, 1, 1, rows, columns));
            --sweeps;
        }
        for (int i = 0; i < POINTS * POINTS; ++i) {
            const int r = i / POINTS + 1, c = i % POINTS + 1;

            same = same && field[r][c] == f[(row + r) * width + column + c];
        }
    }
    free(f);
    return same && 0 == sweeps;
}

int main(int argc, char **argv)
{
    int most, process, processes, count, all, sweeps, right, row, column;
    struct link links[DIRECTIONS];

    MPIX_Init_endpoint_begin(&argc, &argv, &most, &processes, &process);
    set_grid(processes);
    row = process / grid[1] * POINTS;
    column = process % grid[1] * POINTS;

    begin(field[0], POINTS + 2, POINTS + 2, POINTS + 2, row, column);
    count = links_begin(links, process);
    sweeps = solve(links, count);
    links_end(links, count);

    right = same_as_serial(sweeps, row, column);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&count, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == process) {
        printf("red_black: %d x %d processes, %d endpoints in all, %d sweeps: %s\n", grid[0],
               grid[1], all, sweeps, right ? "the same as a serial run" : "WRONG");
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
