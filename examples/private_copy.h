/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/*
 * Libraries that a thread has to itself: private_copy.c says how.
 */

#ifndef PRIVATE_COPY_H
#define PRIVATE_COPY_H

#include <mpi.h>

enum { PRIVATE_COPY_MOST = 1000 /* copies of a library in a process */ };

/** Opens a copy of the shared object `object`, a path, and in front of it one of each of
 *  `libraries`, which it is linked with: names as `ldd` shows them, `count` of them, each behind
 *  those that it needs itself.  `number` tells this set of copies from others; below
 *  PRIVATE_COPY_MOST.  `handles` gets what dlopen returns for each library and, last, the object.
 *  By one thread at a time.  Returns NULL, or why it could not be done. */
const char *private_copy(const char *object, const char *const libraries[], int count, int number,
                         void *handles[]);

/** In the copy behind a handle, MPI_COMM_WORLD and MPI_COMM_SELF are these from now on.  Before
 *  anything in there has run.  Returns NULL, or why it could not be done. */
const char *private_copy_worlds(void *handle, MPI_Comm world, MPI_Comm self);

#endif /* PRIVATE_COPY_H */
