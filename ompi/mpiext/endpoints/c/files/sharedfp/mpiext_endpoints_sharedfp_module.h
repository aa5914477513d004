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
 * Shared file pointers of endpoints: a word in memory that all members see, or that rank 0 has.
 */

#ifndef MPIEXT_ENDPOINTS_SHAREDFP_MODULE_H
#define MPIEXT_ENDPOINTS_SHAREDFP_MODULE_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** In bytes of data of the view, from its beginning. */
typedef struct mpix_endpoints_shared_word_t {
    _Atomic int64_t position;
    _Atomic int32_t users; /**< of one process */
} mpix_endpoints_shared_word_t;

/** What a handle has whose members are on several nodes. */
typedef struct mpix_endpoints_shared_far_t mpix_endpoints_shared_far_t;

/** What all members of a file share, and where this one sees it. */
typedef struct mpix_endpoints_shared_t {
    mpix_endpoints_shared_word_t *word; /**< NULL: rank 0 has it, who is asked */
    size_t mapped;                      /**< bytes; 0: members are of one process, or far */
    mpix_endpoints_shared_far_t *far;   /**< NULL: they share memory; or nothing, without a word */
} mpix_endpoints_shared_t;

/**
 * A word for all members, 0.  Collective over comm.
 *
 * @param[out] shared  neither word nor far: there can be none
 * @return OMPI_SUCCESS or an error, the same at all members
 */
int mpix_endpoints_shared_make(ompi_communicator_t *comm, mpix_endpoints_shared_t *shared);

/** It is not used any more by this member; others may. */
void mpix_endpoints_shared_end(mpix_endpoints_shared_t *shared);

/** Register files as a client of the engine, for members on several nodes.  When pml/epml registers,
 * by one thread. */
void mpix_endpoints_shared_register(const mpix_endpoints_pml_t *table);

/** What a handle has for members on several nodes, or NULL: they are not, or it could not be
 * made. */
mpix_endpoints_shared_far_t *mpix_endpoints_shared_far(const ompi_communicator_t *comm);

/** Rank 0: from now on the others may ask.  @return the word, 0, or NULL: no memory */
mpix_endpoints_shared_word_t *mpix_endpoints_shared_far_serve(mpix_endpoints_shared_far_t *far);

/** Rank 0: nobody asks any more. */
void mpix_endpoints_shared_far_end(mpix_endpoints_shared_far_t *far);

/** The others: move the pointer on.  One thread at a time.
 * @param[out] before_p  where it was
 * @return MPI_SUCCESS, or MPI_ERR_PROC_FAILED: rank 0 is lost */
int mpix_endpoints_shared_far_add(mpix_endpoints_shared_far_t *far, int64_t bytes,
                                  int64_t *before_p);

/** Has a file of endpoints a shared pointer?  If not, that is said. */
bool mpix_endpoints_shared_is_there(const ompio_file_t *file);

/** The byte of the file that the shared pointer is at, in this member's view.  Any thread. */
int mpix_endpoints_shared_byte(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE *byte_p);

/** The functions that ompio calls for shared file pointers, of files of endpoints. */
extern mca_sharedfp_base_module_t mpix_endpoints_shared_module;

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_SHAREDFP_MODULE_H */
