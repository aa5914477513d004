/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Losses as groups, and their acknowledgement: pml_epml_acked.c.
 */

#ifndef MCA_PML_EPML_ACKED_H
#define MCA_PML_EPML_ACKED_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** comm_failed of mpix_endpoints_pml_t. */
int mca_pml_epml_acked_group(ompi_communicator_t *comm, bool acked, ompi_group_t **group_p);

/** comm_ack_failed of mpix_endpoints_pml_t. */
int mca_pml_epml_acked_add(ompi_communicator_t *comm, int wanted, int *acked_p);

END_C_DECLS

#endif /* MCA_PML_EPML_ACKED_H */
