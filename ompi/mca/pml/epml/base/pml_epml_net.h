/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The networks of this node: pml_epml_net.c.
 */

#ifndef MCA_PML_EPML_NET_H
#define MCA_PML_EPML_NET_H

#include "ompi_config.h"

#include "pml_epml.h"

BEGIN_C_DECLS

/** Tell the other nodes what networks this one has.  Before PMIx_Commit, after the BTLs have been
 * opened. */
void mca_pml_epml_net_publish(void);

END_C_DECLS

#endif /* MCA_PML_EPML_NET_H */
