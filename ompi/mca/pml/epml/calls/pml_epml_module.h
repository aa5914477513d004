/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The function table: pml_epml_module.c.
 */

#ifndef MCA_PML_EPML_MODULE_H
#define MCA_PML_EPML_MODULE_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** The PML's module, filled in from the base PML's limits.  */
mca_pml_base_module_t *mca_pml_epml_module_init(void);

END_C_DECLS

#endif /* MCA_PML_EPML_MODULE_H */
