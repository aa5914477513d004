/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The PMLs that the site wants: pml_epml_configured.c.
 */

#ifndef MCA_PML_EPML_CONFIGURED_H
#define MCA_PML_EPML_CONFIGURED_H

#include "ompi_config.h"

#include "pml_epml.h"

BEGIN_C_DECLS

/** What parameter files say of pml, whatever else has taken its place.
 * @return to be freed; NULL: nothing */
char *mca_pml_epml_configured_pmls(void);

/**
 * The PMLs that a value of pml leaves, epml not among them.
 *
 * @param[in] value     as of pml: "a,b", "^a,b", or NULL: no wish
 * @param[in] standard  the names that there are without a wish
 *
 * @return to be freed, empty if there are none; NULL without memory
 */
char *mca_pml_epml_configured_candidates(const char *value, const char *standard);

END_C_DECLS

#endif /* MCA_PML_EPML_CONFIGURED_H */
