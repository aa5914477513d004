/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Active messages of the engine's clients: pml_epml_am.c.
 */

#ifndef MCA_PML_EPML_AM_H
#define MCA_PML_EPML_AM_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

extern const mca_pml_epml_kind_t mca_pml_epml_am_kind;

/** Send one, now or later, in order.  Under the endpoint's lock.
 *
 * @param[in] number  of the client
 * @param[in] rank    in comm->peers
 * @param[in] size    mca_pml_epml_am_max at most
 * @return as mca_pml_epml_send_control */
int mca_pml_epml_am_send(mca_pml_epml_comm_t *comm, int number, int rank, const void *data,
                         size_t size);

/** See am_max in mpix_endpoints_engine_t. */
size_t mca_pml_epml_am_max(const mca_pml_epml_comm_t *comm, int rank);

/** A handle goes: forget messages of which pieces are missing.  Under the endpoint's lock. */
void mca_pml_epml_am_del_comm(mca_pml_epml_comm_t *comm);

END_C_DECLS

#endif /* MCA_PML_EPML_AM_H */
