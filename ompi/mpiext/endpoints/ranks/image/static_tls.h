/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Room for thread-local variables of private libraries.
 */

#ifndef MPIX_RANKS_STATIC_TLS_H
#define MPIX_RANKS_STATIC_TLS_H

#include "object.h"

/** Start the process anew if the dynamic linker has too little room for copies of the set for so
 * many ranks; returns if it has enough. */
void mpix_ranks_static_tls_provide(const mpix_ranks_set_t *set, int ranks, char **argv);

#endif /* MPIX_RANKS_STATIC_TLS_H */
