/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Entering functions of libmpi, which it calls directly (enter.c).
 */

#ifndef MPIEXT_ENDPOINTS_ENTER_H
#define MPIEXT_ENDPOINTS_ENTER_H

#include "ompi_config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpiext_endpoints_libraries.h"

BEGIN_C_DECLS

/** A function that shall be entered. */
typedef struct mpix_endpoints_enter_t {
    const char *name;
    const void *ours;
    void *definition;                        /**< in a library of Open MPI's */
    const mpix_endpoints_library_t *library; /**< which one */
    _Atomic(void *) *original;               /**< where ours finds what it stands before */
    bool required;
    bool *entered; /**< set if it has been */
} mpix_endpoints_enter_t;

/**
 * Enter functions of Open MPI's libraries, so that all calls of them come to ours.  All required
 * ones or none, as far as can be foreseen; the others if they can be.
 *
 * While MPI is being initialized, by the thread that does it: see enter.c.
 *
 * @param[out] problem  why a required one was not
 *
 * @return false: a required one was not
 */
bool mpix_endpoints_enter(const mpix_endpoints_enter_t *wanted, int count, char *problem,
                          size_t length);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_ENTER_H */
