/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The choice of collective components: pml_epml_coll.c.
 */

#ifndef MCA_PML_EPML_COLL_H
#define MCA_PML_EPML_COLL_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Restrict Open MPI's choice of collective components to those that serve on endpoints. */
int mca_pml_epml_coll_restrict(ompi_communicator_t *comm);

/** The PML goes. */
void mca_pml_epml_coll_finalize(void);

END_C_DECLS

#endif /* MCA_PML_EPML_COLL_H */
