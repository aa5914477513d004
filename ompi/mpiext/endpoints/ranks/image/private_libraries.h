/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Which libraries are private, that is, of which each rank has a copy.
 */

#ifndef MPIX_RANKS_PRIVATE_LIBRARIES_H
#define MPIX_RANKS_PRIVATE_LIBRARIES_H

#include "object.h"

/** A library that the dynamic linker has loaded. */
typedef struct mpix_ranks_library_t {
    struct link_map *map;
    const char *name; /**< by which others need it */
    bool is_reached;  /**< the executable needs it, itself or by others */
    bool is_private;
    const char *why; /**< NULL: the executable needs it, and nothing says that ranks share it */
} mpix_ranks_library_t;

typedef struct mpix_ranks_libraries_t {
    mpix_ranks_library_t *all; /**< the first one is the executable */
    int count;
} mpix_ranks_libraries_t;

/** All that is loaded, and which of it the executable needs. */
void mpix_ranks_libraries_read(mpix_ranks_libraries_t *libraries);

/** The one that is meant by the name or path by which another needs it.  NULL: none. */
mpix_ranks_library_t *mpix_ranks_library_of(const mpix_ranks_libraries_t *libraries,
                                            const char *name);

/** Decide which are private. */
void mpix_ranks_libraries_decide(mpix_ranks_libraries_t *libraries);

/** Does the executable need a library whose name begins so?  NULL: no. */
const mpix_ranks_library_t *mpix_ranks_libraries_reached(const mpix_ranks_libraries_t *libraries,
                                                         const char *begin);

/** Is a library of this name one of those that all ranks share by rule, or by the user's word? */
bool mpix_ranks_library_is_shared(const char *name, const char **why_p);

/** Has its file data that is written after relocation? */
bool mpix_ranks_library_has_state(const mpix_ranks_elf_t *elf);

/** The names of the libraries that it needs, one after the other.  NULL: no more.  *at begins with
 * 0. */
const char *mpix_ranks_library_needs(const struct link_map *map, size_t *at);

/** The name of a path's file. */
const char *mpix_ranks_library_name(const char *path);

#endif /* MPIX_RANKS_PRIVATE_LIBRARIES_H */
