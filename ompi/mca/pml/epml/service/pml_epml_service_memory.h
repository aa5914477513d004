/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory for clients, of a process or of a node: pml_epml_service_memory.c.
 */

#ifndef MCA_PML_EPML_SERVICE_MEMORY_H
#define MCA_PML_EPML_SERVICE_MEMORY_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** See memory_get and memory_reserve in mpix_endpoints_engine_t.  @return OMPI_SUCCESS or an error
 * of Open MPI's */
int mca_pml_epml_service_memory_get(const mca_pml_epml_comm_t *comm, mpix_endpoints_scope_t reach,
                                    int number, uint32_t key, size_t size, bool reserve,
                                    mpix_endpoints_memory_t **memory_p);

/** See memory_copy in mpix_endpoints_engine_t.  @return OMPI_SUCCESS or
 * MPI_ERR_UNSUPPORTED_OPERATION */
int mca_pml_epml_service_memory_copy(const mca_pml_epml_comm_t *comm, int rank, void *local,
                                     uint64_t remote, size_t size, bool to_member);

END_C_DECLS

#endif /* MCA_PML_EPML_SERVICE_MEMORY_H */
