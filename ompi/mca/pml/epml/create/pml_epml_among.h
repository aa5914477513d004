/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators among endpoints of this process: pml_epml_among.c.
 */

#ifndef MCA_PML_EPML_AMONG_H
#define MCA_PML_EPML_AMONG_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** comm_among of mpix_endpoints_pml_t, which has the contract. */
int mca_pml_epml_comm_among(ompi_communicator_t *const handles[], int count,
                            ompi_communicator_t **comms);

END_C_DECLS

#endif /* MCA_PML_EPML_AMONG_H */
