/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The file of a library, by the name under which it is opened or needed.
 */

#ifndef MPIX_RANKS_FIND_H
#define MPIX_RANKS_FIND_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * @param map     in whose folders to look: what the dynamic linker's search would take for it
 * @param folder  what $ORIGIN means in the library that needs it; NULL: map's
 * @param run     that library's DT_RUNPATH; NULL: map's only
 *
 * @return is there one?
 */
bool mpix_ranks_find(const char *name, struct link_map *map, const char *folder, const char *run,
                     char *path, size_t path_size);

#endif /* MPIX_RANKS_FIND_H */
