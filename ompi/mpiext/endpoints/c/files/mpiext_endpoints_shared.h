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
 * Shared file pointers of endpoints: a word in memory that all members see.
 */

#ifndef MPIEXT_ENDPOINTS_SHARED_H
#define MPIEXT_ENDPOINTS_SHARED_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** What all members of a file share, and where this one sees it. */
typedef struct mpix_endpoints_shared_t {
    struct mpix_endpoints_shared_word_t *word; /**< NULL: they share no memory */
    size_t mapped;                             /**< bytes; 0: members are of one process */
} mpix_endpoints_shared_t;

/** In bytes of data of the view, from its beginning. */
typedef struct mpix_endpoints_shared_word_t {
    _Atomic int64_t position;
    _Atomic int32_t users; /**< of one process */
} mpix_endpoints_shared_word_t;

/**
 * A word for all members, 0.  Collective over comm.
 *
 * @param[out] shared  word is NULL where members are on several nodes
 * @return OMPI_SUCCESS or an error, the same at all members
 */
int mpix_endpoints_shared_make(ompi_communicator_t *comm, mpix_endpoints_shared_t *shared);

/** It is not used any more by this member; others may. */
void mpix_endpoints_shared_end(mpix_endpoints_shared_t *shared);

/** Has a file of endpoints a shared pointer?  If not, that is said. */
bool mpix_endpoints_shared_is_there(const ompio_file_t *file);

/** The functions that ompio calls for shared file pointers, of files of endpoints. */
extern mca_sharedfp_base_module_t mpix_endpoints_shared_module;

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_SHARED_H */
