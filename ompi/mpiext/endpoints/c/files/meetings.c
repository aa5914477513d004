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
 * Where a member leaves a call of ompio's that all make.
 *
 * Opening a file, and giving it a view, ompio goes home for reasons of one member's (the folder it
 * is in is gone; no memory for a list) before it comes to where all members meet, and the others
 * wait there. A failing view it even forgets, in an opening.  So the thread notes how far it has
 * come, and who has missed a meeting comes to it afterwards.
 *
 * In between ompio sums up how views are cut, and where ranks are grouped in another way than by
 * the default (io_ompio_grouping_option) has more collectives of its own: a member that leaves
 * before those, for want of memory, is still waited for.
 *
 * Tests: file_errors, file_nomem
 */

#include "ompi_config.h"

#include "mpiext_endpoints_agreed.h"
#include "mpiext_endpoints_handle.h"
#include "mpiext_endpoints_meetings.h"
#include "mpiext_endpoints_members.h"
#include "mpiext_endpoints_reduce.h"

#if MPIX_ENDPOINTS_FILES

static _Thread_local mpix_endpoints_meeting_t reached;

void mpix_endpoints_meetings_begin(void)
{
    reached = MPIX_ENDPOINTS_MEETING_NONE;
}

void mpix_endpoints_meetings_reached(mpix_endpoints_meeting_t meeting)
{
    reached = meeting;
}

/** Before it has set its first values ompio has NULL for types, which closing takes for one. */
static void forget_types(ompio_file_t *file)
{
    ompi_datatype_t **types[] = {&file->f_etype, &file->f_filetype, &file->f_orig_filetype};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        if (NULL == *types[i]) {
            *types[i] = MPI_DATATYPE_NULL;
        }
    }
}

void mpix_endpoints_meetings_catch_up(ompio_file_t *file)
{
    if (MPIX_ENDPOINTS_MEETING_CHOSEN == reached) {
        (void) mpix_endpoints_members_collective(file, OMPI_ERR_OUT_OF_RESOURCE);
    }
}

int mpix_endpoints_meetings_open(ompi_file_t *handle, int rc)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);

    if (MPIX_ENDPOINTS_MEETING_NONE == reached) {
        forget_types(file);
        /* Without a communicator of the file's nobody has one. */
        if (NULL != file->f_comm && mpix_endpoints_is_endpoint_comm(file->f_comm)) {
            rc = mpix_endpoints_files_chosen(file, rc);
        }
    } else if (MPIX_ENDPOINTS_MEETING_CHOSEN == reached && OMPI_SUCCESS == rc) {
        /* Otherwise those that have not come further have met with an error, of which all know. */
        rc = mpix_endpoints_members_collective(file, OMPI_ERR_OUT_OF_RESOURCE);
    }
    reached = MPIX_ENDPOINTS_MEETING_NONE; /* a later seek has nothing to catch up with */
    return rc;
}

int mpix_endpoints_meetings_without(ompi_communicator_t *comm, int rc)
{
    ompio_file_t file = {.f_rank = ompi_comm_rank(comm), .f_size = ompi_comm_size(comm), .fd = -1};

    if (OMPI_SUCCESS != ompi_comm_dup(comm, &file.f_comm)) {
        return rc;
    }
    rc = mpix_endpoints_files_chosen(&file, rc);
    (void) mpix_endpoints_reduce_error(file.f_comm, OMPI_SUCCESS); /* as all do when it is closed */
    (void) ompi_comm_free(&file.f_comm);
    return rc;
}

int mpix_endpoints_meetings_view(ompio_file_t *file, int rc)
{
    return MPIX_ENDPOINTS_MEETING_NONE == reached && OMPI_SUCCESS != rc
               ? mpix_endpoints_members_collective(file, rc)
               : rc;
}

#endif
