/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The performance variables of coll/epcoll; what they count is in each handle
 * (base/coll_epcoll_count.h).
 */

#ifndef MCA_COLL_EPCOLL_VARIABLES_H
#define MCA_COLL_EPCOLL_VARIABLES_H

#include "ompi_config.h"

BEGIN_C_DECLS

/** Register them with Open MPI. */
void mca_coll_epcoll_variables_register(void);

END_C_DECLS

#endif /* MCA_COLL_EPCOLL_VARIABLES_H */
