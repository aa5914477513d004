/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Comm_merge: pml_epml_merge.c.
 */

#ifndef MCA_PML_EPML_MERGE_H
#define MCA_PML_EPML_MERGE_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/ep/common_ep_link.h"

BEGIN_C_DECLS

/** See mpix_endpoints_pml_t. */
int mca_pml_epml_comm_merge(ompi_communicator_t *const comms[], int count,
                            mpix_endpoints_error_t local_error, ompi_communicator_t **newcomm,
                            mpix_endpoints_error_t *error);

END_C_DECLS

#endif /* MCA_PML_EPML_MERGE_H */
