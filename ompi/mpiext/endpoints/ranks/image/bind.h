/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Pointers of objects that are loaded.
 */

#ifndef MPIX_RANKS_BIND_H
#define MPIX_RANKS_BIND_H

#include "copy.h"

/**
 * Give a rank's copies their contents and pointers, before anything of them runs.
 *
 * @param variables  of the rank, by index: their addresses; NULL: libc's
 *
 * @return NULL, or what is wrong
 */
const char *mpix_ranks_bind_copies(const mpix_rank_t *rank, const mpix_ranks_set_t *set,
                                   const mpix_ranks_loaded_t *loaded, void *const *variables);

/** Has the dynamic linker bound copies to themselves and to each other?  That it does is all that is
 * expected of its inside.  @return NULL, or what is wrong */
const char *mpix_ranks_bind_check(const mpix_ranks_set_t *set, const mpix_ranks_loaded_t *loaded);

/** mpix_ranks_bind_copies for the originals, which rank 0 uses: only handles and functions. */
const char *mpix_ranks_bind_original(const mpix_rank_t *rank, const mpix_ranks_object_t *object);

#endif /* MPIX_RANKS_BIND_H */
