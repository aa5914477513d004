/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_num_endpoints: how many members of a communicator are in this process?  Names tell.
 *
 * Tests: static_world
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../base/base.h"
#include "calls.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"

/** Is a member in this process?  Names of another job's processes may be alike. */
static bool is_here(opal_process_name_t name)
{
    const opal_process_name_t own = opal_process_info.my_name;

    return own.jobid == name.jobid && own.vpid == name.vpid % mpix_endpoints_job_size();
}

int mpix_endpoints_call_num_endpoints(MPI_Comm comm, int *num_ep, int *index)
{
    static const char function_name[] = "MPIX_Comm_num_endpoints";
    int count = 0, before = 0;

    if (0 == ompi_instance_count || ompi_comm_invalid(comm)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(0 == ompi_instance_count ? MPI_ERR_OTHER
                                                                        : MPI_ERR_COMM,
                                               function_name);
    }
    if (NULL == num_ep || NULL == index) {
        return OMPI_ERRHANDLER_INVOKE(comm, MPI_ERR_ARG, function_name);
    }
    for (int i = 0; i < ompi_comm_size(comm); ++i) {
        if (is_here(ompi_group_get_proc_name(comm->c_local_group, i))) {
            before += i < ompi_comm_rank(comm) ? 1 : 0;
            ++count;
        }
    }
    *num_ep = count;
    *index = before;
    return MPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Comm_num_endpoints(MPI_Comm comm, int *num_ep, int *index)
    __attribute__((alias("mpix_endpoints_call_num_endpoints")));

MPIX_ENDPOINTS_EXPORT int MPIX_Comm_num_endpoints(MPI_Comm comm, int *num_ep, int *index)
    __attribute__((weak, alias("mpix_endpoints_call_num_endpoints")));
