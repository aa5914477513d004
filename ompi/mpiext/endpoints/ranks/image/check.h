/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Programs that cannot be copied are refused before MPI begins.
 */

#ifndef MPIX_RANKS_CHECK_H
#define MPIX_RANKS_CHECK_H

#include "private_libraries.h"

/** Read the executable and its private libraries, and prepare copies; ends the process with a text
 * where that is not possible. */
void mpix_ranks_check(const mpix_ranks_libraries_t *libraries,
                      const mpix_ranks_function_t *functions, mpix_ranks_set_t *set);

#endif /* MPIX_RANKS_CHECK_H */
