/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What comes with the first endpoint: pml_epml_serve.c.
 */

#ifndef MCA_PML_EPML_SERVE_H
#define MCA_PML_EPML_SERVE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Before there are threads: see component_init. */
void mca_pml_epml_serve_init(void);

/** This process is about to have endpoints.  Idempotent, any thread.
 * @return OMPI_SUCCESS or an error that has been reported to the user */
int mca_pml_epml_serve(void);

/** MPI begins, and all processes have said where they are: open what pml_epml_reserve says, the
 * first time. */
void mca_pml_epml_serve_reserve(void);

/** The PML goes, and all that there is of endpoints. */
void mca_pml_epml_serve_no_more(void);

END_C_DECLS

#endif /* MCA_PML_EPML_SERVE_H */
