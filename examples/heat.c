/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Heat that spreads from one side of a plate: an MPI program as there are many, with global variables,
 * which knows nothing of endpoints.  Its ranks run as processes or as threads:
 *
 *     mpicc -O2 heat.c -o heat -lm
 *     mpirun -n 8 ./heat
 *     epmpirun -n 1 -ranks 8 ./heat
 *
 * Both print the same: the heat in all rows after so many steps.  An argument is the number of steps.
 */

#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 64 /* of each rank */
#define COLUMNS 256

/* Rows 0 and ROWS + 1 are the neighbours'. */
static double plate[ROWS + 2][COLUMNS], next[ROWS + 2][COLUMNS];
static int rank, size, above, below;

static void exchange_rows(void)
{
    MPI_Sendrecv(plate[1], COLUMNS, MPI_DOUBLE, above, 0, plate[ROWS + 1], COLUMNS, MPI_DOUBLE, below,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plate[ROWS], COLUMNS, MPI_DOUBLE, below, 1, plate[0], COLUMNS, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* @return the largest change of a point, of all ranks */
static double step(void)
{
    double own = 0, all;

    exchange_rows();
    for (int row = 1; row <= ROWS; ++row) {
        for (int column = 1; column < COLUMNS - 1; ++column) {
            next[row][column] = (plate[row - 1][column] + plate[row + 1][column] + plate[row][column - 1]
                                 + plate[row][column + 1])
                                / 4;
            own = fmax(own, fabs(next[row][column] - plate[row][column]));
        }
    }
    for (int row = 1; row <= ROWS; ++row) {
        for (int column = 1; column < COLUMNS - 1; ++column) {
            plate[row][column] = next[row][column];
        }
    }
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 500;
    double change = 0, own = 0, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int row = 0; row <= ROWS + 1; ++row) {
        plate[row][0] = 100; /* the hot side */
    }
    for (int i = 0; i < steps; ++i) {
        change = step();
    }
    for (int row = 1; row <= ROWS; ++row) {
        for (int column = 0; column < COLUMNS; ++column) {
            own += plate[row][column];
        }
    }
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%d ranks: heat %.0f after %d steps, the last of which changed %.6f\n", size, all, steps,
               change);
    }
    MPI_Finalize();
    return 0;
}
