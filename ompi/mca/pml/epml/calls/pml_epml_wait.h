/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Our waiting calls: pml_epml_wait.c.
 */

#ifndef MCA_PML_EPML_WAIT_H
#define MCA_PML_EPML_WAIT_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Put our waiting and testing in place of Open MPI's; and back. */
void mca_pml_epml_wait_install(void);
void mca_pml_epml_wait_remove(void);

END_C_DECLS

#endif /* MCA_PML_EPML_WAIT_H */
