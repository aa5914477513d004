/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The MCA parameters of btl/epofi; their variables are in mca_btl_epofi_component (btl_epofi.h).
 */

#ifndef MCA_BTL_EPOFI_PARAMETERS_H
#define MCA_BTL_EPOFI_PARAMETERS_H

#include "opal_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** Most reads that one get may have under way; bound of the parameter get_depth. */
#define EPOFI_GET_DEPTH 8

/** The most that the parameter unproven may be. */
#define EPOFI_UNPROVEN_MOST 512

/** Set the defaults, and register all with Open MPI.  @return an OPAL code */
int mca_btl_epofi_parameters_register(void);

/** Has each a value that it may have?  The first that has not is reported. */
bool mca_btl_epofi_parameters_right(void);

END_C_DECLS

#endif /* MCA_BTL_EPOFI_PARAMETERS_H */
