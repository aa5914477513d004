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
int plugin_may_free(void);
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

/** Can it free MPI_COMM_SELF?  No function of libmpi's alone knows that. */
int plugin_may_free(void)
{
    MPI_Comm self = MPI_COMM_SELF;
    int class = MPI_SUCCESS, rc;

    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    rc = MPI_Comm_free(&self);
    MPI_Error_class(rc, &class);
    return MPI_ERR_COMM != class;
}

/** Had the constructor the communicator that the program has? */
int plugin_early(MPI_Comm world)
{
    return world == early && world == initialized;
}
