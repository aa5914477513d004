/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What endpoint communicators do not offer yet: windows.  (Connections to other jobs:
 * seam_spawn.c.)
 *
 * libmpi would go ahead and crash or hang, having components at work that look for processes where
 * endpoints are.  Here it is told at the door; every member gets the error without communication.
 *
 * Tests: comm_refused
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "seams.h"

#include "ompi/communicator/communicator.h"
#include "ompi/win/win.h"

/**
 * Must a call on comm be refused?  Then the user is told why, once per process and kind: the MPI
 * functions for windows replace every error by MPI_ERR_WIN, which alone says nothing.  It has been
 * said before anybody gets the error, which may end the job.
 */
static bool refuse(const ompi_communicator_t *comm, const char *topic, bool *said)
{
    if (OPAL_LIKELY(!mpix_endpoints_is_endpoint_comm(comm))) {
        return false;
    }
    mpix_endpoints_show_help_once(topic, said);
    return true;
}

static bool said_window;

static const char windows[] = "no windows";

int MPIX_ENDPOINTS_SEAM(ompi_win_create)(void *base, size_t size,
                                         mpix_endpoints_disp_unit_t disp_unit,
                                         ompi_communicator_t *comm, opal_info_t *info,
                                         ompi_win_t **newwin)
{
    if (refuse(comm, windows, &said_window)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_win_create)(base, size, disp_unit, comm, info, newwin);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_win_create);

int MPIX_ENDPOINTS_SEAM(ompi_win_allocate)(size_t size, mpix_endpoints_disp_unit_t disp_unit,
                                           opal_info_t *info, ompi_communicator_t *comm,
                                           void *baseptr, ompi_win_t **newwin)
{
    if (refuse(comm, windows, &said_window)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_win_allocate)(size, disp_unit, info, comm, baseptr, newwin);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_win_allocate);

int MPIX_ENDPOINTS_SEAM(ompi_win_allocate_shared)(size_t size, mpix_endpoints_disp_unit_t disp_unit,
                                                  opal_info_t *info, ompi_communicator_t *comm,
                                                  void *baseptr, ompi_win_t **newwin)
{
    if (refuse(comm, windows, &said_window)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_win_allocate_shared)(size, disp_unit, info, comm, baseptr,
                                                             newwin);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_win_allocate_shared);

int MPIX_ENDPOINTS_SEAM(ompi_win_create_dynamic)(opal_info_t *info, ompi_communicator_t *comm,
                                                 ompi_win_t **newwin)
{
    if (refuse(comm, windows, &said_window)) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    return MPIX_ENDPOINTS_ORIGINAL(ompi_win_create_dynamic)(info, comm, newwin);
}
MPIX_ENDPOINTS_SEAM_DEFINED(ompi_win_create_dynamic);
