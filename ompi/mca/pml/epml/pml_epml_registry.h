/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * The list of all endpoints, as pml_epml_ep.c sees it.  What others may call: pml_epml_types.h.
 */

#ifndef MCA_PML_EPML_REGISTRY_H
#define MCA_PML_EPML_REGISTRY_H

#include "ompi_config.h"

#include "pml_epml_types.h"

BEGIN_C_DECLS

/** A new, complete endpoint: from now on threads that have nothing to do may turn it.  Any
 * thread. */
void mca_pml_epml_registry_add(mca_pml_epml_ep_t *ep);

/** The endpoint's last reference is gone.  Any thread, not under its lock.
 * @return is it the caller's to destroy?  If not, process-wide progress does it when it can */
bool mca_pml_epml_registry_remove(mca_pml_epml_ep_t *ep);

/** Free everything; nobody can reach the endpoint any more (pml_epml_ep.c). */
void mca_pml_epml_ep_destroy(mca_pml_epml_ep_t *ep);

/** The PML goes: all endpoints are destroyed. */
void mca_pml_epml_registry_finalize(void);

END_C_DECLS

#endif /* MCA_PML_EPML_REGISTRY_H */
