/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory that copies have in common: what nobody writes is the same in all of them.
 */

#ifndef MPIX_RANKS_SHARE_H
#define MPIX_RANKS_SHARE_H

#include "copy.h"

/** Map a loaded copy's code and constants from one file for all ranks, and give back what they take
 * in its own file.  Where that fails the copy stays as it is. */
void mpix_ranks_share(mpix_ranks_object_t *object, const mpix_ranks_loaded_t *loaded);

#endif /* MPIX_RANKS_SHARE_H */
