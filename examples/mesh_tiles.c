/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Tiles of a mesh are MPI ranks, and keep their ranks when they move to another process.
 *
 * A torch travels over a plate; cells under it take many times the work of others.  The plate is
 * cut into tiles, each of which is an endpoint with a thread of its own.  Every few steps the
 * processes agree on the distribution of the tiles, send those that change hands, and make a new
 * communicator, with an endpoint for each tile that they have then.  In it a tile has the rank it
 * always had, so a step, in which it exchanges its border with its neighbours, stays the same.
 *
 * After section 5.3 and Figure 2 of J. Dinan et al., "Enabling communication concurrency through
 * flexible MPI endpoints", 2014.
 *
 *     epmpicc -O2 -fopenmp mesh_tiles.c -o mesh_tiles
 *     epmpirun -n 3 ./mesh_tiles
 *
 * Any number of processes will do.  Exit status 0: the same result as a serial run, bit for bit.
 */

#include <mpi.h>
#include <mpi-ext.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4 /* of tiles */
#define COLUMNS 4
#define TILES (ROWS * COLUMNS)
#define SIDE 32   /* of a tile, in cells */
#define PHASES 12 /* after each of them tiles may move */
#define STEPS 10  /* of a phase */
#define BURN 50   /* work of a cell under the torch; others have 1 */
#define LINE (SIDE + 2)

/* A rectangle of cells, in a frame one cell wide for copies of its neighbours' cells. */
typedef struct block_t {
    int y, x, height, width; /* which part of the plate */
    double *cells, *next;    /* before and after a step; only where it is owned */
    long work;               /* of one phase */
} block_t;

static int processes, process; /* how many, and which is this one */
static block_t tile[TILES];
static int owner[TILES];         /* the process that has it; all processes know */
static MPI_Datatype row, column; /* of a tile's cells */

