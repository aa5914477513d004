/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Locality, which process and node a member is on: pml_epml_locality.c.
 */

#ifndef MCA_PML_EPML_LOCALITY_H
#define MCA_PML_EPML_LOCALITY_H

#include "ompi_config.h"

#include "pml_epml_types.h"

#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

/** Is a member within reach of this process? */
static inline bool mca_pml_epml_locality_reaches(const mca_pml_epml_peer_t *peer,
                                                 mpix_endpoints_scope_t reach)
{
    return NULL != peer->shm || (MPIX_ENDPOINTS_SCOPE_NODE == reach && peer->is_near);
}

/** See place and members in mpix_endpoints_engine_t; of the own group.
 * @return of members: OMPI_SUCCESS, OMPI_ERR_OUT_OF_RESOURCE */
void mca_pml_epml_locality_place(const mca_pml_epml_peer_t *peer, mpix_endpoints_locality_t *place);
int mca_pml_epml_locality_members(const mca_pml_epml_comm_t *comm, mpix_endpoints_scope_t reach,
                                  mpix_endpoints_members_t *members);

END_C_DECLS

#endif /* MCA_PML_EPML_LOCALITY_H */
