/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of the program share that count-instructions runs under callgrind.
 */

#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H

#include <mpi.h>

/** Ends the program with a message. */
_Noreturn void instructions_fail(const char *what);

/** Makes endpoints of this process with that mpix_thread_level. */
void instructions_create(const char *level, int count, MPI_Comm *endpoints);

/** Operations on a window of two endpoints: dumps named "LEVEL PATH OPERATIONS". */
void instructions_windows(const char *level);

#endif /* INSTRUCTIONS_H */
