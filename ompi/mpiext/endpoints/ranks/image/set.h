/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Sets of objects: what is loaded together.
 */

#ifndef MPIX_RANKS_SET_H
#define MPIX_RANKS_SET_H

#include "object.h"

/** Add an object, whose file is read. @return NULL, or what is wrong; then the set is as before */
const char *mpix_ranks_set_add(mpix_ranks_set_t *set, const mpix_ranks_object_t *object,
                               const char *path);

/** The object needs that library. */
void mpix_ranks_set_need(mpix_ranks_object_t *object, mpix_ranks_needed_t needed);

/** Find the order of construction. */
void mpix_ranks_set_order(mpix_ranks_set_t *set);

/** Free all of it, but for what is loaded. */
void mpix_ranks_set_free(mpix_ranks_set_t *set);

#endif /* MPIX_RANKS_SET_H */
