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
 * @param[in] size    MPIX_ENDPOINTS_AM_MAX at most
 * @return as mca_pml_epml_send_control */
int mca_pml_epml_am_send(mca_pml_epml_comm_t *comm, int number, int rank, const void *data,
                         size_t size);

END_C_DECLS

#endif /* MCA_PML_EPML_AM_H */
