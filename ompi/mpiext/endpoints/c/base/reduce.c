/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reductions over the members of a communicator: each is one allreduce of 64-bit maxima.  A minimum is the
 * maximum of negative values.
 *
 * Tests: file_errors, file_nomem, file_random, win_create_errors
 */

#include "ompi_config.h"

#include "mpiext_endpoints_reduce.h"

#include "ompi/errhandler/errcode-internal.h"
#include "ompi/op/op.h"

int mpix_endpoints_reduce_max(ompi_communicator_t *comm, int64_t *values, int count)
{
    return comm->c_coll->coll_allreduce(MPI_IN_PLACE, values, count, &ompi_mpi_int64_t.dt,
                                        &ompi_mpi_op_max.op, comm,
                                        comm->c_coll->coll_allreduce_module);
}

int mpix_endpoints_reduce_error(ompi_communicator_t *comm, int error)
{
    int64_t worst = OMPI_SUCCESS == error ? MPI_SUCCESS : ompi_errcode_get_mpi_code(error);
    const int rc = mpix_endpoints_reduce_max(comm, &worst, 1);

    return OMPI_SUCCESS == rc ? (int) worst : rc;
}

int mpix_endpoints_reduce_same(ompi_communicator_t *comm, int64_t value, int error)
{
    int64_t values[] = {error, value, -value};
    const int rc = mpix_endpoints_reduce_max(comm, values, 3);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (MPI_SUCCESS != values[0]) {
        return (int) values[0];
    }
    return values[1] == -values[2] ? OMPI_SUCCESS : MPI_ERR_NOT_SAME;
}
