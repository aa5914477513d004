/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Coalesced extents: pieces of memory that are adjacent in a file are read or written by one call
 * of the system, without a copy.
 */

#ifndef MPIEXT_ENDPOINTS_EXTENTS_H
#define MPIEXT_ENDPOINTS_EXTENTS_H

#include "ompi_config.h"

#include <sys/uio.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Most pieces of an extent: the system's limit. */
#    define MPIX_ENDPOINTS_EXTENT_PIECES 1024

/** A gap of at most so many bytes is read over; it is a piece, too. */
#    define MPIX_ENDPOINTS_EXTENT_GAP 4096

/** An extent that grows; for a thread's stack. */
typedef struct mpix_endpoints_extent_t {
    ompio_file_t *file;
    bool writes;
    bool locks;       /**< lock each part of the file, as ompio does */
    int error;        /**< an MPI class, after which nothing is moved; or MPI_SUCCESS */
    int64_t file_end; /**< the lowest offset at which a read has found the end of the file */
    int64_t start;    /**< in the file */
    int64_t bytes;
    int count;
    struct iovec pieces[MPIX_ENDPOINTS_EXTENT_PIECES];
    char *gap; /**< receives the bytes of gaps, which are discarded */
} mpix_endpoints_extent_t;

/** Is a file read and written by fbtl/posix, so that its calls of the system can be made here? */
bool mpix_endpoints_extent_is_supported(const ompio_file_t *file);

/** Must parts of the file be locked while they are read or written?  The kernel orders all calls of
 * one node, except on NFS.
 * @param[in] is_on_node  all members of the file are on this node */
bool mpix_endpoints_extent_needs_locks(const ompio_file_t *file, bool is_on_node);

void mpix_endpoints_extent_begin(mpix_endpoints_extent_t *extent, ompio_file_t *file, bool writes,
                                 bool locks);

/** Add a piece.  Calls are few if pieces come in ascending order of their offsets. */
void mpix_endpoints_extent_add(mpix_endpoints_extent_t *extent, int64_t offset, char *memory,
                               size_t bytes);

/** Move all pieces that have been added: their memory is not used any more. */
void mpix_endpoints_extent_flush(mpix_endpoints_extent_t *extent);

/** Flush, and free what the extent has.  @return an MPI class, or MPI_SUCCESS */
int mpix_endpoints_extent_end(mpix_endpoints_extent_t *extent);

/** How many bytes of pieces are before the end of the file?  @param[in] file_end  INT64_MAX: all */
size_t mpix_endpoints_extent_count(const mca_common_ompio_io_array_t *pieces, int count,
                                   int64_t file_end);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_EXTENTS_H */
