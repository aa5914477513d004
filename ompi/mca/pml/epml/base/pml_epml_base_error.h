/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the base PML's transports report to it: pml_epml_base_error.c.
 */

#ifndef MCA_PML_EPML_BASE_ERROR_H
#define MCA_PML_EPML_BASE_ERROR_H

/** From now on, what BTLs report to the base PML comes by here.  When a base PML has been selected,
 * and before it adds processes. */
void mca_pml_epml_base_error_start(void);

/** Not any more.  While the base PML is still there. */
void mca_pml_epml_base_error_stop(void);

#endif /* MCA_PML_EPML_BASE_ERROR_H */
