/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The MCA parameters of btl/epshm; their variables are in mca_btl_epshm_component (btl_epshm.h).
 */

#ifndef MCA_BTL_EPSHM_PARAMETERS_H
#define MCA_BTL_EPSHM_PARAMETERS_H

#include "opal_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** Set the defaults, and register all with Open MPI. */
void mca_btl_epshm_parameters_register(void);

/** Has each a value that it may have?  The first that has not is reported.
 * @param[in] node  not only those of every module, but also those between processes */
bool mca_btl_epshm_parameters_right(bool node);

END_C_DECLS

#endif /* MCA_BTL_EPSHM_PARAMETERS_H */
