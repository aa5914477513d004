/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The parts of ranks_basic.
 */

#ifndef RANKS_BASIC_H
#define RANKS_BASIC_H

/** MPI_COMM_WORLD and MPI_COMM_SELF in calls of all kinds: cases of their own. */
void check_calls(void);

#endif /* RANKS_BASIC_H */
