/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The MCA parameters of coll/epcoll; their variables are in mca_coll_epcoll_component.
 */

#ifndef MCA_COLL_EPCOLL_PARAMETERS_H
#define MCA_COLL_EPCOLL_PARAMETERS_H

#include "ompi_config.h"

#include <stdbool.h>

BEGIN_C_DECLS

/** Set the defaults, and register all with Open MPI. */
void mca_coll_epcoll_parameters_register(void);

/** Is each value in its range?  The first one that is not is reported. */
bool mca_coll_epcoll_parameters_right(void);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_PARAMETERS_H */
