/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Communicators of peers: pml_epml_handle.c.
 */

#ifndef MCA_PML_EPML_HANDLE_H
#define MCA_PML_EPML_HANDLE_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/**
 * A communicator of peers, seen from one of them, local: no messages, and no member may send on it
 * before all members have theirs.
 *
 * @param[in]  parent   for instance and error handler; any communicator
 * @param[in]  ep       whose handle it is
 * @param[in]  context  the same on all members
 * @param[in]  members  by rank
 * @param[in]  rank     of ep
 * @param[out] comm_p   set on success
 */
int mca_pml_epml_handle_intra(ompi_communicator_t *parent, mca_pml_epml_ep_t *ep, uint64_t context,
                              mca_pml_epml_peers_t *members, int rank,
                              ompi_communicator_t **comm_p);

/** Likewise an intercommunicator, of the endpoint of local.
 *
 * @param[in] local  of endpoints; becomes the property of the new communicator, on success */
int mca_pml_epml_handle_inter(ompi_communicator_t *local, uint64_t context,
                              mca_pml_epml_peers_t *remote, ompi_communicator_t **comm_p);

/** What MPI_COMM_WORLD says of the environment holds for an endpoint too; a library that was handed
 * one as its world may ask. */
int mca_pml_epml_handle_attributes(ompi_communicator_t *comm);

/** Likewise, and what the endpoint has been promised, as another handle of it says. */
int mca_pml_epml_handle_descend(ompi_communicator_t *comm, const ompi_communicator_t *handle);

END_C_DECLS

#endif /* MCA_PML_EPML_HANDLE_H */
