/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What hangs from a communicator: pml_epml_comm.c.
 */

#ifndef MCA_PML_EPML_COMM_H
#define MCA_PML_EPML_COMM_H

#include "ompi_config.h"

#include "../object/object.h"

BEGIN_C_DECLS

/**
 * Make newcomm an endpoint communicator that belongs to the same endpoint as comm: give it a table
 * slot (c_index), a c_contextid of its own, OMPI_COMM_GLOBAL_INDEX, and the context id under which
 * its messages are matched from now on.  Local.
 *
 * @param[in] newcomm  being built, groups set
 * @param[in] comm     endpoint communicator it descends from
 * @param[in] context  from mca_pml_epml_context_ids, the same on all members of newcomm
 * @param[in] member   false: this endpoint only helps the others, and frees newcomm again
 *
 * @return OMPI_SUCCESS; MPI_ERR_GROUP (not all members of newcomm are members of comm); or an OMPI
 *         error code
 */
int mca_pml_epml_comm_assign(ompi_communicator_t *newcomm, ompi_communicator_t *comm,
                             uint64_t context, bool member);

/** Give a new communicator a table slot, c_contextid and our mark. */
int mca_pml_epml_comm_place(ompi_communicator_t *newcomm, uint64_t context);

/** What else a communicator with our state needs before it is used; the engine's clients hang
 * theirs on it.  @return OMPI_SUCCESS or an error, which all members must get */
int mca_pml_epml_comm_furnish(ompi_communicator_t *newcomm);

/** Hang our state on a communicator.  Takes its own references on ep and peers. */
int mca_pml_epml_comm_attach(ompi_communicator_t *newcomm, mca_pml_epml_ep_t *ep, uint64_t context,
                             mca_pml_epml_peers_t *peers, mca_pml_epml_peers_t *local);

END_C_DECLS

#endif /* MCA_PML_EPML_COMM_H */
