/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * An endpoint's communicators, by context: pml_epml_comms.c.  All under its lock.
 */

#ifndef MCA_PML_EPML_COMMS_H
#define MCA_PML_EPML_COMMS_H

#include "ompi_config.h"

#include "pml_epml_types.h"

BEGIN_C_DECLS

/** Of a new endpoint.  @return OMPI_SUCCESS, or an error; to be ended all the same */
int mca_pml_epml_comms_init(mca_pml_epml_ep_t *ep);
void mca_pml_epml_comms_fini(mca_pml_epml_ep_t *ep);

/** @return OPAL_SUCCESS, OPAL_ERR_OUT_OF_RESOURCE */
int mca_pml_epml_comms_add(mca_pml_epml_comm_t *comm);
void mca_pml_epml_comms_remove(mca_pml_epml_comm_t *comm);

/** The communicator of ep with this context, or that of its agreements, or NULL. */
mca_pml_epml_comm_t *mca_pml_epml_comm_find(mca_pml_epml_ep_t *ep, uint64_t context);

/** So many threads use the handle at a time, as the user has declared; EPML_LEVEL_NONE: the
 * declaration is withdrawn.  The highest level of an endpoint's handles is in force for its lock. 
 * When no handle has one, the last one stays. */
void mca_pml_epml_comm_say_level(mca_pml_epml_comm_t *comm, mca_pml_epml_level_t level);

/** Each communicator of an endpoint, none of which may come or go meanwhile.
 *
 * @param[in,out] at  NULL before the first one
 * @return NULL: that was all */
mca_pml_epml_comm_t *mca_pml_epml_comms_next(const mca_pml_epml_ep_t *ep, void **at);

END_C_DECLS

#endif /* MCA_PML_EPML_COMMS_H */
