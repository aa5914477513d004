/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The MCA parameters of pml/epml; their variables are in mca_pml_epml_component.
 */

#ifndef MCA_PML_EPML_PARAMETERS_H
#define MCA_PML_EPML_PARAMETERS_H

#include "ompi_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** Set the defaults, and register all with Open MPI. */
void mca_pml_epml_parameters_register(void);

/** Has each a value that it may have?  The first that has not is reported. */
bool mca_pml_epml_parameters_right(void);

END_C_DECLS

#endif /* MCA_PML_EPML_PARAMETERS_H */
