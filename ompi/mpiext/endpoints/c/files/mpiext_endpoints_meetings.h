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
 * Where a member leaves a call of ompio's that all make: meetings.c.
 */

#ifndef MPIEXT_ENDPOINTS_MEETINGS_H
#define MPIEXT_ENDPOINTS_MEETINGS_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

#if MPIX_ENDPOINTS_FILES

/** Places at which all members meet, in the order in which ompio comes there. */
typedef enum mpix_endpoints_meeting_t {
    MPIX_ENDPOINTS_MEETING_NONE,
    MPIX_ENDPOINTS_MEETING_CHOSEN,    /**< mpix_endpoints_files_chosen */
    MPIX_ENDPOINTS_MEETING_COLLECTIVE /**< mpix_endpoints_members_collective */
} mpix_endpoints_meeting_t;

/** The calling thread goes into ompio with a call that all members make. */
void mpix_endpoints_meetings_begin(void);

/** It is about to meet the others. */
void mpix_endpoints_meetings_reached(mpix_endpoints_meeting_t meeting);

/**
 * It is back, from opening a file: where it has not come to what the others wait at, it meets them
 * there now, with its error.
 *
 * @param[in] rc  ompio's
 * @return OMPI_SUCCESS or an error: of all members alike, unless they had met with success */
int mpix_endpoints_meetings_open(ompi_file_t *handle, int rc);

/** In an opening, before another meeting: to that about who reads and writes, if this thread has
 * missed it.  (ompio forgets that a view has failed, and sets the shared pointer of a file that is
 * appended to.) */
void mpix_endpoints_meetings_catch_up(ompio_file_t *file);

/**
 * It has not even come to have a handle of ompio's: it does what the others do, with its error.
 *
 * @param[in] comm  that the file is opened on
 * @param[in] rc    not OMPI_SUCCESS */
int mpix_endpoints_meetings_without(ompi_communicator_t *comm, int rc);

/** Likewise, from a new view of an open one. */
int mpix_endpoints_meetings_view(ompio_file_t *file, int rc);

#endif

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_MEETINGS_H */
