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
 * What seam_plt.c and seam_enter.c share: the libraries, and which of their functions to enter.
 */

#ifndef MPIEXT_ENDPOINTS_SEAM_ENTER_H
#define MPIEXT_ENDPOINTS_SEAM_ENTER_H

#include "ompi_config.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

BEGIN_C_DECLS

#define MPIX_ENDPOINTS_LIBRARIES_MAX 4

/** A loaded library that the seams lead into.  It stays loaded: this program's MPI runs in it. */
typedef struct mpix_endpoints_library_t {
    const char *path;
    ElfW(Addr) base;
    const ElfW(Phdr) *headers;
    int header_count;
} mpix_endpoints_library_t;

typedef struct mpix_endpoints_libraries_t {
    mpix_endpoints_library_t items[MPIX_ENDPOINTS_LIBRARIES_MAX];
    int count;
} mpix_endpoints_libraries_t;

/** In which of these libraries does the address lie?  @return NULL if in none */
const mpix_endpoints_library_t *mpix_endpoints_library_of(
    const mpix_endpoints_libraries_t *libraries, const void *pointer);

/** A function that shall be entered. */
typedef struct mpix_endpoints_enter_t {
    const char *name;
    const void *ours;
    void *definition;                        /**< in a library of Open MPI's */
    const mpix_endpoints_library_t *library; /**< which one */
    _Atomic(void *) *original;               /**< where ours finds what it stands before */
    bool required;
    bool *entered;                           /**< set if it has been */
} mpix_endpoints_enter_t;

/**
 * Enter functions of Open MPI's libraries, so that all calls of them come to ours.  All required
 * ones or none, as far as can be foreseen; the others if they can be.
 *
 * While MPI is being initialized, by the thread that does it: see seam_enter.c.
 *
 * @param[out] problem  why a required one was not
 *
 * @return false: a required one was not
 */
bool mpix_endpoints_enter(const mpix_endpoints_enter_t *wanted, int count, char *problem,
                          size_t length);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_SEAM_ENTER_H */
