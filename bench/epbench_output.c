/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The clock, the statistics of the timed blocks, and the line that bench/run-bench reads.
 */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "epbench.h"

double epbench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a;
    double y = *(const double *) b;

    return (x > y) - (x < y);
}

void epbench_report(const epbench_options_t *options, const epbench_point_t *point, long iterations,
                    int blocks, double *values)
{
    double median;
    double best;

    qsort(values, (size_t) blocks, sizeof(*values), compare_doubles);
    median = (1 == blocks % 2) ? values[blocks / 2]
                               : (values[blocks / 2 - 1] + values[blocks / 2]) / 2.0;
    best = point->measure->higher_is_better ? values[blocks - 1] : values[0];
    printf("epbench,%s,%s,%d,%s,%zu,%d,%ld,%.6g,%.6g,%s\n", options->way, options->scenario,
           options->pairs, point->measure->name, point->size, point->window, iterations, median,
           best, point->measure->unit);
    fflush(stdout); /* what was measured stays, also if a later point fails */
}
