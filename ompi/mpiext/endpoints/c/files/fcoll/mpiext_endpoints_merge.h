/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
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

/** A position in a list. */
typedef struct mpix_endpoints_cursor_t {
    const mca_common_ompio_io_array_t *piece, *end;
    int64_t offset; /**< of what is left of the piece */
    size_t skip;    /**< bytes of the piece before that */
    int source;
} mpix_endpoints_cursor_t;

typedef struct mpix_endpoints_merge_t {
    mpix_endpoints_cursor_t *heap; /**< least offset first */
    int count;
    int64_t start, end; /**< of the part of the file that is merged */
} mpix_endpoints_merge_t;

/** A piece of one of the lists, cut to the part. */
typedef struct mpix_endpoints_part_t {
    int source;
    int64_t offset;
    char *memory;
    size_t bytes;
} mpix_endpoints_part_t;

/** @param[in] lists  at most  @return false: no memory */
bool mpix_endpoints_merge_begin(mpix_endpoints_merge_t *merge, int lists, int64_t start,
                                int64_t end);

/** Add a list.  @param[in] source  identifies its pieces */
void mpix_endpoints_merge_add(mpix_endpoints_merge_t *merge,
                              const mca_common_ompio_io_array_t *pieces, int64_t count, int source);

/** The next piece in the file.  @return false: no more */
bool mpix_endpoints_merge_next(mpix_endpoints_merge_t *merge, mpix_endpoints_part_t *part);

void mpix_endpoints_merge_end(mpix_endpoints_merge_t *merge);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_MERGE_H */
