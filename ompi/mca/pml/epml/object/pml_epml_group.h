/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Groups of the handles of one process: pml_epml_group.c.
 */

#ifndef MCA_PML_EPML_GROUP_H
#define MCA_PML_EPML_GROUP_H

#include "ompi_config.h"

#include "pml_epml_types.h"

BEGIN_C_DECLS

/** Before there are threads: see component_init. */
void mca_pml_epml_group_init(void);

/** Let a new intracommunicator's group be one that shares its procs with the other handles of this
 * process.  No other thread may know the communicator yet.  Without memory it stays as it is.
 *
 * @param[in] peers  the group's members */
void mca_pml_epml_group_use_procs(ompi_communicator_t *comm, mca_pml_epml_peers_t *peers);

/** The group of all peers of a list.
 *
 * @param[in] rank  whose group it is, or MPI_UNDEFINED: no member's (the remote group) */
ompi_group_t *mca_pml_epml_group_new(ompi_group_t *like, mca_pml_epml_peers_t *peers, int rank);

END_C_DECLS

#endif /* MCA_PML_EPML_GROUP_H */
