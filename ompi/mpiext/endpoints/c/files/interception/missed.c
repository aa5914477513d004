/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collective calls that a member has missed in a call of ompio's that all members make.
 *
 * Opening a file, and giving it a view, ompio returns for reasons of one member (the folder that
 * the file is in is gone; no memory for a list) before the collective calls of this library, where
 * the others wait.  In an opening it even forgets that a view has failed.  So the thread notes how
 * far it has come (stage.c), and makes the calls that it has missed afterwards.
 *
 * In between ompio has collective calls of its own: for how views are cut, and more where ranks are
 * grouped in another way than by default (io_ompio_grouping_option).  A member that returns before
 * those, for want of memory, is still waited for.
 *
 * Tests: file_errors, file_nomem
 */

#include "ompi_config.h"

#include "../fcoll/fcoll.h"
#include "../members/members.h"
#include "interception.h"

#if MPIX_ENDPOINTS_FILES

/** ompio initializes types late, and closing takes NULL for a type. */
static void missed_reset_types(ompio_file_t *file)
{
    ompi_datatype_t **types[] = {&file->f_etype, &file->f_filetype, &file->f_orig_filetype};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        if (NULL == *types[i]) {
            *types[i] = MPI_DATATYPE_NULL;
        }
    }
}

int mpix_endpoints_missed_in_open(ompi_file_t *handle, int rc)
{
    ompio_file_t *file = mpix_endpoints_ompio_file(handle);

    if (MPIX_ENDPOINTS_STAGE_NONE == mpix_endpoints_stage()) {
        missed_reset_types(file);
        /* No member has a communicator of the file if this one has none. */
        if (NULL != file->f_comm && mpix_endpoints_is_endpoint_comm(file->f_comm)) {
            rc = mpix_endpoints_open_select_fbtl(file, rc);
        }
    } else if (MPIX_ENDPOINTS_STAGE_FBTL == mpix_endpoints_stage() && OMPI_SUCCESS == rc) {
        /* Otherwise the reduction of this stage has failed, at all members. */
        rc = mpix_endpoints_fcoll_module_select(file, OMPI_ERR_OUT_OF_RESOURCE);
    }
    mpix_endpoints_stage_end(); /* a later seek has nothing to catch up with */
    return rc;
}

int mpix_endpoints_missed_before_open(ompi_communicator_t *comm, int rc)
{
    ompio_file_t file = {.f_rank = ompi_comm_rank(comm), .f_size = ompi_comm_size(comm), .fd = -1};

    if (OMPI_SUCCESS != ompi_comm_dup(comm, &file.f_comm)) {
        return rc;
    }
    rc = mpix_endpoints_open_select_fbtl(&file, rc);
    (void) mpix_endpoints_reduce_error(file.f_comm,
                                       OMPI_SUCCESS); /* as all members do when they close */
    (void) ompi_comm_free(&file.f_comm);
    mpix_endpoints_stage_end();
    return rc;
}

int mpix_endpoints_missed_in_view(ompio_file_t *file, int rc)
{
    return MPIX_ENDPOINTS_STAGE_NONE == mpix_endpoints_stage() && OMPI_SUCCESS != rc
               ? mpix_endpoints_fcoll_module_select(file, rc)
               : rc;
}

#endif
