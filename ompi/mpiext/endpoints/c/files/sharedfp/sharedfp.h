/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Shared file pointers, as ompio's framework sharedfp has them.
 *
 * Called by ompio, through its table, and by hooks.
 *
 * Below it: members, fbtl.  Beside it: fcoll.
 */

#ifndef MPIEXT_ENDPOINTS_FILES_SHAREDFP_LAYER_H
#define MPIEXT_ENDPOINTS_FILES_SHAREDFP_LAYER_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The word. */
typedef struct mpix_endpoints_sharedfp_word_t {
    _Atomic int64_t position; /**< in bytes of data of the view, from its beginning */
    _Atomic int32_t users;    /**< if all are of one process */
} mpix_endpoints_sharedfp_word_t;

/** Of a handle with members on several nodes: sharedfp_remote.c. */
typedef struct mpix_endpoints_sharedfp_remote_t mpix_endpoints_sharedfp_remote_t;

/** A member's view of the shared pointer of a file: by one of two ways, or neither, if there is no
 * shared pointer. */
typedef struct mpix_endpoints_sharedfp_t {
    mpix_endpoints_sharedfp_word_t *word; /**< in shared memory, or at rank 0 its own; or NULL */
    size_t mapped;                        /**< bytes of word; 0: it is not mapped */
    mpix_endpoints_sharedfp_remote_t *remote; /**< members are on several nodes; or NULL */
} mpix_endpoints_sharedfp_t;

/**
 * Make a word for all members, which is 0.  Collective over comm.
 *
 * @param[out] shared  neither word nor remote: there can be none
 * @return OMPI_SUCCESS or an error, the same at all members
 */
int mpix_endpoints_sharedfp_word_make(ompi_communicator_t *comm, mpix_endpoints_sharedfp_t *shared);

/** This member does not use it any more; others may. */
void mpix_endpoints_sharedfp_word_free(mpix_endpoints_sharedfp_t *shared);

/** Register files as a client of the engine, for members on several nodes.  When pml/epml
 * registers, by one thread. */
void mpix_endpoints_sharedfp_register(const mpix_endpoints_pml_t *table);

/** The object of a communicator with members on several nodes; NULL: they are on one, or it could
 * not be made. */
mpix_endpoints_sharedfp_remote_t *mpix_endpoints_sharedfp_remote(const ompi_communicator_t *comm);

/** Rank 0: accept requests from now on.  @return the word, which is 0; NULL: no memory */
mpix_endpoints_sharedfp_word_t *mpix_endpoints_sharedfp_remote_serve(
    mpix_endpoints_sharedfp_remote_t *remote);

/** Rank 0: there are no more requests. */
void mpix_endpoints_sharedfp_remote_end(mpix_endpoints_sharedfp_remote_t *remote);

/** The others: add to the pointer.  One thread at a time.
 * @param[out] before_p  where it was
 * @return MPI_SUCCESS, or MPI_ERR_PROC_FAILED: rank 0 is lost */
int mpix_endpoints_sharedfp_remote_add(mpix_endpoints_sharedfp_remote_t *remote, int64_t bytes,
                                       int64_t *before_p);

/** Has a file of endpoints a shared pointer?  If not, the user gets a help text, once. */
bool mpix_endpoints_sharedfp_exists(const ompio_file_t *file);

/** The byte of the file at the shared pointer, in this member's view.  Any thread. */
int mpix_endpoints_sharedfp_byte(const ompio_file_t *file, OMPI_MPI_OFFSET_TYPE *byte_p);

/** The functions that ompio calls for shared file pointers of files of endpoints. */
extern mca_sharedfp_base_module_t mpix_endpoints_sharedfp_module;

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_FILES_SHAREDFP_LAYER_H */
