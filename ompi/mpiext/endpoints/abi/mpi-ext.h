/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * mpi-ext.h of the MPI ABI, for which Open MPI itself has no extensions.
 */

#ifndef MPIX_ENDPOINTS_ABI_MPI_EXT_H
#define MPIX_ENDPOINTS_ABI_MPI_EXT_H

#define OMPI_HAVE_MPI_EXT 1
#define OMPI_HAVE_MPI_EXT_ENDPOINTS 1

#include "../mpiext/mpiext_endpoints_c.h"

#endif /* MPIX_ENDPOINTS_ABI_MPI_EXT_H */
