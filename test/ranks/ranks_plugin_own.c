/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The library that ranks_plugin opens.
 */

#include <mpi.h>

extern int programs_number, plugins_ended;
int programs_function(int x);
int plugin_step(void);
int plugin_early(MPI_Comm world);

static MPI_Comm early, initialized = MPI_COMM_WORLD;
static int steps;

__attribute__((constructor)) static void construct(void)
{
    early = MPI_COMM_WORLD;
}

__attribute__((destructor)) static void destruct(void)
{
    ++plugins_ended;
}

int plugin_step(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return ++steps > rank + 1 ? -1 : programs_function(steps);
}

/** Had the constructor the communicator that the program has? */
int plugin_early(MPI_Comm world)
{
    return world == early && world == initialized;
}
