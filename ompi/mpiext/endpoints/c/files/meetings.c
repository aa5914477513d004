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
 * Opening a file, and giving it a view, ompio goes home for reasons of one member's (the folder it is in
 * is gone; no memory for a list) before it comes to where all members meet, and the others wait there.
 * A failing view it even forgets, in an opening.  So the thread notes how far it has come, and who has
 * missed a meeting comes to it afterwards.
 *
 * Where ranks are grouped in another way than by the default (io_ompio_grouping_option), ompio has
 * collectives of its own in between, and members may still wait.
 *
 * Tests: file_errors, file_nomem
 */

#include "ompi_config.h"

#include "mpiext_endpoints_agreed.h"
#include "mpiext_endpoints_members.h"
#include "mpiext_endpoints_meetings.h"

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

int mpix_endpoints_meetings_open(ompi_file_t *handle, int rc)
{
    ompio_file_t *file = &((mca_common_ompio_data_t *) handle->f_io_selected_data)->ompio_fh;

    if (MPIX_ENDPOINTS_MEETING_NONE == reached) {
        forget_types(file);
        /* Without a communicator of the file's nobody has one. */
        return NULL != file->f_comm && mpix_endpoints_is_endpoint_comm(file->f_comm)
                   ? mpix_endpoints_files_chosen(file, rc)
                   : rc;
    }
    /* Those that did not come further have met with an error, of which all know. */
    return MPIX_ENDPOINTS_MEETING_CHOSEN == reached && OMPI_SUCCESS == rc
               ? mpix_endpoints_members_collective(file, OMPI_ERR_OUT_OF_RESOURCE)
               : rc;
}

int mpix_endpoints_meetings_view(ompio_file_t *file, int rc)
{
    return MPIX_ENDPOINTS_MEETING_NONE == reached && OMPI_SUCCESS != rc
               ? mpix_endpoints_members_collective(file, rc)
               : rc;
}

#endif
