/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The MCA parameters of osc/epwin; their variables are in mca_osc_epwin_component.
 */

#ifndef MCA_OSC_EPWIN_PARAMETERS_H
#define MCA_OSC_EPWIN_PARAMETERS_H

#include "ompi_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** Set the defaults, and register all with Open MPI. */
void mca_osc_epwin_parameters_register(void);

/** Is each value within its range?  The first one that is not is reported. */
bool mca_osc_epwin_parameters_right(void);

END_C_DECLS

#endif /* MCA_OSC_EPWIN_PARAMETERS_H */
