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
 * A collective read or write, by the members of each process together.
 */

#ifndef MPIEXT_ENDPOINTS_COLLECTIVE_IO_H
#define MPIEXT_ENDPOINTS_COLLECTIVE_IO_H

#include "ompi_config.h"

#include "../../base/base.h"
#include "../members/members.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** What a member says when all meet, and then the greatest of what all have said. */
enum {
    MPIX_ENDPOINTS_SAYS_ERROR,  /**< an MPI class, or MPI_SUCCESS */
    MPIX_ENDPOINTS_SAYS_OMPIOS, /**< it has to be done by ompio's own component */
    MPIX_ENDPOINTS_SAYS_CALLS,  /**< of the system that it would take by itself; 0: not dear */
    MPIX_ENDPOINTS_SAYS_BYTES,  /**< that it moves */
    MPIX_ENDPOINTS_SAYS_ALONE,  /**< nothing can be exchanged: a piece begins before the one before
                                 * it has ended, or there are no messages */
    MPIX_ENDPOINTS_SAYS_START,  /**< of its pieces in the file, negative */
    MPIX_ENDPOINTS_SAYS_END,    /**< behind them */
    MPIX_ENDPOINTS_SAYS_COUNT
};

/** One member's part of a collective read or write, on its stack. */
typedef struct mpix_endpoints_together_t {
    ompio_file_t *file;
    bool writes;
    int64_t says[MPIX_ENDPOINTS_SAYS_COUNT];
    mca_common_ompio_io_array_t *pieces;
    int count;
    mpix_endpoints_crew_view_t view;
    struct {
        OMPI_MPI_OFFSET_TYPE offset;
        size_t total, position;
        int index;
    } pointer; /**< the file's, as it was before */
} mpix_endpoints_together_t;

/**
 * Find the pieces, and what this member says, and show them to the others of this process; local.
 * Moves the file's pointer.
 *
 * Then the members are to meet, whatever it says.
 */
void mpix_endpoints_together_begin(mpix_endpoints_together_t *together, ompio_file_t *file,
                                   bool writes, const void *buffer, mpix_endpoints_io_count_t count,
                                   ompi_datatype_t *datatype);

/**
 * The members have met: read or write, if it has gone well.  Returns when nobody uses the buffer
 * any more.
 *
 * @param[in]  rc          what all members have agreed on; an error: not begun
 * @param[out] file_end_p  where reading has found the file's end, or INT64_MAX
 * @return OMPI_SUCCESS or an error, of this member
 */
int mpix_endpoints_together_end(mpix_endpoints_together_t *together, int rc, int64_t *file_end_p);

/** And it is over.
 * @param[in]  file_end  the least one that any member has found
 * @param[out] status    how many bytes, if not MPI_STATUS_IGNORE */
void mpix_endpoints_together_status(mpix_endpoints_together_t *together, int64_t file_end,
                                    ompi_status_public_t *status);

/** In its place, if it is ompio's: as if it had not been begun. */
void mpix_endpoints_together_undo(mpix_endpoints_together_t *together);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_COLLECTIVE_IO_H */
