/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reductions over the members of a communicator of endpoints: all of them get the same result.
 * Used by collective calls that fail at all members or at none.
 */

#ifndef MPIEXT_ENDPOINTS_REDUCE_H
#define MPIEXT_ENDPOINTS_REDUCE_H

#include "ompi_config.h"

#include <stdint.h>

#include "ompi/communicator/communicator.h"

BEGIN_C_DECLS

/**
 * The maximum of each of some values over all members.  Collective; the endpoint's own thread.
 *
 * @param[in,out] values  this member's, then the maxima
 * @return OMPI_SUCCESS, or an error, as MPI_Allreduce has it
 */
int mpix_endpoints_reduce_max(ompi_communicator_t *comm, int64_t *values, int count);

/** One error for all members: the one with the greatest class.  Collective.
 * @param[in] error  this member's, a code of Open MPI's or a class of MPI's; or OMPI_SUCCESS
 * @return an MPI class, MPI_SUCCESS, or the error of the reduction */
int mpix_endpoints_reduce_error(ompi_communicator_t *comm, int error);

/**
 * Do all members have the same value?  Collective.
 *
 * @param[in] error  what is wrong with this member's value, an MPI class; or MPI_SUCCESS
 * @return OMPI_SUCCESS; the greatest of the members' errors; MPI_ERR_NOT_SAME; or the error of the
 *         reduction
 */
int mpix_endpoints_reduce_same(ompi_communicator_t *comm, int64_t value, int error);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_REDUCE_H */