static void fail(const char *why)
{
    fprintf(stderr, "mesh_tiles: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* All is cold at first, and what is around the plate stays so. */
static void allocate(block_t *block)
{
    block->cells = calloc((block->height + 2) * (block->width + 2), sizeof(double));
    block->next = calloc((block->height + 2) * (block->width + 2), sizeof(double));
    if (NULL == block->cells || NULL == block->next) {
        fail("no memory");
    }
}

/* Fill a tile's frame from its neighbours: all communication of a step, and all it has to know. */
static void exchange(double *cells, MPI_Comm mesh)
{
    const MPI_Aint x = sizeof(double), y = LINE * x; /* from cell to cell, row to row */
    const MPI_Aint border[4] = {y + x, SIDE * y + x, y + x, y + SIDE * x};
    const MPI_Aint frame[4] = {x, (SIDE + 1) * y + x, y, y + (SIDE + 1) * x};
    const MPI_Datatype edge[4] = {row, row, column, column}; /* up, down, left, right */
    const int ones[4] = {1, 1, 1, 1};

    MPI_Neighbor_alltoallw(cells, ones, border, edge, cells, ones, frame, edge, mesh);
}

/* The torch goes from corner to corner. */
static int under_torch(int y, int x, int step)
{
    const int height = ROWS * SIDE, width = COLUMNS * SIDE;
    const int dy = y - height * step / (PHASES * STEPS), dx = x - width * step / (PHASES * STEPS);

    return 9 * (dy * dy + dx * dx) < height * width;
}

/* A cell becomes the mean of its neighbours; under the torch it then burns in many small steps. */
static void advance(block_t *block, int step)
{
    const int line = block->width + 2;
    double *swap = block->next;

    for (int y = 1; y <= block->height; ++y) {
        for (int x = 1; x <= block->width; ++x) {
            const double *at = &block->cells[y * line + x];
            double value = 0.25 * ((at[-line] + at[line]) + (at[-1] + at[1]));
            int work = under_torch(block->y + y, block->x + x, step) ? BURN : 1;

            for (int i = 1; i < work; ++i) {
                value += 0.01 * (1.0 - value * value);
            }
            block->next[y * line + x] = value;
            block->work += work;
        }
    }
    block->next = block->cells;
    block->cells = swap;
}

/* A tile's phase, in a thread of its own. */
static void run_tile(int number, MPI_Comm *ep, int phase)
{
    const int shape[2] = {ROWS, COLUMNS}, periods[2] = {0, 0};
    MPI_Comm by_number, mesh;

    /* Endpoints are numbered process by process; the key makes a tile's number its rank again. */
    MPI_Comm_split(*ep, 0, number, &by_number);
    MPI_Cart_create(by_number, 2, shape, periods, 0, &mesh);
    tile[number].work = 0;
    for (int step = phase * STEPS; step < (phase + 1) * STEPS; ++step) {
        exchange(tile[number].cells, mesh);
        advance(&tile[number], step);
    }
    MPI_Comm_free(&mesh);
    MPI_Comm_free(&by_number);
    MPI_Comm_free(ep);
}

/* As many endpoints and threads as this process has tiles now; with none, it still takes part. */
static void run_phase(int phase)
{
    int mine = 0, number[TILES];
    MPI_Comm ep[TILES];

    for (int t = 0; t < TILES; ++t) {
        if (process == owner[t]) {
            number[mine++] = t;
        }
    }
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, ep);
    if (0 < mine) {
#pragma omp parallel num_threads(mine)
        {
            if (mine != omp_get_num_threads()) {
                fail("OpenMP gives fewer threads than there are tiles");
            }
            run_tile(number[omp_get_thread_num()], &ep[omp_get_thread_num()], phase);
        }
    }
}

/* Add up the work of each process if tiles are owned like this.  Returns the busiest process. */
static int add_up(const int *owners, const long *work, long *load)
{
    int busiest = 0;

    memset(load, 0, processes * sizeof(*load));
    for (int t = 0; t < TILES; ++t) {
        load[owners[t]] += work[t];
    }
    for (int p = 1; p < processes; ++p) {
        busiest = load[p] > load[busiest] ? p : busiest;
    }
    return busiest;
}

/* Give single tiles of the busiest process to the idlest as long as that helps.  All processes
 * have the same figures, so all come to the same result. */
static void rebalance(const long *work)
{
    for (;;) {
        long load[processes], lowest;
        int busiest = add_up(owner, work, load), idlest = 0, best = -1;

        for (int p = 1; p < processes; ++p) {
            idlest = load[p] < load[idlest] ? p : idlest;
        }
        lowest = load[busiest];
        for (int t = 0; t < TILES; ++t) {
            long left = load[busiest] - work[t], right = load[idlest] + work[t];

            if (busiest == owner[t] && lowest > left && lowest > right) {
                lowest = left > right ? left : right;
                best = t;
            }
        }
        if (0 > best) {
            return;
        }
        owner[best] = idlest;
    }
}

/* Send the tiles that change hands.  They go from process to process, over the communicator that
 * old and new endpoints have as their parent; the tile's number is the tag. */
static int move_tiles(const int *before)
{
    const int cells = LINE * LINE;
    MPI_Request request[TILES];
    int moved = 0, open = 0;

    for (int t = 0; t < TILES; ++t) {
        int from = before[t], to = owner[t];

        moved += from != to;
        if (from != to && process == to) {
            allocate(&tile[t]);
            MPI_Irecv(tile[t].cells, cells, MPI_DOUBLE, from, t, MPI_COMM_WORLD, &request[open++]);
        } else if (from != to && process == from) {
            MPI_Isend(tile[t].cells, cells, MPI_DOUBLE, to, t, MPI_COMM_WORLD, &request[open++]);
        }
    }
    MPI_Waitall(open, request, MPI_STATUSES_IGNORE);
    for (int t = 0; t < TILES; ++t) {
        if (process == before[t] && process != owner[t]) {
            free(tile[t].cells);
            free(tile[t].next);
        }
    }
    return moved;
}

/* Compute the plate as one block, without MPI.  Returns how many rows of own tiles differ. */
static int compare_with_serial(void)
{
    block_t plate = {.height = ROWS * SIDE, .width = COLUMNS * SIDE};
    int wrong = 0;

    allocate(&plate);
    for (int step = 0; step < PHASES * STEPS; ++step) {
        advance(&plate, step);
    }
    for (int t = 0; t < TILES; ++t) {
        for (int y = 1; process == owner[t] && y <= SIDE; ++y) {
            const double *expected = &plate.cells[(tile[t].y + y) * (plate.width + 2) + tile[t].x];

            wrong += 0 != memcmp(expected + 1, &tile[t].cells[y * LINE + 1], SIDE * sizeof(double));
        }
    }
    return wrong;
}

/* One line about a phase: thousands of cells' work, fixed if tiles never moved. */
static void report(int phase, int moved, const long *work)
{
    int even[TILES];
    long load[processes], fixed, busiest, all = 0;

    for (int t = 0; t < TILES; ++t) {
        even[t] = t * processes / TILES;
        all += work[t];
    }
    fixed = load[add_up(even, work, load)];
    busiest = load[add_up(owner, work, load)];
    printf("%5d %6d %8ld %8ld %8ld    ", phase + 1, moved, busiest / 1000, all / processes / 1000,
           fixed / 1000);
    for (int t = 0; t < TILES; ++t) {
        printf(0 == t % COLUMNS ? " %x" : "%x", owner[t]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    int level, wrong, moved = 0, before[TILES];
    long work[TILES];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (MPI_THREAD_MULTIPLE != level) {
        fail("no MPI_THREAD_MULTIPLE");
    }
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Type_contiguous(SIDE, MPI_DOUBLE, &row);
    MPI_Type_vector(SIDE, 1, LINE, MPI_DOUBLE, &column);
    MPI_Type_commit(&row);
    MPI_Type_commit(&column);

    /* Process 0 begins with all tiles, as if it had read them from a file. */
    for (int t = 0; t < TILES; ++t) {
        tile[t] = (block_t){t / COLUMNS * SIDE, t % COLUMNS * SIDE, SIDE, SIDE, NULL, NULL, 0};
        if (process == owner[t]) {
            allocate(&tile[t]);
        }
    }
    if (0 == process) {
        printf("       tiles  work of the busiest process\n"
               "phase  moved      now    ideal    fixed     which rank has a tile, row by row\n");
    }
    for (int phase = 0; phase < PHASES; ++phase) {
        run_phase(phase);
        for (int t = 0; t < TILES; ++t) {
            work[t] = process == owner[t] ? tile[t].work : 0;
        }
        MPI_Allreduce(MPI_IN_PLACE, work, TILES, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (0 == process) {
            report(phase, moved, work);
        }
        memcpy(before, owner, sizeof(before));
        rebalance(work);
        moved = move_tiles(before);
    }

    wrong = compare_with_serial();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == process) {
        printf("mesh_tiles: %s a serial run\n", 0 == wrong ? "the same as" : "WRONG, unlike");
    }
    MPI_Finalize();
    return 0 != wrong;
}
