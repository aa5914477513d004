/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Receives that wait for the acknowledgement of a loss: pml_epml_pending.c.
 */

#ifndef MCA_PML_EPML_PENDING_H
#define MCA_PML_EPML_PENDING_H

#include "ompi_config.h"

#include "ompi/request/request.h"

BEGIN_C_DECLS

/** Is a request an active receive of an endpoint that a loss blocks until the user acknowledges it
 * (mca_pml_epml_lost_pends)?  Notes MPI_ERR_PROC_FAILED_PENDING in its status, or that it is so no
 * more.  Any request; takes the endpoint's lock. */
bool mca_pml_epml_pending(ompi_request_t *request);

END_C_DECLS

#endif /* MCA_PML_EPML_PENDING_H */
