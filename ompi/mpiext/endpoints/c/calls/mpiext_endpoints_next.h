/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * What a function of MPI's that is ours stands before.
 */

#ifndef MPIEXT_ENDPOINTS_NEXT_H
#define MPIEXT_ENDPOINTS_NEXT_H

#include "ompi_config.h"

#include <stdatomic.h>

/**
 * The function of this name in whatever the program loaded behind this library.  Any thread.
 *
 * @param[in,out] found  where the caller keeps the answer, zero at first
 *
 * @return NULL if there is none
 */
void *mpix_endpoints_next_function(const char *name, _Atomic(void *) *found);

#endif /* MPIEXT_ENDPOINTS_NEXT_H */
