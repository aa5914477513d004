/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Copies of objects: their files, and loading them.
 */

#ifndef MPIX_RANKS_COPY_H
#define MPIX_RANKS_COPY_H

#include "object.h"

/** An object that has been loaded for a rank. */
typedef struct mpix_ranks_loaded_t {
    const mpix_ranks_object_t *object;
    struct link_map *map;
    char *base;
    int file; /**< -1: none is kept open */
    char path[MPIX_RANKS_NAME_SIZE];
} mpix_ranks_loaded_t;

/** Lay out the annex of an object whose references have been found, and change its code.  The
 * program's set may be the object's.  @return NULL, or what is wrong */
const char *mpix_ranks_copy_prepare(mpix_ranks_object_t *object, const mpix_ranks_set_t *set,
                                    const mpix_ranks_set_t *program);

/**
 * Load a set of copies.
 *
 * @param label    what the files are called, for debuggers
 * @param flags    RTLD_LAZY or RTLD_NOW
 * @param program  what the rank has of the program's set; NULL: this is that
 * @param loaded   one for each object of the set
 *
 * @return NULL, or what is wrong; then nothing is loaded
 */
const char *mpix_ranks_copy_load(const mpix_ranks_set_t *set, const char *label, int flags,
                                 const mpix_ranks_loaded_t *program, mpix_ranks_loaded_t *loaded);

/** The opposite, as far as the dynamic linker does it. */
void mpix_ranks_copy_unload(const mpix_ranks_set_t *set, mpix_ranks_loaded_t *loaded);

/** Remove the files that stand for memory files, if there are any. */
void mpix_ranks_copy_remove_files(void);

/** Have room for so many descriptors of memory files. @return NULL, or what is wrong */
const char *mpix_ranks_copy_reserve(size_t count);

/** Does MPIX_RANKS_FILES want files in a folder?  First called before there are ranks, in whose
 * environment it is not. */
bool mpix_ranks_copy_are_files(void);

/** Are copies files in a folder, as far as there are any yet? */
bool mpix_ranks_copy_is_file(void);

/** Write all of the bytes at an offset of a file. @return false and errno */
bool mpix_ranks_copy_write(int file, const char *bytes, size_t size, size_t offset);

/** A file for a copy, empty.  @return a descriptor, or -1 and errno; path: how others open it */
int mpix_ranks_copy_create(const char *label, char *path, size_t path_size);

#endif /* MPIX_RANKS_COPY_H */
