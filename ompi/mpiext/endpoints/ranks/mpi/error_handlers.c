/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Errors of calls without a communicator (on types, operations, groups, infos) are raised by libmpi
 * on the process's MPI_COMM_WORLD or MPI_COMM_SELF, which no rank has.  The handler of these two asks
 * which rank the calling thread belongs to, and raises the error on the rank's own.
 *
 * Before MPI_Init and after MPI_Finalize of a rank its handles are invalid, so calls with them come here,
 * too, and end the job.
 *
 * Tests: ranks_mpi, ranks_exit
 */

#define _GNU_SOURCE

#include "ompi_config.h"

#include "state.h"

#include <stdarg.h>

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errhandler.h"

/** The process's handlers as they were: for threads of no rank. */
static ompi_errhandler_t *of_world, *of_self;

/** libmpi tells a handler the function's name. */
static void raise_on_rank(MPI_Comm *comm, int *code, ...)
{
    const bool is_world = &ompi_mpi_comm_world.comm == *comm;
    mpix_rank_t *rank = mpix_ranks_self;
    const char *function;
    va_list list;

    va_start(list, code);
    function = va_arg(list, const char *);
    va_end(list);
    if (NULL == rank) {
        (void) ompi_errhandler_invoke(is_world ? of_world : of_self, *comm,
                                      OMPI_ERRHANDLER_TYPE_COMM, *code, function);
        return;
    }
    mpix_ranks_mpi_must_run(rank, function);
    (void) OMPI_ERRHANDLER_INVOKE(is_world ? rank->world : rank->self, *code, function);
}

int mpix_ranks_mpi_errors_begin(mpix_rank_t *ranks, int count)
{
    MPI_Errhandler handler;
    int rc = PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world);

    if (MPI_SUCCESS == rc) {
        rc = PMPI_Comm_get_errhandler(MPI_COMM_SELF, &of_self);
    }
    for (int i = 0; MPI_SUCCESS == rc && i < count; ++i) {
        rc = PMPI_Comm_set_errhandler(ranks[i].world, of_world);
        if (MPI_SUCCESS == rc) {
            rc = PMPI_Comm_set_errhandler(ranks[i].self, of_self);
        }
    }
    if (MPI_SUCCESS != rc
        || MPI_SUCCESS != (rc = PMPI_Comm_create_errhandler(raise_on_rank, &handler))) {
        return rc;
    }
    rc = PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (MPI_SUCCESS == rc) {
        rc = PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    }
    (void) PMPI_Errhandler_free(&handler);
    return rc;
}
