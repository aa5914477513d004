/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Looking for symbols by name.
 */

#ifndef MPIX_RANKS_SEARCH_H
#define MPIX_RANKS_SEARCH_H

/** dlsym of a rank's objects. */
void *mpix_ranks_search(void *handle, const char *name);

#endif /* MPIX_RANKS_SEARCH_H */
