/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Performance variables: pml_epml_variables.c.
 */

#ifndef MCA_PML_EPML_VARIABLES_H
#define MCA_PML_EPML_VARIABLES_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/** Let the counts of an endpoint that comes to its end be in the process's, those already there
 * left out.  By its last owner. */
void mca_pml_epml_counts_account(mca_pml_epml_ep_t *ep);

/** How endpoints are read: as mca_pml_epml_ep_visit_all and mca_pml_epml_visit, of a file that
 * calls this one. */
typedef struct mca_pml_epml_visits_t {
    bool (*all)(void (*begin)(void *context), void (*visit)(mca_pml_epml_ep_t *ep, void *context),
                void *context);
    void (*one)(mca_pml_epml_ep_t *ep);
} mca_pml_epml_visits_t;

/** Register the performance variables.  @param[in] by  constant; kept */
void mca_pml_epml_counts_register(const mca_base_component_t *component,
                                  const mca_pml_epml_visits_t *by);

END_C_DECLS

#endif /* MCA_PML_EPML_VARIABLES_H */
