/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The functions of a window, for libmpi.
 */

#ifndef MCA_OSC_EPWIN_MODULE_H
#define MCA_OSC_EPWIN_MODULE_H

#include "ompi_config.h"

#include "ompi/mca/osc/osc.h"

BEGIN_C_DECLS

/** The table that each window's module begins with; constant from MPI_Init on. */
extern ompi_osc_base_module_t mca_osc_epwin_functions;

END_C_DECLS

#endif /* MCA_OSC_EPWIN_MODULE_H */
