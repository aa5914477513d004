/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Performance variables of the base PML: pml_epml_base_variables.c.
 */

#ifndef MCA_PML_EPML_BASE_VARIABLES_H
#define MCA_PML_EPML_BASE_VARIABLES_H

/** From now on they may be read of endpoint communicators.  Before the first endpoint is made. */
void mca_pml_epml_base_variables_install(void);

/** No more: pml/epml goes. */
void mca_pml_epml_base_variables_remove(void);

#endif /* MCA_PML_EPML_BASE_VARIABLES_H */
