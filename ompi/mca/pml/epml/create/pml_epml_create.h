/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What is created: pml_epml_create.c, pml_epml_intercomm.c.
 */

#ifndef MCA_PML_EPML_CREATE_H
#define MCA_PML_EPML_CREATE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** See mpix_endpoints_pml_t. */
int mca_pml_epml_intercomm_create(ompi_communicator_t *local_comm, int local_leader,
                                  ompi_communicator_t *bridge, int remote_leader, int tag,
                                  ompi_communicator_t **newcomm, bool *served,
                                  mpix_endpoints_error_t *error);
int mca_pml_epml_intercomm_connect(ompi_communicator_t *local_comm, int local_leader,
                                   const mpix_endpoints_bridge_t *bridge,
                                   ompi_communicator_t **newcomm, mpix_endpoints_error_t *error);
int mca_pml_epml_intercomm_bring(ompi_communicator_t *processes, int local_leader,
                                 const mpix_endpoints_bridge_t *bridge, int failed,
                                 ompi_communicator_t *const own[], int count,
                                 ompi_communicator_t **newcomms, mpix_endpoints_error_t *error);

struct mpix_endpoints_pml_t;
extern const struct mpix_endpoints_pml_t mca_pml_epml_link;

END_C_DECLS

#endif /* MCA_PML_EPML_CREATE_H */
