/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Constructors and destructors of a rank's objects, in its thread.
 */

#ifndef MPIX_RANKS_CONSTRUCT_H
#define MPIX_RANKS_CONSTRUCT_H

#include "object.h"

/** Run the constructors of an object that lies at base. */
void mpix_ranks_construct(const mpix_ranks_object_t *object, char *base, int argc, char **argv,
                          char **envp);

/** Run its destructors, the last one first. */
void mpix_ranks_destruct(const mpix_ranks_object_t *object, char *base);

/** Give the calling thread the thread-local variables of the program's copy at base, where their
 * first values have addresses of the copy in them. */
void mpix_ranks_tls_enter(const mpix_ranks_object_t *program, char *base);

#endif /* MPIX_RANKS_CONSTRUCT_H */
