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
 * Lists of pieces of a file, each in ascending order, as one that is.
 */

#ifndef MPIEXT_ENDPOINTS_MERGE_H
#define MPIEXT_ENDPOINTS_MERGE_H

#include "ompi_config.h"

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Where in a list we are. */
typedef struct mpix_endpoints_cursor_t {
    const mca_common_ompio_io_array_t *piece, *end;
    int64_t offset; /**< of what is left of the piece */
    size_t skip;    /**< of the piece, which is not */
    int source;
} mpix_endpoints_cursor_t;

typedef struct mpix_endpoints_merge_t {
    mpix_endpoints_cursor_t *heap; /**< least offset first */
    int count;
    int64_t start, end; /**< of the part of the file that is looked at */
} mpix_endpoints_merge_t;

/** A piece of one of the lists, or what of it lies within the part. */
typedef struct mpix_endpoints_part_t {
    int source;
    int64_t offset;
    char *memory;
    size_t bytes;
} mpix_endpoints_part_t;

/** @param[in] lists  at most  @return false: no memory */
bool mpix_endpoints_merge_begin(mpix_endpoints_merge_t *merge, int lists, int64_t start,
                                int64_t end);

/** One list more.  @param[in] source  by which its pieces are known */
void mpix_endpoints_merge_add(mpix_endpoints_merge_t *merge,
                              const mca_common_ompio_io_array_t *pieces, int64_t count, int source);

/** The next piece in the file.  @return false: no more */
bool mpix_endpoints_merge_next(mpix_endpoints_merge_t *merge, mpix_endpoints_part_t *part);

void mpix_endpoints_merge_end(mpix_endpoints_merge_t *merge);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_MERGE_H */
