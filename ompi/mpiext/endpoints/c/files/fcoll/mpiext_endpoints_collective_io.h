/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A collective read or write.
 */

#ifndef MPIEXT_ENDPOINTS_COLLECTIVE_IO_H
#define MPIEXT_ENDPOINTS_COLLECTIVE_IO_H

#include "ompi_config.h"

#include "../../base/base.h"
#include "../members/members.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Values of a member for the reduction before data are moved; then the maxima over all members. */
enum {
    MPIX_ENDPOINTS_REDUCED_ERROR,       /**< an MPI class, or MPI_SUCCESS */
    MPIX_ENDPOINTS_REDUCED_FALLBACK,    /**< ompio's component must do it */
    MPIX_ENDPOINTS_REDUCED_CALLS,       /**< of the system for own pieces; 0: they are cheap */
    MPIX_ENDPOINTS_REDUCED_BYTES,       /**< of the member */
    MPIX_ENDPOINTS_REDUCED_INDEPENDENT, /**< no two-phase I/O: pieces are not in order, or there
                                         * are no messages */
    MPIX_ENDPOINTS_REDUCED_START,       /**< of the pieces in the file, negative */
    MPIX_ENDPOINTS_REDUCED_END,         /**< behind the pieces */
    MPIX_ENDPOINTS_REDUCED_COUNT
};

/** One member's part of a collective read or write, on its stack. */
typedef struct mpix_endpoints_collective_io_t {
    ompio_file_t *file;
    bool writes;
    int64_t reduced[MPIX_ENDPOINTS_REDUCED_COUNT];
    mca_common_ompio_io_array_t *pieces;
    int count;
    mpix_endpoints_local_view_t view;
    struct {
        OMPI_MPI_OFFSET_TYPE offset;
        size_t total, position;
        int index;
    } pointer; /**< the file's, as it was before */
} mpix_endpoints_collective_io_t;

/**
 * Find the pieces, and publish them to the members of this process; set this member's values of the
 * reduction.  Local.  Moves the file pointer.
 *
 * The caller reduces the values next, in any case.
 */
void mpix_endpoints_collective_io_begin(mpix_endpoints_collective_io_t *collective,
                                        ompio_file_t *file, bool writes, const void *buffer,
                                        mpix_endpoints_io_count_t count, ompi_datatype_t *datatype);

/**
 * The values have been reduced: read or write, if there is no error.  Returns when no member uses
 * the buffer any more.
 *
 * @param[in]  rc          OMPI_SUCCESS; or the error of all members: nothing is moved
 * @param[out] file_end_p  where reads have found the end of the file, or INT64_MAX
 * @return OMPI_SUCCESS or an error, of this member
 */
int mpix_endpoints_collective_io_end(mpix_endpoints_collective_io_t *collective, int rc,
                                     int64_t *file_end_p);

/** Set the status, and free what the call has.
 * @param[in]  file_end  the lowest one of all members
 * @param[out] status    bytes, if not MPI_STATUS_IGNORE */
void mpix_endpoints_collective_io_status(mpix_endpoints_collective_io_t *collective,
                                         int64_t file_end, ompi_status_public_t *status);

/** In its place, before ompio's component: set the file pointer back, free what the call has. */
void mpix_endpoints_collective_io_undo(mpix_endpoints_collective_io_t *collective);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_COLLECTIVE_IO_H */
