/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Stands in for the header of the same name that some packages of Open MPI forget to install.
 * ompi/op/op.h includes it for one macro: an int as the INTEGER of the Fortran compiler.
 */

#ifndef EP_COMPAT_FINT_2_INT_H
#define EP_COMPAT_FINT_2_INT_H

#include "mpi.h"

#define OMPI_INT_2_FINT(value) ((MPI_Fint) (value))

#endif /* EP_COMPAT_FINT_2_INT_H */
