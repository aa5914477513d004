/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Forced into every source of a test program that is to run on endpoints (-include).
 *
 * Such a program becomes a shared object.  driver.c loads one copy of it per endpoint and runs its
 * main() in that endpoint's thread, so a program's globals and statics, and those of the
 * support code linked to it, belong to one rank, as in a process.  What is left to replace are the two
 * communicators that are there from the start, here, and in rank.c what a program may do only once
 * per process.
 */

#ifndef EPT_ENDPOINT_H
#define EPT_ENDPOINT_H

#include <mpi.h>

/** This rank's handles: of the endpoints that are the world, and of itself alone. */
extern MPI_Comm ept_world;
extern MPI_Comm ept_self;

#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD ept_world
#undef MPI_COMM_SELF
#define MPI_COMM_SELF ept_self

/** How the driver runs a rank: the program's main() with its exit status as result. */
typedef int (*ept_rank_main_fn_t)(MPI_Comm world, MPI_Comm self, int argc, char *argv[]);

/** The name of that function in the shared object. */
#define EPT_RANK_MAIN "ept_rank_main"

#endif /* EPT_ENDPOINT_H */
