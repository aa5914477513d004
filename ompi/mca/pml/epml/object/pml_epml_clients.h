/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The engine's clients, and what they hang on handles: pml_epml_clients.c.
 */

#ifndef MCA_PML_EPML_CLIENTS_H
#define MCA_PML_EPML_CLIENTS_H

#include "ompi_config.h"

#include "pml_epml_types.h"

#include "ompi/mca/common/ep/common_ep_engine.h"

BEGIN_C_DECLS

/** Clients at most. */
#define EPML_ENROLLED_MOST 8

/** See client_register in mpix_endpoints_engine_t. */
int mca_pml_epml_client_register(const mpix_endpoints_client_t *client, int *number_p);

/** @return NULL: no client has that number.  Any thread */
const mpix_endpoints_client_t *mca_pml_epml_clients(int number);

/** A handle is being made: let all clients hang something on it.  Not under the lock.
 * @return OMPI_SUCCESS or an error; what is there is for mca_pml_epml_clients_free all the same */
int mca_pml_epml_clients_make(mca_pml_epml_comm_t *comm);

/** A handle goes, and nothing arrives for it any more.  Not under the lock. */
void mca_pml_epml_clients_free(mca_pml_epml_comm_t *comm);

/** What a client has hung on it, or NULL. */
static inline void *mca_pml_epml_clients_object(const mca_pml_epml_comm_t *comm, int number)
{
    return NULL != comm->objects && 0 <= number && EPML_ENROLLED_MOST > number
               ? comm->objects[number]
               : NULL;
}

/** The PML goes: there are no clients any more. */
void mca_pml_epml_clients_finalize(void);

END_C_DECLS

#endif /* MCA_PML_EPML_CLIENTS_H */
