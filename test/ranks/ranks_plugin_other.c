/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The library that ranks_plugin opens after ranks_plugin_own, whose symbols it uses without needing
 * the library: RTLD_GLOBAL provides them.
 */

#include <mpi.h>

int plugin_step(void);
int plugin_early(MPI_Comm world);
int other_step(MPI_Comm world);

int other_step(MPI_Comm world)
{
    return plugin_early(world) && MPI_COMM_WORLD == world ? plugin_step() : -1;
}
