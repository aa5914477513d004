/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The wrapped PML: pml_epml_base.c.
 */

#ifndef MCA_PML_EPML_BASE_H
#define MCA_PML_EPML_BASE_H

#include "ompi_config.h"

#include "pml_epml.h"

BEGIN_C_DECLS

/** Select the base PML as Open MPI would have.  @return OMPI_SUCCESS, or an error (said already) */
int mca_pml_epml_base_select(bool enable_progress_threads, bool enable_mpi_threads);

/** Finalize and close the base PML. */
int mca_pml_epml_base_finalize(void);

/** Which PML that is and among which it was chosen, in words. */
void mca_pml_epml_base_describe(char *text, size_t size);

END_C_DECLS

#endif /* MCA_PML_EPML_BASE_H */
