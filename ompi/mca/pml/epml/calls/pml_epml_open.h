/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Open requests: pml_epml_open.c.
 */

#ifndef MCA_PML_EPML_OPEN_H
#define MCA_PML_EPML_OPEN_H

#include "ompi_config.h"

#include "../object/object.h"

#include <stdbool.h>
#include <stdint.h>

BEGIN_C_DECLS

/**
 * Count the requests of an endpoint that are started and not complete.  Takes as long as the
 * endpoint has queues and numbers: for slow paths.  Under the endpoint's lock.
 *
 * @param[in] comm      whose requests; NULL: those of all communicators
 * @param[in] blocking  only those of blocking calls, which hold no reference on the communicator
 */
uint64_t mca_pml_epml_open_requests(const mca_pml_epml_ep_t *ep, const mca_pml_epml_comm_t *comm,
                                    bool blocking);

/**
 * Wait until all requests of a handle that are started are complete, freed ones too.  Progresses
 * its endpoint and, meanwhile, all others of the process; needs no call of another member.  No lock
 * held.
 */
void mca_pml_epml_comm_drain(ompi_communicator_t *comm);

/** MPI_Buffer_attach and MPI_Buffer_detach for the endpoint of a handle: see mpix_endpoints_pml_t.
 * No lock held. */
int mca_pml_epml_attach_buffer(ompi_communicator_t *comm, void *address, size_t size);
void mca_pml_epml_detach_buffer(ompi_communicator_t *comm, void **address, size_t *size);

END_C_DECLS

#endif /* MCA_PML_EPML_OPEN_H */
