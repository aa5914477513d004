/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What an object refers to that must be another thing in a rank's copy; and changes of its tables by
 * which the dynamic linker binds the copy as needed.
 */

#ifndef MPIX_RANKS_REFERENCES_H
#define MPIX_RANKS_REFERENCES_H

#include "object.h"

/**
 * Find the ranges, pointers and contents of an object, and change its symbols and relocations.
 *
 * @param program   the executable with its libraries; those of its objects that have been looked at
 *                  already are changed
 * @param functions what the object is to find in place of the dynamic linker's, up to {NULL, NULL}
 *
 * @return NULL, or what is wrong
 */
const char *mpix_ranks_references_find(mpix_ranks_object_t *object, const mpix_ranks_set_t *program,
                                       const mpix_ranks_function_t *functions);

#endif /* MPIX_RANKS_REFERENCES_H */
