/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Parameters of ours that no component registers: pml_epml_misspelt.c.
 */

#ifndef MCA_PML_EPML_MISSPELT_H
#define MCA_PML_EPML_MISSPELT_H

#include "ompi_config.h"

BEGIN_C_DECLS

/** Name those that the environment sets, --mca of the launcher included, with the names most like
 * them: Open MPI ignores them without a word.  Shown once in a job; once all components are there.
 * Any thread. */
void mca_pml_epml_name_misspelt(void);

END_C_DECLS

#endif /* MCA_PML_EPML_MISSPELT_H */
