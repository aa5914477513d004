/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The dynamic linker's functions, as the program and its private libraries find them.  Shared libraries
 * find the dynamic linker's own: what libmpi loads is there for all ranks, whichever calls it.
 */

#ifndef MPIX_RANKS_SEARCH_H
#define MPIX_RANKS_SEARCH_H

#include "object.h"

/** Names and functions; the last one is {NULL, NULL}. */
extern const mpix_ranks_function_t mpix_ranks_search_functions[];

#endif /* MPIX_RANKS_SEARCH_H */
