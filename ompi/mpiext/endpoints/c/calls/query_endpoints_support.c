/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Query_endpoints_support: will MPIX_Comm_create_endpoints work in this run?
 *
 * Tests: create_errors (unselected), level_low
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "calls.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "opal/mca/threads/thread_usage.h"

bool mpix_endpoints_call_can_create(void)
{
    return NULL != mpix_endpoints_table() && mpix_endpoints_hooks_in_force();
}

int mpix_endpoints_call_query(int *flag)
{
    if (NULL == flag) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_ARG, "MPIX_Query_endpoints_support");
    }
    /* Not ompi_mpi_thread_multiple, which MPI_T_init_thread changes. */
    *flag = opal_using_threads() && mpix_endpoints_call_can_create();
    return MPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Query_endpoints_support(int *flag)
    __attribute__((alias("mpix_endpoints_call_query")));

MPIX_ENDPOINTS_EXPORT int MPIX_Query_endpoints_support(int *flag)
    __attribute__((weak, alias("mpix_endpoints_call_query")));
