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

#ifndef MPIEXT_ENDPOINTS_TOGETHER_H
#define MPIEXT_ENDPOINTS_TOGETHER_H

#include "ompi_config.h"

#include "../base/base.h"
#include "mpiext_endpoints_crew.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** One member's part of a collective read or write, on its stack. */
typedef struct mpix_endpoints_together_t {
    ompio_file_t *file;
    bool writes;
    bool is_ompios; /**< it has to be done by ompio's own component; of all members, if of one */
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
 * Find the pieces, and show them to the others of this process; local.  Moves the file's pointer.
 *
 * @return OMPI_SUCCESS or an error.  Whatever it is, the members are to meet now
 */
int mpix_endpoints_together_begin(mpix_endpoints_together_t *together, ompio_file_t *file,
                                  bool writes, const void *buffer, mpix_endpoints_io_count_t count,
                                  ompi_datatype_t *datatype);

/**
 * The members have met: read or write, if it has gone well.  Returns when nobody uses the buffer any
 * more.
 *
 * @param[in] rc      what all members have agreed on; an error: not begun
 * @param[out] status  how many bytes, if not MPI_STATUS_IGNORE
 * @return OMPI_SUCCESS or an error, of this member
 */
int mpix_endpoints_together_end(mpix_endpoints_together_t *together, int rc,
                                ompi_status_public_t *status);

/** In its place, if it is ompio's: as if it had not been begun. */
void mpix_endpoints_together_undo(mpix_endpoints_together_t *together);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_TOGETHER_H */
