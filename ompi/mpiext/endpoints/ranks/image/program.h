/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The executable itself, which rank 0 runs.
 */

#ifndef MPIX_RANKS_PROGRAM_H
#define MPIX_RANKS_PROGRAM_H

#include "object.h"

/** Have its code load the rank's handles. @return NULL, or what is wrong */
const char *mpix_ranks_program_lead(const mpix_rank_t *rank, mpix_ranks_object_t *program);

/** Keep its constructors and destructors from being run by libc and the dynamic linker. @return
 * likewise */
const char *mpix_ranks_program_defer(struct link_map *map);

#endif /* MPIX_RANKS_PROGRAM_H */
