/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Query_endpoints_number: how many endpoints could a process have?
 *
 * Tests: static_number, static_told
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../interpose/interpose.h"
#include "../base/base.h"
#include "calls.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"

int mpix_endpoints_call_number(MPI_Comm parent, int *optimal, int *maximum)
{
    static const char function_name[] = "MPIX_Query_endpoints_number";
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    if (0 == ompi_instance_count || ompi_comm_invalid(parent)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(0 == ompi_instance_count ? MPI_ERR_OTHER
                                                                        : MPI_ERR_COMM,
                                               function_name);
    }
    if (NULL == optimal || NULL == maximum) {
        return OMPI_ERRHANDLER_INVOKE(parent, MPI_ERR_ARG, function_name);
    }
    *optimal = *maximum = 0;
    if (mpix_endpoints_call_can_create()) {
        const int told = mpix_endpoints_most_told();

        table->number(parent, optimal, maximum);
        *maximum = told < *maximum ? told : *maximum;
        *optimal = told < *optimal ? told : *optimal;
    }
    return MPI_SUCCESS;
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Query_endpoints_number(MPI_Comm parent, int *optimal, int *maximum)
    __attribute__((alias("mpix_endpoints_call_number")));

MPIX_ENDPOINTS_EXPORT int MPIX_Query_endpoints_number(MPI_Comm parent, int *optimal, int *maximum)
    __attribute__((weak, alias("mpix_endpoints_call_number")));
