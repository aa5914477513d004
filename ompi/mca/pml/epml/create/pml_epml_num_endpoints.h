/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How many endpoints there may be: pml_epml_num_endpoints.c.
 */

#ifndef MCA_PML_EPML_NUM_ENDPOINTS_H
#define MCA_PML_EPML_NUM_ENDPOINTS_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"

BEGIN_C_DECLS

/** number of mpix_endpoints_pml_t, which has the contract. */
void mca_pml_epml_num_endpoints(ompi_communicator_t *parent, int *optimal, int *maximum);

END_C_DECLS

#endif /* MCA_PML_EPML_NUM_ENDPOINTS_H */
