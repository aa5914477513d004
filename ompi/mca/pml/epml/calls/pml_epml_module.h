/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
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
