/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The life of an endpoint: pml_epml_ep.c.
 */

#ifndef MCA_PML_EPML_EP_H
#define MCA_PML_EPML_EP_H

#include "ompi_config.h"

#include "../wire/wire.h"
#include "../object/object.h"

BEGIN_C_DECLS

/**
 * Create an endpoint with its transports.
 *
 * @param[in] level  decides how soon a thread that uses it alone gets its lock for itself
 * @param[in] transports   by which it will reach other processes, see mca_pml_epml_ep_need
 * @return OMPI_SUCCESS or an error; then *ep_p is untouched
 */
int mca_pml_epml_ep_create(mca_pml_epml_level_t level, unsigned int transports,
                           mca_pml_epml_ep_t **ep_p);

/** Give an endpoint its identity. */
void mca_pml_epml_ep_introduce(mca_pml_epml_ep_t *ep, mca_pml_epml_peer_t *self);

void mca_pml_epml_ep_retain(mca_pml_epml_ep_t *ep);

/** The last one destroys it.  Not under its lock. */
void mca_pml_epml_ep_release(mca_pml_epml_ep_t *ep);

/** The PML goes: destroy what is left, close the transports. */
void mca_pml_epml_ep_finalize(void);

END_C_DECLS

#endif /* MCA_PML_EPML_EP_H */
