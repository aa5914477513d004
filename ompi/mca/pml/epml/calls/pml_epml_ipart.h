/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The calls of partitioned communication: pml_epml_ipart.c.
 */

#ifndef MCA_PML_EPML_IPART_H
#define MCA_PML_EPML_IPART_H

/** Put our functions before those of the module for partitioned communication; and back. */
void mca_pml_epml_ipart_install(void);
void mca_pml_epml_ipart_remove(void);

#endif /* MCA_PML_EPML_IPART_H */
