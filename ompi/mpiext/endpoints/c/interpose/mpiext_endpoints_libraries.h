/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The loaded libraries of Open MPI's that the hooks lead into, and what names mean in them.
 */

#ifndef MPIEXT_ENDPOINTS_LIBRARIES_H
#define MPIEXT_ENDPOINTS_LIBRARIES_H

#include "ompi_config.h"

#include <link.h>

BEGIN_C_DECLS

#define MPIX_ENDPOINTS_LIBRARIES_MAX 4

/** A loaded library that the hooks lead into.  It stays loaded: this program's MPI runs in it. */
typedef struct mpix_endpoints_library_t {
    const char *path;
    ElfW(Addr) base;
    const ElfW(Phdr) * headers;
    int header_count;
} mpix_endpoints_library_t;

typedef struct mpix_endpoints_libraries_t {
    mpix_endpoints_library_t items[MPIX_ENDPOINTS_LIBRARIES_MAX];
    int count;
} mpix_endpoints_libraries_t;

/** Those of this program. */
void mpix_endpoints_libraries_find(mpix_endpoints_libraries_t *libraries);

/** In which of these libraries does the address lie?  @return NULL if in none */
const mpix_endpoints_library_t *mpix_endpoints_library_of(
    const mpix_endpoints_libraries_t *libraries, const void *pointer);

/** The segment of a library that an address lies in.  @return NULL if in none */
const ElfW(Phdr)
    * mpix_endpoints_library_segment(const mpix_endpoints_library_t *library, const void *pointer);

/** What a name means in them, other than ours.  @return NULL if nothing */
void *mpix_endpoints_libraries_symbol(const mpix_endpoints_libraries_t *libraries, const char *name,
                                      const void *ours);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_LIBRARIES_H */
