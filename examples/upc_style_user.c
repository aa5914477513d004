/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * The user's part of upc_style.c: MPI on MPI_COMM_WORLD, with UPC's words.  It knows nothing of
 * endpoints, and is compiled by plain mpicc.
 */

#include "upc_style.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Listing 2: data[i] becomes the square root of i + 1, by Newton's iteration, until all elements,
 * wherever they are, have what they need. */
#define ELEMENTS (100 * THREADS)
#define TOL 1e-12

int upc_main(void)
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
