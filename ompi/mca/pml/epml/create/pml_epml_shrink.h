/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A communicator of the survivors: pml_epml_shrink.c.
 */

#ifndef MCA_PML_EPML_SHRINK_H
#define MCA_PML_EPML_SHRINK_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

/** Before there are threads. */
void mca_pml_epml_shrink_init(void);

/** comm_shrink and comm_ishrink of mpix_endpoints_pml_t. */
int mca_pml_epml_shrink(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p);
int mca_pml_epml_ishrink(ompi_communicator_t *comm, ompi_communicator_t **newcomm_p,
                         ompi_request_t **request_p);

END_C_DECLS

#endif /* MCA_PML_EPML_SHRINK_H */
